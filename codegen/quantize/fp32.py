# SPDX-License-Identifier: Apache-2.0
"""Recipe fp32: float tables and products, the reference for accuracy."""

from __future__ import annotations

from .. import graph as g
from .. import program as p
from .constants import without_tiny
from .recipe import Recipe, f32_linear


class Fp32(Recipe):
    name = "fp32"

    @property
    def kind(self) -> p.Kind:
        return "f32"

    def _embedding(self, table: g.Parameter, rows: int | None = None) -> p.WeightSlot:
        array = table.arrays[0]
        matrix = p.F32Matrix(without_tiny(array.values[:rows]))
        return p.WeightSlot(table.name, (p.EmbeddingWeights(matrix, array.name),))

    def _linear(self, node: g.Linear, source: p.Buffer, residual: p.Buffer | None, out: p.Buffer) -> list[p.Op]:
        return [f32_linear(node, source, residual, out)]
