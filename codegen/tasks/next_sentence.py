# SPDX-License-Identifier: Apache-2.0
"""Whether a text follows another one: `*ForNextSentencePrediction`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ..files.table_file import Row
from ..ir.task import Computation, Face
from ..ir.text import Text
from ..ir.tokenizer_spec import TokenizerSpec
from ..library_tokenizer.wheel_tokenizer import text_tokenizer
from .classification import Classification
from .columns import check_two_texts

NAMES = ("next", "random")  # of the logits, in the order of `transformers`


@dataclass(frozen=True)
class NextSentence(Classification):
    """A classifier of pairs with these two labels, but for what its calls are and what they answer."""

    task_names = ("next_sentence",)
    verb = "is_next"
    face = Face(
        "next_sentence",
        outputs="logits",
        reported="logits",
        field="logits",
        key="logits",
        count="kLogitCount",
    )
    on_gpus = False
    says_label = False
    own_calls = True

    @property
    def result_bytes(self) -> int:
        """Probability and logits, and what a batch of the C functions has more of: pairs are twice as long as texts."""
        return 12 + 256

    @property
    def summary(self) -> str:
        return "Whether a text follows another one"

    def described(self, computed: Computation) -> str:
        return "whether a text follows another one (softmax)"

    def truths(self, path: Path, table: Sequence[Row], chosen: Sequence[Row], spec: str | None = None) -> NDArray:
        check_two_texts(table)
        return super().truths(path, table, chosen, spec)

    def encoded(self, spec: TokenizerSpec, max_tokens: int, rows: Sequence[Row]) -> list[Any]:
        tokenizer = text_tokenizer(spec, max_tokens)
        return [Text(e.ids, e.type_ids, e.offsets) for e in tokenizer.encode_batch([row.pair for row in rows])]


TASK = NextSentence
