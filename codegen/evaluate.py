# SPDX-License-Identifier: Apache-2.0
"""How good a model's answers are on a labelled table, with the arithmetic contract as the judge.

The NumPy emulation gives the bits of every board and kernel, so that nothing has to be built. It is a few hundred times
slower than the program, so that only some of the rows are asked.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .emulate import emulate_texts
from .emulate.generation import Generation
from .emulate.together import write_greedily
from .errors import EtchError
from .files.table_file import Columns, Echo, Row
from .ir.program import Program
from .ir.target_tokenizer import TargetTokenizer
from .ir.task import Measure, Task
from .ir.text import Text, in_batches
from .ir.tokenizer_spec import TokenizerSpec
from .library_tokenizer.encoding import check_taken
from .library_tokenizer.encoding import encoded as encode_texts
from .library_tokenizer.spelled import Speller
from .library_tokenizer.wheel_tokenizer import text_tokenizer
from .process.progress import advance, stage

# [texts, outputs], or [tokens, outputs] of each text, or the texts that are written.
Outputs = NDArray[np.float32] | list[NDArray[np.float32]] | list[str]

DEFAULT_ROWS = 1000
_TOKENS_AT_ONCE = 4096
_OF_BEST_TOKENS = (
    "of the best tokens, which the program writes at --temperature 0: the folder asks for drawn ones (do_sample)"
)


@dataclass(frozen=True)
class Rows:
    """Rows of a table with what the task's answer should be."""

    rows: tuple[Row, ...]
    truths: NDArray  # label indices, sets of labels as [rows, labels] of bool, values or scores as float64
    total: int  # rows of the file
    measure: Measure  # that decides


@dataclass(frozen=True)
class Score:
    of: Measure  # what `value` is
    value: float
    answers: NDArray  # what each row was answered, as the truths are written; [rows, ...]
    seconds: float
    others: tuple[str, ...] = ()  # the task's other measures, with their values
    notes: tuple[str, ...] = ()  # what the answers are not

    @property
    def measure(self) -> str:
        return self.of.name

    @property
    def share(self) -> float:
        """The value with 1 as its best, whatever the measure."""
        return self.value / 100 if self.of.percent else self.value

    def __str__(self) -> str:
        return self.of.text(self.value)


def read_rows(
    path: Path, columns: Columns, task: Task, most: int, echo: Echo = lambda _: None, measure: str | None = None
) -> Rows:
    """At most `most` rows, evenly spaced over the file; a 0 or a name in any row decides how all labels are read. What
    `measure` names decides, or the task's first one."""
    chosen_measure = _measure_of(task, measure)
    table = task.read(path, columns, echo)
    count = min(most, len(table))
    chosen = [table[i * len(table) // count] for i in range(count)]
    return Rows(tuple(chosen), task.truths(path, table, chosen, columns.labels), len(table), chosen_measure)


def _measure_of(task: Task, name: str | None) -> Measure:
    """EtchError where the task has no such one."""
    found = next((one for one in task.measures if name in (None, one.name.split()[0].lower())), None)
    if found is None:
        message = f"--measure {name}: {task.name} has {', '.join(one.name for one in task.measures)}"
        raise EtchError("option-conflict", "arguments", message)
    return found


def score(program: Program, spec: TokenizerSpec, rows: Rows, target: TargetTokenizer | None = None) -> Score:
    """The measure of the program's answers; `target` makes texts of what a model writes. One that draws its tokens is
    judged by the best ones, which a note says."""
    begin = time.monotonic()
    texts = encoded(program, spec, rows)
    found = emulated(program, texts) if target is None else written(program, texts, target)
    result = scored(program.task, rows, texts, found, time.monotonic() - begin)
    draws = program.target_rules is not None and program.target_rules.sampling is not None
    return replace(result, notes=(_OF_BEST_TOKENS,)) if draws else result


def encoded(program: Program, spec: TokenizerSpec, rows: Rows) -> list[Text]:
    """The texts that are asked: one for each row, or both where a row is a pair that is compared."""
    of_task = program.task.encoded(spec, program.max_tokens, rows.rows)
    if of_task is not None:
        texts = of_task
    elif program.task.texts_of_row > 1:
        texts = encode(spec, program.max_tokens, [text for row in rows.rows for text in row.texts])
    else:
        texts = encode(spec, program.max_tokens, [row.joined for row in rows.rows])
    return [check_taken(program, number, text, "evaluate") for number, text in enumerate(texts, 1)]


def scored(task: Task, rows: Rows, texts: Sequence[Text], found: Outputs, seconds: float) -> Score:
    """The measure of the outputs for encoded()."""
    answers = task.answers(found, rows.rows, texts)
    values = {one: task.measured(answers, rows.truths, one) for one in task.measures}
    value = values.pop(rows.measure)
    others = tuple(f"{one.name} {one.text(other)}" for one, other in values.items())
    return Score(rows.measure, value, answers, seconds, others)


def encode(spec: TokenizerSpec, max_tokens: int, texts: Sequence[str]) -> list[Text]:
    """Ids and segments, cut at `max_tokens`."""
    return list(encode_texts(text_tokenizer(spec, max_tokens), texts))


def emulated(program: Program, texts: Sequence[Text]) -> Outputs:
    """The bits of every kernel. Texts of like length go together: less is computed at once."""
    found: list[NDArray[np.float32]] = [np.empty(0, np.float32)] * len(texts)
    with stage("evaluate", "text", len(texts)):
        for batch in _batches(texts):
            for i, outputs in zip(batch, emulate_texts(program, [texts[k] for k in batch]), strict=True):
                found[i] = outputs
            advance(len(batch))
    return np.array(found) if program.task.rows == "text" else found


def written(program: Program, texts: Sequence[Text], target: TargetTokenizer) -> list[str]:
    """What the program writes for each text, whatever the kernel."""
    rules = program.target_rules
    assert rules is not None
    found, speller = [""] * len(texts), Speller(target)
    with stage("evaluate", "text", len(texts)):
        for batch in _batches(texts):
            for i, tokens in zip(batch, written_tokens(program, [texts[k].ids for k in batch]), strict=True):
                before = () if rules.begin else rules.read_first(texts[i].ids)
                found[i] = speller.text(tokens, before)
            advance(len(batch))
    return found


def written_tokens(program: Program, texts: Sequence[Sequence[int]]) -> list[list[int]]:
    """Of each text what is written: the best that a search finds, or greedily."""
    rules = program.target_rules
    assert rules is not None
    if rules.search.beams == 1:
        return write_greedily(program, texts)
    read = (ids if rules.begin else rules.read_first(ids) for ids in texts)
    return [list(Generation(program, ids, [0] * len(ids)).beams()[0].tokens) for ids in read]


def _batches(texts: Sequence[Text]) -> Iterator[list[int]]:
    """Indices of texts of like length."""
    order = sorted(range(len(texts)), key=lambda i: len(texts[i].ids))
    for batch in in_batches([len(texts[i].ids) for i in order], _TOKENS_AT_ONCE):
        yield [order[k] for k in batch]
