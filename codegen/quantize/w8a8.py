# SPDX-License-Identifier: Apache-2.0
"""Recipe w8a8: 8-bit weights with one scale per output channel, 8-bit activations with one scale per token.

Any weights may have 4 bits instead.
"""

from __future__ import annotations

from ..ir.graph import Graph
from ..ir.parameter import FloatArray
from ..ir.program import Integers, Kind
from .bits import SEGMENTS, Bits, bits_at, check_bits
from .channels import quantize_rows, quantize_rows_s7
from .groups import quantize_groups
from .recipe import Recipe


class W8A8(Recipe):
    name = "w8a8"
    kind: Kind = "s8"
    linear_bits = 8

    def __init__(self, embedding_bits: int = 8, bits: Bits | None = None) -> None:
        """`embedding_bits` of the tables of words and positions; `bits` of the places that it names (bits.py)."""
        self._embedding_bits = embedding_bits
        self._bits: Bits = bits or {}

    def check(self, graph: Graph) -> None:
        check_bits(self._bits, graph)

    def table(self, name: str, values: FloatArray) -> Integers:
        return _quantize(values, self._bits.get(name, 8 if name == SEGMENTS else self._embedding_bits))

    def matrix(self, name: str, layer: int, values: FloatArray) -> Integers:
        return _quantize(values, bits_at(self._bits, name, layer, self.linear_bits))


def _quantize(values: FloatArray, width: int) -> Integers:
    if width == 4:
        return quantize_groups(values)
    return quantize_rows_s7(values) if width == 7 else quantize_rows(values)
