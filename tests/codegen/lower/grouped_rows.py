# SPDX-License-Identifier: Apache-2.0
"""Small random graphs with rows of groups of tokens in the middle, found by hash functions of ids; with those of one
token."""

from __future__ import annotations

from graph_builder import HEADS, MASK, MAX_TOKENS, SEGMENTS, WIDTH, Builder, graph

from codegen.ir import graph as g
from codegen.ir.renamed import Renaming

RATE, TAPS, HASHES = 3, 4, 4


def _layers(b: Builder, name: str, count: int, rows: str, attention: g.Attention | None = None) -> g.Layers:
    renaming = Renaming(
        lambda op: f"{name}_{op}",
        lambda value: rows if value == "hidden" else value,
        lambda of: g.Parameter(f"{name}_{of.name}", of.arrays, of.of_layer),
    )
    ops = (attention if attention and isinstance(op, g.Attention) else op for op in b.inside(count).post_layer())
    return g.Layers(name, count, tuple(map(renaming.op, ops)))


def _middle(b: Builder) -> tuple[g.Node, ...]:
    """To `groups`."""
    hashed = b.parameter("hashed", HASHES * 7, WIDTH // HASHES)
    segments, places = b.parameter("of_segments", SEGMENTS, WIDTH), b.parameter("places", MAX_TOKENS, WIDTH)
    terms = (g.Term(hashed, "hashes", hashes=HASHES), g.Term(segments, "segments"), g.Term(places, "positions"))
    in_blocks = g.Attention("query", "key", "value", "context", HEADS, mask="blocks", window=4)
    return (
        g.Embed(terms, "hidden"),
        _layers(b, "first", 1, "hidden", in_blocks),
        g.GroupRows(RATE, "hidden", "group"),
        b.linear("grouping", "group", "groups", RATE * WIDTH, WIDTH, "gelu"),
        g.FirstRow("hidden", "groups"),
        b.norm("grouping_norm", "groups"),
        _layers(b, "middle", 2, "groups"),
    )


_WIDTHS = {"group": RATE * WIDTH, "groups": WIDTH, "around": TAPS * 2 * WIDTH, "spread": WIDTH}


def grouped() -> g.Graph:
    """The first row alone is asked for."""
    return graph((*_middle(Builder()), g.Pool("first", "groups", "result")), "result", **_WIDTHS)


def spread(pooling: g.Pooling) -> g.Graph:
    """Rows of tokens again."""
    b = Builder()
    body = (
        *_middle(b),
        g.SpreadRows(RATE, TAPS, 1, "hidden", "groups", "around"),
        b.linear("spreading", "around", "spread", TAPS * 2 * WIDTH, WIDTH, "relu"),
        b.norm("spreading_norm", "spread"),
        _layers(b, "last", 1, "spread"),
        g.Pool(pooling, "spread", "result"),
    )
    return graph(body, "result", **_WIDTHS)


def by_a_token() -> g.Graph:
    """Rows of tokens times that of one of them."""
    b = Builder()
    body = (
        b.embed("hidden"),
        _layers(b, "layer", 2, "hidden"),
        g.RowOfToken(MASK, "hidden", "asking"),
        b.linear("asked", "asking", "asked"),
        g.Multiply("asked", "hidden", "asked"),
        g.Pool("mean", "asked", "result"),
    )
    return graph(body, "result", asking=WIDTH, asked=WIDTH)
