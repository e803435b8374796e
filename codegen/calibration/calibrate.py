# SPDX-License-Identifier: Apache-2.0
"""`--calibrate FILE`: the weights of 4 bits are rounded by what a user's texts make of each linear's inputs.

The texts go through the emulator layer by layer; each linear is rounded when its inputs are known, and its outputs go
on with the new weights. A generative model reads what it writes for these texts, rounded to nearest.

Weights that several layers share are rounded once for each of them, and the last time counts. Tables that are looked
up, a GRU's steps, experts, the product that finds the best pieces and heads that no text asks stay rounded to
nearest. The report names both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ..emulate.floats import QuantizedRows
from ..emulate.values import Rows
from ..errors import EtchError, printable
from ..files.table_file import Columns, Echo
from ..files.texts import texts_of
from ..ir import graph as g
from ..ir import program as p
from ..ir.parameter import Array
from ..ir.program_changes import with_matrices
from ..ir.tokenizer_spec import TokenizerSpec
from ..library_tokenizer.wheel_tokenizer import text_tokenizer
from ..oracle.interpret import Interpreter
from ..process.progress import advance, stage
from ..quantize.bits import places_of
from ..quantize.rounding import factorize, input_products, output_error, round_by_inputs
from .shown_texts import chosen_texts, judge, show


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


class _Rounding:
    """Rounds each linear's weights when the emulator comes to it."""

    def __init__(self, graph: g.Graph) -> None:
        self.done: dict[str, p.S4Matrix] = {}
        self._errors: dict[str, str] = {}
        self._uses: Counter[str] = Counter()
        self._originals = _linear_arrays(graph)
        self._inputs: QuantizedRows | None = None

    def weights(self, weights: p.LinearWeights, inputs: Rows) -> p.LinearWeights:
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


def _linear_arrays(graph: g.Graph) -> dict[str, Array]:
    return {array.name: array for op, _ in g.ops_of(graph) if isinstance(op, g.Linear) for array in op.weight.arrays}


def _listed(weights: Sequence[p.LinearWeights | p.EmbeddingWeights]) -> str:
    """Their names, each once."""
    return ", ".join(dict.fromkeys(printable(each.source) for each in weights))
