# SPDX-License-Identifier: Apache-2.0
"""Spans of a context that answer a question: `*ForQuestionAnswering`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files.table_file import Columns, Echo, Row
from ..ir.task import Computation, Face, Measure, Task
from ..ir.tokenizer_spec import TokenizerSpec
from ..library_tokenizer.wheel_tokenizer import wheel_tokenizer
from .spans import Window, best_answer, windows_of
from .squad import exact_match, f1, read_questions
from .token_places import need_token_places

ENDS = 2  # where an answer begins, where it ends
F1, EXACT = Measure("F1", percent=True), Measure("exact match", percent=True)


@dataclass(frozen=True)
class Answering(Task):
    """Two logits a token: that an answer begins there, and that one ends there."""

    task_names = ("answering",)
    verb = "answer"
    face = Face(
        "answering",
        outputs="logits",
        reported="logits",
        field="logits",
        key="logits",
        count="kEnds",
        options=("--logits",),
    )
    rows = "tokens"
    asks = True
    own_calls = True
    relative = True

    @property
    def outputs(self) -> int:
        return ENDS

    @property
    def result_bytes(self) -> int:
        """Of a call's frames: the result has views only, what reads windows and finds spans stands in them."""
        return 1024

    @property
    def summary(self) -> str:
        return "Answers to questions: spans of a context"

    def described(self, computed: Computation) -> str:
        return "answers to questions: spans of a context"

    @property
    def measure(self) -> Measure:
        return F1

    @property
    def measures(self) -> tuple[Measure, ...]:
        return (F1, EXACT)

    def read(self, path: Path, columns: Columns, echo: Echo) -> list[Row]:
        return read_questions(path)

    def truths(self, path: Path, table: Sequence[Row], chosen: Sequence[Row], spec: str | None = None) -> NDArray:
        """Of each row its right answers."""
        return _objects([json.loads(row.value) for row in chosen])

    def encoded(self, spec: TokenizerSpec, max_tokens: int, rows: Sequence[Row]) -> list[Any]:
        need_token_places(spec)
        tokenizer = wheel_tokenizer(spec)
        found: list[Window] = []
        for i, row in enumerate(rows):
            found += windows_of(tokenizer, max_tokens, i, *row.texts)
        return found

    def answers(self, outputs: Sequence[NDArray], rows: Sequence[Row], texts: Sequence[Any]) -> NDArray:
        """The text of each."""
        of_row: list[list[int]] = [[] for _ in rows]
        for i, text in enumerate(texts):
            of_row[text.row].append(i)
        return _objects(
            [
                best_answer(row.texts[1], [texts[i] for i in windows], [outputs[i] for i in windows])
                for row, windows in zip(rows, of_row, strict=True)
            ]
        )

    def score(self, answers: NDArray, truths: NDArray) -> float:
        return self.measured(answers, truths, F1)

    def measured(self, answers: NDArray, truths: NDArray, measure: Measure) -> float:
        judged = exact_match if measure == EXACT else f1
        return 100 * float(np.mean([judged(answer, right) for answer, right in zip(answers, truths, strict=True)]))


def _objects(values: list[Any]) -> NDArray:
    array = np.empty(len(values), object)
    array[:] = values
    return array


TASK = Answering
