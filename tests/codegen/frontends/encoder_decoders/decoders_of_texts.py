# SPDX-License-Identifier: Apache-2.0
"""What is asked of every class whose decoder reads the text itself, be it BART's or T5's."""

from __future__ import annotations

from pathlib import Path

from codegen import pipeline
from codegen.emulate import emulate
from codegen.ir import graph as g
from codegen.vocabulary.pruning import keep_ids, never_dropped


def assert_one_token_behind(graph: g.Graph, begin: int) -> None:
    """The decoder reads `begin` and then the words of the text, and sees no later ones but the encoder's rows."""
    first, second = (node.terms[0] for node in graph.body if isinstance(node, g.Embed))
    assert (first.shift, first.outside, second.shift, second.outside) == (0, None, -1, begin)
    assert first.table is second.table
    masks = [op.mask for node in graph.body for op in g.ops_in(node) if isinstance(op, g.Attention)]
    assert masks == ["none", "causal", "none"]


def assert_fewer_pieces_give_the_same_bits(path: Path, ids: list[int], vocabulary: int) -> None:
    """The end and the begin are found by their new numbers; `vocabulary` are the pieces of the whole."""
    whole = pipeline.load(path)
    kept = sorted({*never_dropped(whole), *ids})
    smaller = pipeline.lower(keep_ids(pipeline.load(path), kept), "w8a8", None)
    assert smaller.vocabulary == len(kept) < vocabulary
    numbered = [kept.index(i) for i in ids]
    expected = emulate(pipeline.lower(whole, "w8a8", None), ids, [0] * len(ids))
    assert emulate(smaller, numbered, [0] * len(ids)).tobytes() == expected.tobytes()
