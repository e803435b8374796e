# SPDX-License-Identifier: Apache-2.0
"""Which of several choices goes with a prompt: `*ForMultipleChoice`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import EtchError
from ..files.table_file import Row
from ..ir.task import Computation, Face, Measure, Task
from ..ir.text import Text
from ..ir.tokenizer_spec import TokenizerSpec
from ..library_tokenizer.wheel_tokenizer import text_tokenizer
from .columns import label_index, label_reader


@dataclass(frozen=True)
class MultipleChoice(Task):
    """A score of a prompt with one choice; the softmax is over those of all choices."""

    task_names = ("multiple_choice",)
    verb = "choose"
    face = Face(
        "multiple_choice",
        outputs="scores",
        reported="scores",
        field="score",
        key="scores",
        count="kScoreCount",
    )
    beside_others = False
    own_calls = True
    call_bytes = {"choosing": 128}  # noqa: RUF012 - a constant of the class

    @property
    def outputs(self) -> int:
        return 1

    @property
    def result_bytes(self) -> int:
        """Of a call's frames: that of choose() has a result of its own, those of the C functions more of it."""
        return 256 + 512

    @property
    def summary(self) -> str:
        return "Which of several choices goes with a prompt"

    def described(self, computed: Computation) -> str:
        return "which of several choices goes with a prompt (softmax over the choices)"

    @property
    def measure(self) -> Measure:
        return Measure("accuracy", percent=True)

    def truths(self, path: Path, table: Sequence[Row], chosen: Sequence[Row], spec: str | None = None) -> NDArray:
        """Of each row the number of its right choice, from 0."""
        count = len(table[0].texts) - 1
        if count < 1:
            message = "a prompt and its choices are text columns, there is one: choose with --text-columns"
            raise EtchError("column-unknown", "arguments", message)
        find = label_reader(path, [str(i) for i in range(count)], [row.value for row in table], spec)
        return np.array([label_index(path, row, find, row.value) for row in chosen])

    def encoded(self, spec: TokenizerSpec, max_tokens: int, rows: Sequence[Row]) -> list[Any]:
        """The first text of a row with each of the others."""
        pairs = [(row.texts[0], choice) for row in rows for choice in row.texts[1:]]
        return [Text(e.ids, e.type_ids) for e in text_tokenizer(spec, max_tokens).encode_batch(pairs)]

    def answers(self, outputs: NDArray | Sequence[NDArray], rows: Sequence[Row], texts: Sequence[Text]) -> NDArray:
        return np.asarray(outputs).reshape(len(rows), -1).argmax(axis=1)

    def score(self, answers: NDArray, truths: NDArray) -> float:
        return 100 * float((answers == truths).mean())


TASK = MultipleChoice
