# SPDX-License-Identifier: Apache-2.0
"""Recipe fp32: float tables and products, the reference for accuracy."""

from __future__ import annotations

import numpy as np

from ..ir.constants import without_tiny
from ..ir.graph import Graph
from ..ir.parameter import FloatArray
from ..ir.program import F32Matrix, Kind
from .recipe import Recipe


class Fp32(Recipe):
    name = "fp32"
    kind: Kind = "f32"

    def check(self, graph: Graph) -> None:
        """There are no options."""

    def table(self, name: str, values: FloatArray) -> F32Matrix:
        return F32Matrix(without_tiny(values.astype(np.float32)))

    def matrix(self, name: str, layer: int, values: FloatArray) -> F32Matrix:
        return F32Matrix(without_tiny(values.astype(np.float32)))
