# SPDX-License-Identifier: Apache-2.0
"""How good a model's answers are on a labelled table, with the arithmetic contract as the judge.

The NumPy emulation gives the bits of every board and kernel, so that nothing has to be built. It is a few hundred times
slower than the program, so that only some of the rows are asked.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .emulate import Text, emulate_texts
from .errors import EtchError, printable
from .golden import text_tokenizer
from .load.tokenizer_spec import WordPieceSpec
from .program import Program
from .table_file import Columns, Row, read_table, refused
from .tasks import Classification, Embedding, Regression, Task

DEFAULT_ROWS = 1000
_TOKENS_AT_ONCE = 4096
_SHOWN = 40


@dataclass(frozen=True)
class Rows:
    """Rows of a table with what the task's answer should be."""

    rows: tuple[Row, ...]
    truths: NDArray  # label indices, sets of labels as [rows, labels] of bool, values or scores as float64
    total: int  # rows of the file


@dataclass(frozen=True)
class Score:
    measure: str  # what `value` is
    value: float
    answers: NDArray  # what each row was answered, as the truths are written; [rows, ...]
    seconds: float

    @property
    def share(self) -> float:
        """The value with 1 as its best, whatever the measure."""
        return self.value / 100 if self.measure in _PERCENT else self.value

    def __str__(self) -> str:
        return f"{self.value:.2f} %" if self.measure in _PERCENT else f"{self.value:.4f}"


_ACCURACY, _EXACT_MATCH, _SPEARMAN = "accuracy", "exact match", "Spearman correlation"
_PERCENT = (_ACCURACY, _EXACT_MATCH)


