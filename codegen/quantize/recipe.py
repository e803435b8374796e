# SPDX-License-Identifier: Apache-2.0
"""What the recipes share: how a graph becomes a program.

Inside a layer the ops that keys and values depend on need all rows of the text and run first; everything after that
works on blocks of rows. A graph that reads only the first row of the last layer runs the second part of that layer for
one row, and the first row is then used where it lies; only one that is the result gets a place of its own.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np

from .. import graph as g
from .. import program as p
from ..errors import EtchError
from .bounds import check_bounds
from .constants import reciprocal, rounded, without_tiny


class Recipe(ABC):
    """Turns float weights into tables and float ops into the runtime's ops."""

    name: str

    def lower(self, graph: g.Graph) -> p.Program:
        """The program of a graph. Raises EtchError where weights cannot be represented."""
        check_bounds(graph)
        steps: list[p.Step] = []
        for index, node in enumerate(graph.body):
            if isinstance(node, g.Layers):
                pools = [later.kind for later in graph.body[index + 1 :] if isinstance(later, g.Pool)]
                steps.append(self._loop(graph, node, first_row_only=set(pools) == {"first"}))
            elif isinstance(node, g.Pool):
                if not _in_place(graph, node):
                    row = _row_of_text(graph, node.out)
                    steps.append(p.Pool(node.kind, _buffer(graph, node.input, in_layer=False), row))
            elif isinstance(node, g.Normalize):
                steps.append(p.Normalize(_row_of_text(graph, node.value)))
            else:
                steps.extend(self._lower_node(graph, node, in_layer=False))
        return p.Program(
            recipe=self.name,
            steps=tuple(steps),
            heads=_head_shape(graph),
            output=_row_of_text(graph, graph.output),
            task=graph.task,
            vocabulary=graph.vocabulary,
            segments=graph.segments,
            max_tokens=graph.max_tokens,
        )

    def _loop(self, graph: g.Graph, layers: g.Layers, first_row_only: bool) -> p.Loop:
        attention = next(node for node in layers.body if isinstance(node, g.Attention))
        all_rows = _producers(layers.body, {attention.key, attention.value})
        first: list[p.Op] = []
        for node in all_rows:
            first.extend(self._lower_node(graph, node, in_layer=True))
            if isinstance(node, g.Linear) and node.out in (attention.key, attention.value):
                first.append(self._pack(graph, node.out, attention))
        second: list[p.Op] = []
        for node in layers.body:
            if node not in all_rows:
                second.extend(self._lower_node(graph, node, in_layer=True))
        return p.Loop(
            layers.name,
            layers.count,
            (
                p.Blocks(without_repeats(first), last_layer_first_row=False),
                p.Blocks(without_repeats(second), last_layer_first_row=first_row_only),
            ),
        )

    def _pack(self, graph: g.Graph, value: str, attention: g.Attention) -> p.Op:
        width = graph.widths[value]
        source = p.Buffer("projection", "f32", "block", width)
        if value == attention.key:
            return p.PackKeys(self.kind, source, p.Buffer("keys", "keys", "tokens", width))
        return p.PackValues(self.kind, source, p.Buffer("values", "values", "tokens", width))

    def _lower_node(
        self, graph: g.Graph, node: g.EmbeddingSum | g.LayerNorm | g.Linear | g.Attention, in_layer: bool
    ) -> list[p.Op]:
        def buffer(value: str) -> p.Buffer:
            return _buffer(graph, value, in_layer)

        if isinstance(node, g.EmbeddingSum):
            tables = [self._embedding(node.word), self._embedding(node.segment)]
            tables.append(self._embedding(node.position, graph.max_tokens))
            return [p.EmbeddingSum(self.kind, tables[0], tables[1], tables[2], buffer(node.out))]
        if isinstance(node, g.LayerNorm):
            return [p.LayerNorm(_layer_norm_slot(node), buffer(node.value))]
        if isinstance(node, g.Attention):
            width = graph.widths[node.out]
            keys = p.Buffer("keys", "keys", "tokens", width)
            values = p.Buffer("values", "values", "tokens", width)
            return [p.Attention(self.kind, buffer(node.query), keys, values, buffer(node.out))]
        residual = buffer(node.residual) if node.residual is not None else None
        return self._linear(node, buffer(node.input), residual, buffer(node.out))

    @property
    @abstractmethod
    def kind(self) -> p.Kind:
        """Operand type of attention, embeddings and of every linear that is not exact."""

    @abstractmethod
    def _embedding(self, table: g.Parameter, rows: int | None = None) -> p.WeightSlot:
        """An embedding table, cut at `rows` entries."""

    @abstractmethod
    def _linear(self, node: g.Linear, source: p.Buffer, residual: p.Buffer | None, out: p.Buffer) -> list[p.Op]:
        """The ops of one linear."""


