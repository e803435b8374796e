# SPDX-License-Identifier: Apache-2.0
"""Recipe w8a8: 8-bit weights with one scale per output channel, 8-bit activations with one scale per token.

The tables of words and positions may have 4 bits. That of segments has a few entries, which go into every token.
"""

from __future__ import annotations

from .. import graph as g
from .. import program as p
from .channels import quantize_rows
from .groups import quantize_groups
from .recipe import Recipe, bias_of, f32_linear


class W8A8(Recipe):
    name = "w8a8"

    def __init__(self, embedding_bits: int = 8) -> None:
        self._embedding_bits = embedding_bits

    @property
    def kind(self) -> p.Kind:
        return "s8"

    def _embedding(self, table: g.Parameter, rows: int | None = None) -> p.WeightSlot:
        array = table.arrays[0]
        quantize = (
            quantize_groups if self._embedding_bits == 4 and table.name != "segment_embeddings" else quantize_rows
        )
        return p.WeightSlot(table.name, (p.EmbeddingWeights(quantize(array.values[:rows]), array.name),))

    def _matrix(self, values: g.F32Array) -> p.Integers:
        """The weights of one linear."""
        return quantize_rows(values)

    def _linear(self, node: g.Linear, source: p.Buffer, residual: p.Buffer | None, out: p.Buffer) -> list[p.Op]:
        if node.exact:
            return [f32_linear(node, source, residual, out)]
        weights = tuple(
            p.LinearWeights(self._matrix(array.values), bias_of(node, layer), array.name)
            for layer, array in enumerate(node.weight.arrays)
        )
        rows: p.Rows = "block" if out.rows != "one" else "one"
        quantized = p.Buffer(f"{node.input}_q", "quantized", rows, source.width)
        return [
            p.Quantize(source, quantized),
            p.Linear("s8", p.WeightSlot(node.name, weights), quantized, node.activation, residual, out),
        ]
