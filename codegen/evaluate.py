# SPDX-License-Identifier: Apache-2.0
"""How good a model's answers are on a labelled table, with the arithmetic contract as the judge.

The NumPy emulation gives the bits of every board and kernel, so that nothing has to be built. It is a few hundred times
slower than the program, so that only some of the rows are asked.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .emulate import Text, emulate_texts
from .encoding import encoded as encode_texts
from .golden import text_tokenizer
from .ir.program import Program
from .ir.task import Measure, Task
from .load.tokenizer_spec import TokenizerSpec
from .progress import advance, stage
from .table_file import Columns, Echo, Row

Outputs = NDArray[np.float32] | list[NDArray[np.float32]]  # [texts, outputs], or [tokens, outputs] of each text

DEFAULT_ROWS = 1000
_TOKENS_AT_ONCE = 4096


@dataclass(frozen=True)
class Rows:
    """Rows of a table with what the task's answer should be."""

    rows: tuple[Row, ...]
    truths: NDArray  # label indices, sets of labels as [rows, labels] of bool, values or scores as float64
    total: int  # rows of the file


@dataclass(frozen=True)
class Score:
    of: Measure  # what `value` is
    value: float
    answers: NDArray  # what each row was answered, as the truths are written; [rows, ...]
    seconds: float

    @property
    def measure(self) -> str:
        return self.of.name

    @property
    def share(self) -> float:
        """The value with 1 as its best, whatever the measure."""
        return self.value / 100 if self.of.percent else self.value

    def __str__(self) -> str:
        return f"{self.value:.2f} %" if self.of.percent else f"{self.value:.4f}"


def read_rows(path: Path, columns: Columns, task: Task, most: int, echo: Echo = lambda _: None) -> Rows:
    """At most `most` rows, evenly spaced over the file; a 0 or a name in any row decides how all labels are read."""
    table = task.read(path, columns, echo)
    count = min(most, len(table))
    chosen = [table[i * len(table) // count] for i in range(count)]
    return Rows(tuple(chosen), task.truths(path, table, chosen, columns.labels), len(table))


def score(program: Program, spec: TokenizerSpec, rows: Rows) -> Score:
    """The task's measure of the program's answers."""
    begin = time.monotonic()
    texts = encoded(program, spec, rows)
    found = emulated(program, texts)
    return scored(program.task, rows, texts, found, time.monotonic() - begin)


def encoded(program: Program, spec: TokenizerSpec, rows: Rows) -> list[Text]:
    """The texts that are asked: one for each row, or both where a row is a pair that is compared."""
    of_task = program.task.encoded(spec, program.max_tokens, rows.rows)
    if of_task is not None:
        return of_task
    if program.task.texts_of_row > 1:
        return encode(spec, program.max_tokens, [text for row in rows.rows for text in row.texts])
    return encode(spec, program.max_tokens, [row.joined for row in rows.rows])


def scored(task: Task, rows: Rows, texts: Sequence[Text], found: Outputs, seconds: float) -> Score:
    """The task's measure of the outputs for encoded()."""
    answers = task.answers(found, rows.rows, texts)
    return Score(task.measure, task.score(answers, rows.truths), answers, seconds)


def encode(spec: TokenizerSpec, max_tokens: int, texts: Sequence[str]) -> list[Text]:
    """Ids and segments, cut at `max_tokens`."""
    return list(encode_texts(text_tokenizer(spec, max_tokens), texts))


def emulated(program: Program, texts: Sequence[Text]) -> Outputs:
    """The bits of every kernel. Texts of like length go together: less is computed at once."""
    order = sorted(range(len(texts)), key=lambda i: len(texts[i].ids))
    found: list[NDArray[np.float32]] = [np.empty(0, np.float32)] * len(texts)

    def compute(batch: Sequence[int]) -> None:
        for i, outputs in zip(batch, emulate_texts(program, [texts[k] for k in batch]), strict=True):
            found[i] = outputs
        advance(len(batch))

    batch: list[int] = []
    tokens = 0
    with stage("evaluate", "text", len(texts)):
        for i in order:
            if batch and tokens + len(texts[i].ids) > _TOKENS_AT_ONCE:
                compute(batch)
                batch, tokens = [], 0
            batch.append(i)
            tokens += len(texts[i].ids)
        compute(batch)
    return np.array(found) if program.task.rows == "text" else found
