# SPDX-License-Identifier: Apache-2.0
"""`--calibrate FILE`: the weights of 4 bits are rounded by what a user's texts make of each linear's inputs.

The texts go through the emulator layer by layer; each linear is rounded when its inputs are known, and its outputs go
on with the new weights. A model that writes reads what it writes for these texts, rounded to nearest. Every
`_JUDGED`-th text is left out of that and shows what came of it, of each head.

Weights that several layers share are rounded once for each of them, and the last time counts. Tables that are looked
up, a GRU's steps, the product that finds the best pieces and heads that no text asks stay rounded to nearest. The
report names both.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from .emulate import Text, emulate_outputs, emulate_texts
from .emulate.floats import F32Array, QuantizedRows
from .emulate.forward import WeightsFor
from .emulate.together import logits_of, write_greedily
from .encoding import check_taken, encoded
from .errors import EtchError, printable
from .golden import text_tokenizer
from .ir import graph as g
from .ir import program as p
from .ir.program_changes import with_matrices
from .ir.task import Task
from .load.tokenizer_spec import TokenizerSpec
from .oracle.interpret import Interpreter
from .progress import advance, stage
from .quantize.bits import places_of
from .quantize.rounding import factorize, input_products, output_error, round_by_inputs
from .table_file import Columns, Echo
from .texts import texts_of

MOST_TOKENS = 24576  # of the texts that are calibrated on; more cost time and change little
MOST_READ = 6144  # of the texts that a model writes for: what is written has tokens of its own
MOST_JUDGED = 64  # texts
_JUDGED = 8


@dataclass(frozen=True)
class Calibration:
    """A program whose 4-bit weights are calibrated, and the report."""

    program: p.Program
    nearest: p.Program  # the same, not calibrated
    sha256: str  # of the file
    lines: tuple[str, ...]


def calibrate(
    program: p.Program,
    graph: g.Graph,
    spec: TokenizerSpec,
    file: Path,
    reference: Interpreter | None = None,
    columns: Columns | None = None,
    echo: Echo = lambda _: None,
) -> Calibration:
    """Rounds the weights of `program` anew. With a reference the report compares with it. `columns` of a table.
    EtchError where no weights of 4 bits are those of a linear that could be."""
    four = [weights for _, _, weights in places_of(program) if isinstance(weights.matrix, p.S4Matrix)]
    if not any(isinstance(weights, p.LinearWeights) for weights in four):
        raise EtchError(
            "nothing-to-calibrate", "arguments", f"recipe {program.recipe} as it is has no linears of 4 bits"
        )
    texts = texts_of(file, "calibrate", columns or Columns(), echo)
    chosen, judged, sha256 = chosen_texts(texts, text_tokenizer(spec, program.max_tokens), program, "calibrate")
    rounding = _Rounding(graph)
    with stage("calibrate", "tensor", sum(isinstance(weights, p.LinearWeights) for weights in four)):
        read = show(program, chosen, rounding.weights)
    if not rounding.done:
        message = f"recipe {program.recipe} as it is: {_listed(four)} of 4 bits can only be rounded to nearest"
        raise EtchError("nothing-to-calibrate", "calibrate", message)
    calibrated = with_matrices(program, rounding.done)
    lines = [
        f"calibration  {read}",
        f"  {'error of the outputs over these texts':<58} {'nearest':>9} {'calibrated':>12}",
        *rounding.lines,
    ]
    left = [weights for weights in four if weights.source not in rounding.done]
    if left:
        lines.append(f"  stay rounded to nearest: {_listed(left)}")
    if reference is not None and judged:
        lines += judge({"nearest": program, "calibrated": calibrated}, reference, judged)
    return Calibration(calibrated, program, sha256, tuple(lines))


def show(program: p.Program, texts: Sequence[Text], weights_for: WeightsFor) -> str:
    """Runs the program over the texts, and what it writes for them; returns how much that was. `weights_for` sees the
    inputs of each linear."""
    ids = [text.ids for text in texts]
    read = f"{len(texts)} texts, {sum(map(len, ids)):,} tokens"
    if program.target is None:
        emulate_texts(program, texts, weights_for)
        return read
    targets = write_greedily(program, ids)
    logits_of(program, ids, targets, weights_for)
    return f"{read}, {sum(map(len, targets)):,} written"


def chosen_texts(
    texts: Iterator[bytes], tokenizer: Tokenizer, program: p.Program, asked: str
) -> tuple[list[Text], list[Text], str]:
    """(texts to show to a program, texts to judge by, SHA-256 of all as lines).

    To show: as many from the beginning as fit in MOST_TOKENS or MOST_READ, at least one. The others are not
    tokenized. `asked` is the stage of errors.
    """
    most = MOST_TOKENS if program.target is None else MOST_READ
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


class _Rounding:
    """Rounds each linear's weights when the emulator comes to it."""

    def __init__(self, graph: g.Graph) -> None:
        self.done: dict[str, p.S4Matrix] = {}
        self._errors: dict[str, str] = {}
        self._uses: Counter[str] = Counter()
        self._originals = _linear_arrays(graph)
        self._inputs: QuantizedRows | None = None

    def weights(self, weights: p.LinearWeights, inputs: F32Array | QuantizedRows) -> p.LinearWeights:
        """The same with calibrated weights, where they are of 4 bits."""
        if not isinstance(weights.matrix, p.S4Matrix) or not isinstance(inputs, QuantizedRows):
            return weights
        if p.of_table(weights) or not len(inputs.q):  # which is looked up, too; of a head that no text asks
            return weights
        if self._inputs is None or not _equal(self._inputs, inputs):  # queries, keys and values have the same
            self._inputs = inputs
            self._products = input_products(inputs)
            self._factors = factorize(self._products)
        values = self._originals[weights.source].values
        matrix = round_by_inputs(values, *self._factors)
        nearest, calibrated = (output_error(each, values, self._products) for each in (weights.matrix, matrix))
        self.done[weights.source] = matrix
        self._uses[weights.source] += 1
        if self._uses[weights.source] == 1:
            advance()
        self._errors[weights.source] = f"{100 * nearest:7.2f} % {100 * calibrated:10.2f} %"
        return replace(weights, matrix=matrix)

    @property
    def lines(self) -> list[str]:
        """What came of each tensor, of one that is used several times the last time, which counts."""
        lines = [f"  {printable(source):<58} {errors}" for source, errors in self._errors.items()]
        shared = [printable(source) for source, uses in self._uses.items() if uses > 1]
        if shared:
            lines.append(f"  shared by layers, rounded by what the last one multiplies: {', '.join(shared)}")
        return lines


def _equal(a: QuantizedRows, b: QuantizedRows) -> bool:
    return np.array_equal(a.q, b.q) and np.array_equal(a.scales, b.scales)


def _linear_arrays(graph: g.Graph) -> dict[str, g.Array]:
    return {array.name: array for op, _ in g.ops_of(graph) if isinstance(op, g.Linear) for array in op.weight.arrays}


def judge(programs: Mapping[str, p.Program], reference: Interpreter, texts: list[Text]) -> list[str]:
    """Each program against float64 on texts that were shown to none, each head by itself; those that write read what
    the first one does."""
    ids = [text.ids for text in texts]
    first = next(iter(programs.values()))
    targets = [] if first.target is None else write_greedily(first, ids)
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


def _listed(weights: Sequence[p.LinearWeights | p.EmbeddingWeights]) -> str:
    """Their names, each once."""
    return ", ".join(dict.fromkeys(printable(each.source) for each in weights))


def _stacked(outputs: Iterable[NDArray]) -> NDArray:
    """[rows, outputs] of all texts."""
    return np.concatenate([np.atleast_2d(of_text) for of_text in outputs])
