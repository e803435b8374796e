# SPDX-License-Identifier: Apache-2.0
"""Recipe w8a8: 8-bit weights with one scale per output channel, 8-bit activations with one scale per token.

Any weights may have 4 bits instead.
"""

from __future__ import annotations

from .. import graph as g
from .. import program as p
from .bits import SEGMENTS, Bits, bits_at, check_bits
from .channels import quantize_rows
from .groups import quantize_groups
from .recipe import Recipe, bias_of, f32_linear


class W8A8(Recipe):
    name = "w8a8"
    linear_bits = 8

    def __init__(self, embedding_bits: int = 8, bits: Bits | None = None) -> None:
        """`embedding_bits` of the tables of words and positions; `bits` of the places that it names (bits.py)."""
        self._embedding_bits = embedding_bits
        self._bits: Bits = bits or {}

    @property
    def kind(self) -> p.Kind:
        return "s8"

    def lower(self, graph: g.Graph) -> p.Program:
        check_bits(self._bits, graph)
        return super().lower(graph)

    def _embedding(self, table: g.Parameter, rows: int | None = None) -> p.WeightSlot:
        array = table.arrays[0]
        width = self._bits.get(table.name, 8 if table.name == SEGMENTS else self._embedding_bits)
        return p.WeightSlot(table.name, (p.EmbeddingWeights(_quantize(array.values[:rows], width), array.name),))

    def _linear(self, node: g.Linear, source: p.Buffer, residual: p.Buffer | None, out: p.Buffer) -> list[p.Op]:
        if node.exact:
            return [f32_linear(node, source, residual, out)]
        weights = tuple(
            p.LinearWeights(
                _quantize(array.values, bits_at(self._bits, node.name, layer, self.linear_bits)),
                bias_of(node, layer),
                array.name,
            )
            for layer, array in enumerate(node.weight.arrays)
        )
        rows: p.Rows = "block" if out.rows != "one" else "one"
        quantized = p.Buffer(f"{node.input}_q", "quantized", rows, source.width)
        return [
            p.Quantize(source, quantized),
            p.Linear("s8", p.WeightSlot(node.name, weights), quantized, node.activation, residual, out),
        ]


def _quantize(values: g.F32Array, width: int) -> p.Integers:
    return quantize_groups(values) if width == 4 else quantize_rows(values)
