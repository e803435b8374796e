# SPDX-License-Identifier: Apache-2.0
"""Whether all that a graph computes has a use, and whether a table that is looked up may be a linear's weights, too."""

from __future__ import annotations

from . import graph as g
from .op import carried, reads, writes
from .products import products_of, terms_of, tied_tables
from .unsound import unsound


def check_uses(graph: g.Graph) -> None:
    """Every value that is written is read before it is written again, or is a result. Of what a layer leaves to the
    next one, behind the last one of them is."""
    unused: dict[str, g.Op] = {}
    left: dict[str, set[str]] = {}
    for node in (node for phase in graph.phases for node in phase.body):
        for op in g.ops_in(node) * (2 if isinstance(node, g.Layers) else 1):
            for value in reads(op):
                for each in left.pop(value, {value}):
                    unused.pop(each, None)
            for value in writes(op):
                left.pop(value, None)
                if value in unused and unused[value] is not op:
                    raise unsound(f"'{value}' is computed by {type(unused[value]).__name__} and never read")
                unused[value] = op
        handed = carried(g.ops_in(node)).intersection(unused)
        left |= dict.fromkeys(handed, handed)
    results = {head.value for head in graph.heads}
    for value, op in unused.items():
        if value not in results:
            raise unsound(f"'{value}' is computed by {type(op).__name__} and never read")


def check_tied(graph: g.Graph) -> None:
    """What the table of a linear may be: entries by id, all of them, outside layers."""
    tied = tied_tables(graph)
    for product, layers in products_of(graph):
        if product.weight.name not in tied:
            continue
        if layers is not None or isinstance(product, g.Recurrence) or (isinstance(product, g.Linear) and product.exact):
            message = "has the weights of an embedding table: of a linear, in no layer, and as the recipe stores it"
            raise unsound(f"{product.name} {message}")
    for term in terms_of(graph):
        if term.table.name in tied and term.by != "ids":
            raise unsound(f"{term.table.name} is looked up by {term.by}: weights of a linear are entries by id")
