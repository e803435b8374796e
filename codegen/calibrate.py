# SPDX-License-Identifier: Apache-2.0
"""`--calibrate FILE`: the weights of 4 bits are rounded by what a user's texts make of each linear's inputs.

The texts go through the emulator layer by layer; each linear is rounded when its inputs are known, and its outputs go
on with the new weights. Every `_JUDGED`-th text is left out of that and shows what came of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from . import graph as g
from . import program as p
from .emulate import Text, emulate_texts
from .emulate.floats import F32Array, QuantizedRows
from .errors import EtchError, printable
from .golden import text_tokenizer
from .load.tokenizer_spec import WordPieceSpec
from .quantize.bits import places_of
from .quantize.rounding import factorize, input_products, output_error, round_by_inputs
from .reference import Reference
from .tasks import Classification
from .texts import read_lines

MOST_TOKENS = 24576  # of the texts that are calibrated on; more cost time and change little
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
    program: p.Program, graph: g.Graph, spec: WordPieceSpec, file: Path, reference: Reference | None = None
) -> Calibration:
    """Rounds the weights of `program` anew. With a reference the report compares with it."""
    four = [weights for _, _, weights in places_of(program) if isinstance(weights.matrix, p.S4Matrix)]
    if not any(isinstance(weights, p.LinearWeights) for weights in four):
        raise EtchError(
            "nothing-to-calibrate", "arguments", f"recipe {program.recipe} as it is has no linears of 4 bits"
        )
    content = read_lines(file, "calibrate")
    tokenizer = text_tokenizer(spec, program.max_tokens)
    encodings = tokenizer.encode_batch([line.decode("utf-8", "replace") for line in content])
    texts = [Text(encoding.ids, encoding.type_ids) for encoding in encodings]
    judged = texts[_JUDGED - 1 :: _JUDGED][:MOST_JUDGED]
    chosen = _within([text for i, text in enumerate(texts) if i % _JUDGED != _JUDGED - 1])
    rounding = _Rounding(graph)
    emulate_texts(program, chosen, rounding.weights)
    calibrated = p.with_matrices(program, rounding.done)
    tokens = sum(len(text.ids) for text in chosen)
    lines = [
        f"calibration  {len(chosen)} texts, {tokens:,} tokens",
        f"  {'error of the outputs over these texts':<58} {'nearest':>9} {'calibrated':>12}",
        *rounding.lines,
    ]
    if reference is not None and judged:
        lines += _judge(program, calibrated, reference, judged)
    return Calibration(calibrated, program, hashlib.sha256(b"\n".join(content)).hexdigest(), tuple(lines))


class _Rounding:
    """Rounds each linear's weights when the emulator comes to it."""

    def __init__(self, graph: g.Graph) -> None:
        self.done: dict[str, p.S4Matrix] = {}
        self.lines: list[str] = []
        self._originals = _linear_arrays(graph)
        self._inputs: QuantizedRows | None = None

    def weights(self, weights: p.LinearWeights, inputs: F32Array | QuantizedRows) -> p.LinearWeights:
        """The same with calibrated weights, where they are of 4 bits."""
        if not isinstance(weights.matrix, p.S4Matrix) or not isinstance(inputs, QuantizedRows):
            return weights
        if self._inputs is None or not _equal(self._inputs, inputs):  # queries, keys and values have the same
            self._inputs = inputs
            self._products = input_products(inputs)
            self._factors = factorize(self._products)
        values = self._originals[weights.source].values
        matrix = round_by_inputs(values, *self._factors)
        nearest, calibrated = (output_error(each, values, self._products) for each in (weights.matrix, matrix))
        self.done[weights.source] = matrix
        self.lines.append(f"  {printable(weights.source):<58} {100 * nearest:7.2f} % {100 * calibrated:10.2f} %")
        return replace(weights, matrix=matrix)


def _within(texts: Sequence[Text]) -> list[Text]:
    """As many from the beginning as fit in MOST_TOKENS, at least one."""
    ends = np.cumsum([len(text.ids) for text in texts])
    return list(texts[: max(1, int(np.searchsorted(ends, MOST_TOKENS, "right")))])


def _equal(a: QuantizedRows, b: QuantizedRows) -> bool:
    return np.array_equal(a.q, b.q) and np.array_equal(a.scales, b.scales)


def _linear_arrays(graph: g.Graph) -> dict[str, g.Array]:
    nodes = [inner for node in graph.body for inner in (node.body if isinstance(node, g.Layers) else (node,))]
    return {array.name: array for node in nodes if isinstance(node, g.Linear) for array in node.weight.arrays}


def _judge(nearest: p.Program, calibrated: p.Program, reference: Reference, texts: list[Text]) -> list[str]:
    """Both programs against float64 on texts that nothing was calibrated on."""
    exact = np.array([reference.output(text.ids, text.segments) for text in texts])
    lines = []
    for name, program in (("nearest", nearest), ("calibrated", calibrated)):
        outputs = emulate_texts(program, texts).astype(np.float64)
        words = f"mean |difference| {np.abs(outputs - exact).mean():.4f}"
        if isinstance(program.task, Classification) and program.task.activation == "softmax":
            changed = int((outputs.argmax(axis=1) != exact.argmax(axis=1)).sum())
            words += f", {changed} labels changed"
        lengths = np.linalg.norm(outputs, axis=1) * np.linalg.norm(exact, axis=1)
        cosines = (outputs * exact).sum(axis=1) / np.where(lengths > 0, lengths, 1)
        words += f", cosine {cosines.mean():.4f} (least {cosines.min():.4f})"
        lines.append(f"  {len(texts)} other texts against float64, {name + ':':<12} {words}")
    return lines
