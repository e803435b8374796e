# SPDX-License-Identifier: Apache-2.0
"""The first values of an embedding in place of all: of models that were trained so that they say most (Matryoshka,
Kusupati et al. 2022, arXiv:2205.13147). As `encode(truncate_dim=N)` of sentence-transformers; what the model divides by
its length is divided by that of the values that are left, as with `normalize_embeddings=True`."""

from __future__ import annotations

from dataclasses import replace

from .errors import EtchError
from .ir import graph as g
from .ir.derived import Derived
from .ir.op import reads, writes
from .ir.parameter import Parameter
from .tasks.embedding import Embedding


def with_dimensions(graph: g.Graph, count: int) -> g.Graph:
    """The graph of a model whose embedding has the first `count` values only. What nobody asks for then is not stored
    or computed: rows of a last linear, columns of a table whose rows are averaged. EtchError where it has not so many,
    or is no embedding."""
    (head,) = graph.heads
    width = graph.widths[head.value]
    if not 1 <= count <= width:
        message = f"--dimensions {count}: the embedding has {width} values"
        raise EtchError("dimensions-out-of-range", "arguments", message)
    place = max(place for place, node in enumerate(graph.body) if _makes(node, head.value))
    nodes, widths = _narrowed(graph, place, count)
    assert isinstance(head.task, Embedding)
    return replace(
        graph,
        body=tuple(nodes.get(i, node) for i, node in enumerate(graph.body)),
        widths={**graph.widths, **widths, head.value: count},
        heads=(replace(head, task=replace(head.task, width=count)),),
    )


def _narrowed(graph: g.Graph, place: int, count: int) -> tuple[dict[int, g.Node], dict[str, int]]:
    """Nodes in the place of others of the body, and widths of what they write, where the node at `place` makes the
    embedding."""
    node = graph.body[place]
    if isinstance(node, g.Linear) and node.residual is None:
        bias = None if node.bias is None else _first(node.bias, count, axis=0)
        return {place: replace(node, weight=_first(node.weight, count, axis=0), bias=bias)}, {}
    if not isinstance(node, g.Pool) or node.beside or node.kind == "ends":
        message = "--dimensions: what makes this embedding has no first values of their own"
        raise EtchError("dimensions-not-supported", "arguments", message)
    table = _averaged(graph, node)
    if table is None:
        return {place: replace(node, columns=count)}, {}
    (term,) = table.terms
    narrow = replace(table, terms=(replace(term, table=_first(term.table, count, axis=1)),))
    return {graph.body.index(table): narrow}, {table.out: count}


def _makes(node: g.Node, value: str) -> bool:
    """But for what divides it by its length."""
    return not isinstance(node, g.Layers | g.Normalize) and value in writes(node)


def _averaged(graph: g.Graph, pool: g.Pool) -> g.Embed | None:
    """The table whose rows alone are pooled."""
    tables = [node for node in graph.body if isinstance(node, g.Embed) and node.out == pool.input]
    readers = [op for op, _ in g.ops_of(graph) if pool.input in reads(op) and op is not pool]
    alone = len(tables) == 1 and not readers and len(tables[0].terms) == 1 and tables[0].terms[0].hashes is None
    return tables[0] if alone else None


def _first(parameter: Parameter, count: int, axis: int) -> Parameter:
    """The first rows, or columns, of its arrays."""
    which = (slice(count),) if axis == 0 else (slice(None), slice(count))

    def shape(whole: tuple[int, ...]) -> tuple[int, ...]:
        return (*whole[:axis], count, *whole[axis + 1 :])

    arrays = tuple(Derived(array, lambda values: values[which], shape) for array in parameter.arrays)
    return replace(parameter, arrays=arrays)
