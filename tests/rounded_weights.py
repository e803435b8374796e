# SPDX-License-Identifier: Apache-2.0
"""What a checkpoint means in float64 where its tables and linears have the values that a recipe of integers stores."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from codegen.ir import graph as g
from codegen.ir.experts import ExpertLinear
from codegen.ir.parameter import Array
from codegen.ir.weights import Integers, S4Matrix
from codegen.oracle.interpret import Interpreter
from codegen.quantize.w8a8 import W8A8


class RoundedWeights(Interpreter):
    """Between this and what a model computes lie the activations in 8 bits, however few bits the weights have. That has
    no bound, but a tiny random model that is off by an eighth of its size is wired up wrongly."""

    @staticmethod
    def bound(outputs: Iterable[NDArray[np.float64]]) -> float:
        """Of the difference from these outputs."""
        return max(float(np.abs(output).max()) for output in outputs) / 8

    def __init__(self, graph: g.Graph, recipe: W8A8) -> None:
        super().__init__(graph)
        self._stored: dict[int, NDArray[np.float64]] = {}
        for op, _ in g.ops_of(graph):
            if isinstance(op, g.Embed):
                for table in (term.table for term in op.terms):
                    for array in table.arrays:
                        self._store(array, recipe.table(table.name, array.values))
            else:
                inside = op.directions if isinstance(op, g.Gru) else op.linears if isinstance(op, g.Experts) else (op,)
                for linear in inside:
                    is_rounded = isinstance(linear, g.Recurrence | ExpertLinear)
                    if is_rounded or (isinstance(linear, g.Linear) and not linear.exact):
                        for index, array in enumerate(linear.weight.arrays):
                            self._store(array, recipe.matrix(linear.name, index, array.values))

    def _store(self, array: Array, matrix: Integers) -> None:
        whole = matrix.expanded if isinstance(matrix, S4Matrix) else matrix
        self._stored[id(array)] = whole.q.astype(np.float64) * whole.scales.astype(np.float64)[:, None]

    def float64(self, array: Array) -> NDArray[np.float64]:
        return self._stored[id(array)] if id(array) in self._stored else super().float64(array)
