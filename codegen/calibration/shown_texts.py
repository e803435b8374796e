# SPDX-License-Identifier: Apache-2.0
"""A user's texts that decide numbers of a model (`--calibrate`, `--smooth`): those that are shown to a program, and
what came of it on others. Every `_JUDGED`-th text is left out of the first and belongs to the second."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..emulate import emulate_outputs, emulate_texts
from ..emulate.together import logits_of, write_greedily
from ..emulate.values import WeightsFor
from ..ir import program as p
from ..ir.task import Task
from ..ir.text import Text
from ..library_tokenizer.encoding import check_taken, encoded
from ..library_tokenizer.wheel_tokenizer import WheelTokenizer
from ..oracle.interpret import Interpreter

MOST_TOKENS = 24576  # of the texts that are shown; more cost time and change little
MOST_READ = 6144  # of the texts that a model writes for: what is written has tokens of its own
MOST_JUDGED = 64  # texts
_JUDGED = 8


def show(program: p.Program, texts: Sequence[Text], weights_for: WeightsFor) -> str:
    """Runs the program over the texts, and what it writes for them; returns how much that was. `weights_for` sees the
    inputs of each linear."""
    ids = [text.ids for text in texts]
    read = f"{len(texts)} texts, {sum(map(len, ids)):,} tokens"
    if program.target_rules is None:
        emulate_texts(program, texts, weights_for)
        return read
    targets = write_greedily(program, ids)
    logits_of(program, ids, targets, weights_for)
    return f"{read}, {sum(map(len, targets)):,} written"


def chosen_texts(
    texts: Iterator[bytes], tokenizer: WheelTokenizer, program: p.Program, asked: str
) -> tuple[list[Text], list[Text], str]:
    """(texts to show to a program, texts to judge by, SHA-256 of all as lines).

    To show: as many from the beginning as fit in MOST_TOKENS or MOST_READ, at least one. The others are not
    tokenized. `asked` is the stage of errors.
    """
    most = MOST_TOKENS if program.target_rules is None else MOST_READ
    digest = hashlib.sha256()
    lines = _hashed(texts, digest)
    chosen: list[Text] = []
    judged: list[Text] = []
    tokens = 0
    for i, text in enumerate(encoded(tokenizer, (line.decode("utf-8", "replace") for line in lines))):
        check_taken(program, i + 1, text, asked)
        if i % _JUDGED == _JUDGED - 1:
            judged += [text] if len(judged) < MOST_JUDGED else []
        elif tokens <= most:
            tokens += len(text.ids)
            chosen += [text] if tokens <= most or not chosen else []
        elif len(judged) == MOST_JUDGED:
            break
    for _ in lines:
        pass
    return chosen, judged, digest.hexdigest()


def _hashed(lines: Iterator[bytes], digest: hashlib._Hash) -> Iterator[bytes]:
    """The same lines; `digest` gets them with a line feed between two."""
    for number, line in enumerate(lines):
        digest.update(b"\n" + line if number else line)
        yield line


def judge(programs: Mapping[str, p.Program], reference: Interpreter, texts: list[Text]) -> list[str]:
    """Each program against float64 on texts that were shown to none, each head by itself; those that write read what
    the first one does."""
    ids = [text.ids for text in texts]
    first = next(iter(programs.values()))
    targets = [] if first.target_rules is None else write_greedily(first, ids)
    if targets:
        pairs = zip(texts, targets, strict=True)
        exact = [_stacked(reference.logits(text.ids, text.segments, written[:-1]) for text, written in pairs)]
    else:
        outputs = [reference.outputs(text.ids, text.segments) for text in texts]
        exact = [_stacked(of_head) for of_head in zip(*outputs, strict=True)]
    lines = []
    for name, program in programs.items():
        found = [logits_of(program, ids, targets)] if targets else emulate_outputs(program, texts)
        for output, ours, expected in zip(program.outputs, found, exact, strict=True):
            head = f"{output.name}: " if len(program.outputs) > 1 else ""
            words = _difference(output.task, _stacked(ours), expected)
            lines.append(f"  {len(texts)} other texts against float64, {name + ':':<12} {head}{words}")
    return lines


def _difference(task: Task, outputs: NDArray, exact: NDArray) -> str:
    """Of all rows of a head's outputs, in words."""
    if not len(exact):
        return "they have nothing that it answers"
    ours, expected = (task.compared(rows).astype(np.float64) for rows in (outputs, exact))
    words = f"mean |difference| {np.abs(ours - expected).mean():.4f}"
    if task.one_label or task.rows == "steps":
        changed = int((ours.argmax(axis=1) != expected.argmax(axis=1)).sum())
        words += f", {changed} {f'of {len(exact)} tokens' if task.rows == 'steps' else 'labels'} changed"
    lengths = np.linalg.norm(ours, axis=1) * np.linalg.norm(expected, axis=1)
    cosines = (ours * expected).sum(axis=1) / np.where(lengths > 0, lengths, 1)
    return f"{words}, cosine {cosines.mean():.4f} (least {cosines.min():.4f})"


def _stacked(outputs: Iterable[NDArray]) -> NDArray:
    """[rows, outputs] of all texts."""
    return np.concatenate([np.atleast_2d(of_text) for of_text in outputs])