def without_repeats(ops: list[p.Op]) -> tuple[p.Op, ...]:
    """Drops a Quantize whose source has not changed since the same Quantize ran."""
    kept: list[p.Op] = []
    current: set[tuple[str, str]] = set()
    for op in ops:
        if isinstance(op, p.Quantize):
            if (op.input.name, op.out.name) in current:
                continue
            current.add((op.input.name, op.out.name))
        else:
            written = _written(op).name
            current = {pair for pair in current if written not in pair}
        kept.append(op)
    return tuple(kept)


def bias_of(node: g.Linear, layer: int) -> np.ndarray | None:
    """The bias of one layer as the tables hold it."""
    return None if node.bias is None else without_tiny(node.bias.arrays[layer].values)


def f32_linear(node: g.Linear, source: p.Buffer, residual: p.Buffer | None, out: p.Buffer) -> p.Linear:
    """A linear whose weights and products stay f32."""
    weights = tuple(
        p.LinearWeights(p.F32Matrix(without_tiny(array.values)), bias_of(node, layer), array.name)
        for layer, array in enumerate(node.weight.arrays)
    )
    return p.Linear("f32", p.WeightSlot(node.name, weights), source, node.activation, residual, out)


def _row_of_text(graph: g.Graph, value: str) -> p.Buffer:
    return p.Buffer(value, "f32", "one", graph.widths[value])


def _in_place(graph: g.Graph, pool: g.Pool) -> bool:
    """Whether the pooled row is row 0 of the buffer that holds the text's rows."""
    return pool.kind == "first" and pool.out != graph.output


def _written(op: p.Op) -> p.Buffer:
    if isinstance(op, p.LayerNorm | p.Normalize):
        return op.rows
    return op.context if isinstance(op, p.Attention) else op.out


def _producers(body: tuple[g.EmbeddingSum | g.LayerNorm | g.Linear | g.Attention, ...], values: set[str]) -> list:
    """The ops of a layer before its attention that `values` depend on, in order."""
    wanted, found = set(values), []
    for node in reversed(body[: next(i for i, n in enumerate(body) if isinstance(n, g.Attention))]):
        if g.writes(node) in wanted:
            found.append(node)
            wanted.update(g.reads(node))
    return found[::-1]


def _buffer(graph: g.Graph, value: str, in_layer: bool) -> p.Buffer:
    """Where a value lives: the hidden rows of the whole text, a block's rows, or one row after the layers."""
    carried = {node.out for node in graph.body if isinstance(node, g.EmbeddingSum)}
    selected = {node.out: node.input for node in graph.body if isinstance(node, g.Pool) and _in_place(graph, node)}
    name = selected.get(value, value)
    if name in carried:
        return p.Buffer(name, "f32", "tokens", graph.widths[name])
    if name in _keys_and_values(graph):
        name = "projection"
    return p.Buffer(name, "f32", "block" if in_layer else "one", graph.widths[value])


def _keys_and_values(graph: g.Graph) -> set[str]:
    names: set[str] = set()
    for layers in graph.body:
        if isinstance(layers, g.Layers):
            for node in layers.body:
                if isinstance(node, g.Attention):
                    names |= {node.key, node.value}
    return names


def _layer_norm_slot(node: g.LayerNorm) -> p.WeightSlot:
    entries = []
    for gamma, beta in zip(node.gamma.arrays, node.beta.arrays, strict=True):
        entries.append(
            p.LayerNormWeights(
                gamma=without_tiny(gamma.values),
                beta=without_tiny(beta.values),
                epsilon=rounded(node.epsilon),
                inverse_width=reciprocal(gamma.shape[0]),
                source=gamma.name,
            )
        )
    return p.WeightSlot(node.name, tuple(entries))


def _head_shape(graph: g.Graph) -> p.HeadShape:
    for layers in graph.body:
        if isinstance(layers, g.Layers):
            for node in layers.body:
                if isinstance(node, g.Attention):
                    width = graph.widths[node.query] // node.heads
                    return p.HeadShape(node.heads, width, rounded(math.log2(math.e) / math.sqrt(width)))
    raise EtchError("no-attention", "quantize", "the graph has no attention")
