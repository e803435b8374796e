# SPDX-License-Identifier: Apache-2.0
"""Embeddings of which nothing but the mean of a text's rows is read: their rows are never stored."""

from __future__ import annotations

from ..ir import graph as g
from ..ir.op import reads
from ..ir.products import tied_tables


def averaged(graph: g.Graph) -> dict[str, g.Embed]:
    """By the value that they would write: those of one table, looked up by id as it is."""
    found: dict[str, g.Embed] = {}
    tied = tied_tables(graph)
    for node in graph.body:
        if not isinstance(node, g.Embed) or len(node.terms) != 1:
            continue
        (term,) = node.terms
        as_it_is = term == g.Term(term.table, "ids") and term.table.name not in tied
        readers = [op for op, _ in g.ops_of(graph) if node.out in reads(op)]
        of_means = all(isinstance(op, g.Pool) and op == g.Pool("mean", node.out, op.out) for op in readers)
        if as_it_is and of_means and all(head.value != node.out for head in graph.heads):
            found[node.out] = node
    return found