def read_rows(path: Path, columns: Columns, task: Task, most: int) -> Rows:
    """At most `most` rows, evenly spaced over the file; a 0 or a name in any row decides how all labels are read."""
    table = read_table(path, columns)
    if isinstance(task, Embedding) and len(table[0].texts) != 2:
        message = f"two text columns are compared, there are {len(table[0].texts)}: choose with --text-columns"
        raise EtchError("column-unknown", "arguments", message)
    count = min(most, len(table))
    chosen = [table[i * len(table) // count] for i in range(count)]
    return Rows(tuple(chosen), _truths(path, task, table, chosen), len(table))


def score(program: Program, spec: WordPieceSpec, rows: Rows) -> Score:
    """The task's measure of the program's answers."""
    begin = time.monotonic()
    found = emulated(program, encoded(program, spec, rows))
    return scored(program.task, rows, found, time.monotonic() - begin)


def encoded(program: Program, spec: WordPieceSpec, rows: Rows) -> list[Text]:
    """The texts that are asked: one for each row, or both where a row is a pair that is compared."""
    if isinstance(program.task, Embedding):
        return encode(spec, program.max_tokens, [text for row in rows.rows for text in row.texts])
    return encode(spec, program.max_tokens, [row.joined for row in rows.rows])


def scored(task: Task, rows: Rows, found: NDArray[np.float32], seconds: float) -> Score:
    """The task's measure of the outputs for encoded()."""
    answers, measure = _answers(task, found), measure_of(task)
    if measure == _ACCURACY:
        return Score(measure, 100 * float((answers == rows.truths).mean()), answers, seconds)
    if measure == _EXACT_MATCH:
        return Score(measure, 100 * float((answers == rows.truths).all(axis=1).mean()), answers, seconds)
    columns = zip(answers.T, rows.truths.T, strict=True)
    return Score(measure, float(np.mean([spearman(a, b) for a, b in columns])), answers, seconds)


def measure_of(task: Task) -> str:
    """What the score of a task is."""
    if isinstance(task, Classification):
        return _ACCURACY if task.activation == "softmax" else _EXACT_MATCH
    return _SPEARMAN


def _answers(task: Task, found: NDArray[np.float32]) -> NDArray:
    if isinstance(task, Embedding):
        first, second = found[::2].astype(np.float64), found[1::2].astype(np.float64)
        lengths = np.sqrt((first**2).sum(axis=1) * (second**2).sum(axis=1))
        return ((first * second).sum(axis=1) / np.where(lengths > 0, lengths, 1))[:, None]
    if isinstance(task, Regression):
        return found.astype(np.float64)
    return found.argmax(axis=1) if task.activation == "softmax" else found >= 0  # a probability of 1/2 and more


def encode(spec: WordPieceSpec, max_tokens: int, texts: Sequence[str]) -> list[Text]:
    """Ids and segments, cut at `max_tokens`."""
    return [Text(each.ids, each.type_ids) for each in text_tokenizer(spec, max_tokens).encode_batch(list(texts))]


def emulated(program: Program, texts: Sequence[Text]) -> NDArray[np.float32]:
    """[texts, outputs], the bits of every kernel. Texts of like length go together: less is computed at once."""
    order = sorted(range(len(texts)), key=lambda i: len(texts[i].ids))
    found = np.empty((len(texts), program.task.outputs), np.float32)
    batch: list[int] = []
    tokens = 0
    for i in order:
        if batch and tokens + len(texts[i].ids) > _TOKENS_AT_ONCE:
            found[batch] = emulate_texts(program, [texts[k] for k in batch])
            batch, tokens = [], 0
        batch.append(i)
        tokens += len(texts[i].ids)
    found[batch] = emulate_texts(program, [texts[k] for k in batch])
    return found


# --- what the label column says --------------------------------------------------------------------------------------


def _truths(path: Path, task: Task, table: Sequence[Row], chosen: Sequence[Row]) -> NDArray:
    if isinstance(task, Classification):
        if task.activation == "softmax":
            find = _label_reader(task.labels, [row.value for row in table])
            return np.array([_found(path, row, find, row.value) for row in chosen])
        return _label_sets(path, task.labels, table, chosen)
    width = 1 if isinstance(task, Embedding) else task.outputs
    return np.array([_values(path, row, width) for row in chosen])


def _label_sets(path: Path, labels: Sequence[str], table: Sequence[Row], chosen: Sequence[Row]) -> NDArray[np.bool_]:
    truths = np.zeros((len(chosen), len(labels)), bool)
    if len(labels) == 1 and all(row.value in ("0", "1") for row in table):
        truths[:, 0] = [row.value == "1" for row in chosen]
        return truths
    find = _label_reader(labels, [part for row in table for part in _parts(row.value)])
    for truth, row in zip(truths, chosen, strict=True):
        truth[[_found(path, row, find, part) for part in _parts(row.value)]] = True
    return truths


def _found(path: Path, row: Row, find: Callable[[str], int | None], value: str) -> int:
    label = find(value)
    if label is None:
        raise refused(path, row.line, f"unknown label '{printable(value, _SHOWN)}'")
    return label


def _label_reader(labels: Sequence[str], values: Sequence[str]) -> Callable[[str], int | None]:
    """As the programs do without --labels: names if all are, else numbers, from 0 if a 0 occurs, else from 1."""
    exact = {name: i for i, name in reversed(list(enumerate(labels)))}
    loose = {_lower(name): i for i, name in reversed(list(enumerate(labels)))}

    def by_name(value: str) -> int | None:
        return exact.get(value, loose.get(_lower(value)))

    numbers = [number for number in map(_number, values) if number is not None]
    if not numbers or all(by_name(value) is not None for value in values):
        return by_name
    base = 0 if 0 in numbers else 1

    def by_number(value: str) -> int | None:
        number = _number(value)
        return number - base if number is not None and 0 <= number - base < len(labels) else None

    return by_number


def _lower(name: str) -> str:
    """ASCII letters only."""
    return "".join(c.lower() if c.isascii() else c for c in name)


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None


def _parts(value: str) -> list[str]:
    """Separated by ;, spaces around them left out; nothing is no part."""
    return [part.strip(" ") for part in value.split(";")] if value.strip(" ") else []


def _values(path: Path, row: Row, width: int) -> list[float]:
    parts = _parts(row.value)
    try:
        values = [float(part) for part in parts]
    except ValueError:
        values = []
    if len(values) != width or not np.isfinite(values).all():
        raise refused(path, row.line, f"expected {width} numbers, got '{printable(row.value, _SHOWN)}'")
    return values


# --- measures --------------------------------------------------------------------------------------------------------


def spearman(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """0 where one of them does not vary."""
    ranks_a, ranks_b = (_ranks(values) - (len(values) - 1) / 2 for values in (a, b))
    both = float(np.sqrt((ranks_a**2).sum() * (ranks_b**2).sum()))
    return float((ranks_a * ranks_b).sum()) / both if both > 0 else 0.0


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Equal values share the mean of their ranks."""
    _, group, sizes = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(sizes)
    return ((2 * ends - sizes - 1) / 2)[group]
