# SPDX-License-Identifier: Apache-2.0
"""A vector for a text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files.table_file import Row
from ..ir.graph import Normalize, Pool
from ..ir.prompts import NO_PROMPTS, Prompts
from ..ir.task import Computation, Face
from ..ir.text import Text
from ..ir.tokenizer_spec import TokenizerSpec
from ..library_tokenizer.encoding import encoded
from ..library_tokenizer.wheel_tokenizer import text_tokenizer
from .similarity import Similarity


@dataclass(frozen=True)
class Embedding(Similarity):
    """One vector for the text. In a table, two texts and how alike they are."""

    prompts: Prompts = NO_PROMPTS

    task_names = ("embedding",)
    verb = "embed"
    face = Face(
        "embedding",
        outputs="embedding",
        reported="embeddings",
        field="embedding",
        key="embedding",
        count="kEmbeddingWidth",
    )
    on_gpus = True

    @property
    def result_bytes(self) -> int:
        return 4 * self.outputs

    @property
    def options(self) -> tuple[str, ...]:
        return () if self.prompts.usual is None else ("--as-written",)

    @property
    def summary(self) -> str:
        return f"Text to an embedding of {self.width} values"

    def described(self, computed: Computation) -> str:
        pool = next(node for node in computed.body if isinstance(node, Pool))
        pooling = " and ".join((pool.kind, *pool.beside))
        normalized = any(isinstance(node, Normalize) for node in computed.body)
        return f"embedding of {self.width} values, pooling {pooling}, {'' if normalized else 'not '}normalized"

    def template_values(self, literal: Callable[[str], str]) -> dict[str, Any]:
        texts = self.prompts.texts
        return {
            "prompts": [(literal(name), literal(text)) for name, text in texts],
            "usual_prompt": self.prompts.usual_place,
        }

    def encoded(self, spec: TokenizerSpec, max_tokens: int, rows: Sequence[Row]) -> list[Text] | None:
        """Behind the usual prompt, where there is one."""
        before = self.prompts.usual_text
        if not before:
            return None
        return list(encoded(text_tokenizer(spec, max_tokens), [before + text for row in rows for text in row.texts]))

    def answers(self, outputs: NDArray, rows: Sequence[Row], texts: Sequence[Text]) -> NDArray:
        """Cosines: [rows, 1]."""
        first, second = outputs[::2].astype(np.float64), outputs[1::2].astype(np.float64)
        lengths = np.sqrt((first**2).sum(axis=1) * (second**2).sum(axis=1))
        return ((first * second).sum(axis=1) / np.where(lengths > 0, lengths, 1))[:, None]


TASK = Embedding
