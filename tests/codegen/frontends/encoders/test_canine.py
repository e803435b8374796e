# SPDX-License-Identifier: Apache-2.0
"""CANINE's front-end: rows of groups, hash functions, blocks of attention, and what is refused. test_recorded_models.py
has what its models compute."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, configure, graph_of, rename

from codegen import pipeline
from codegen.errors import EtchError
from codegen.ir import graph as g
from codegen.ir.character_models import CODE_POINTS
from codegen.ir.check_graph import check_graph
from codegen.ir.hashes import rows_of_ids
from codegen.ir.row_groups import group_of_tokens, groups_of

CLASSIFIER, TAGS = "canine/softmax", "tags/canine"
REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "rows of tokens alone": (CLASSIFIER, configure(architectures=["CanineModel"]), "modules-missing", "CanineModel"),
    "another class": (CLASSIFIER, configure(architectures=["CanineForMaskedLM"]), "architecture-not-supported", "For"),
    "a decoder": (CLASSIFIER, configure(is_decoder=True), "decoder-not-supported", "is_decoder"),
    "parts of a width": (CLASSIFIER, configure(num_hash_functions=5), "config-value", "num_hash_functions 5"),
    "many functions": (CLASSIFIER, configure(num_hash_functions=17), "config-out-of-range", "num_hash_functions"),
    "other functions": (CLASSIFIER, configure(num_hash_functions=2), "wrong-shape", "HashBucketCodepointEmbedder"),
    "other buckets": (CLASSIFIER, configure(num_hash_buckets=98), "wrong-shape", "HashBucketCodepointEmbedder"),
    "groups of nothing": (CLASSIFIER, configure(downsampling_rate=0), "config-out-of-range", "downsampling_rate"),
    "other groups": (CLASSIFIER, configure(downsampling_rate=3), "wrong-shape", "chars_to_molecules.conv"),
    "many taps": (TAGS, configure(upsampling_kernel_size=65), "config-out-of-range", "upsampling_kernel_size"),
    "other taps": (TAGS, configure(upsampling_kernel_size=4), "wrong-shape", "projection.conv"),
    "no block": (CLASSIFIER, configure(local_transformer_stride=0), "config-out-of-range", "local_transformer_stride"),
    "no such tensor": (
        CLASSIFIER,
        rename("canine.chars_to_molecules.conv.bias", "other"),
        "missing-tensor",
        "chars_to_molecules.conv.bias",
    ),
    "a layer less": (CLASSIFIER, configure(num_hidden_layers=1), "unused-tensor", "encoder.layer.1"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


def test_classes_of_one_row_end_behind_the_groups() -> None:
    graph = graph_of(folder(CLASSIFIER))
    assert [node.name for node in graph.body if isinstance(node, g.Layers)] == ["first_layer", "layer"]
    (note,) = (note for note in graph.notes if note.startswith("not used"))
    assert "canine.final_char_encoder.layer.0." in note and "canine.projection.conv.weight" in note
    assert graph.vocabulary == CODE_POINTS


def test_classes_of_every_row_go_on() -> None:
    loops = [node for node in graph_of(folder(TAGS)).body if isinstance(node, g.Layers)]
    assert [(loop.name, loop.count) for loop in loops] == [("first_layer", 1), ("layer", 2), ("last_layer", 1)]


@pytest.mark.parametrize(("tokens", "mask"), [(7, ("none", None)), (8, ("blocks", 7))])
def test_a_block_that_holds_all_tokens_is_no_mask(tokens: int, mask: tuple[str, int | None]) -> None:
    graph = pipeline.to_graph(pipeline.load(folder(CLASSIFIER)), tokens)
    first, *others = (op for op, _ in g.ops_of(graph) if isinstance(op, g.Attention))
    assert (first.mask, first.window) == mask
    assert {(op.mask, op.window) for op in others} == {("none", None)}


def test_groups_of_tokens() -> None:
    assert [groups_of(tokens, 4) for tokens in (1, 3, 4, 7, 8, 11, 12)] == [1, 1, 1, 1, 2, 2, 3]
    assert group_of_tokens(3, 4).tolist() == [0, 0, 0]
    assert group_of_tokens(14, 4).tolist() == [1] * 4 + [2] * 10


def test_hash_functions() -> None:
    """As `transformers` computes them, one function's rows behind the other's."""
    assert rows_of_ids(np.array([0, CODE_POINTS - 1]), 2, 100).tolist() == [[31, 143], [1114112 * 31 % 100, 100 + 16]]


def changed(graph: g.Graph, kind: type, change: Callable[[Any], Any]) -> g.Graph:
    """The graph with every op of a kind outside of layers changed, or left out."""
    found = [change(node) if isinstance(node, kind) else node for node in graph.body]
    return replace(graph, body=tuple(node for node in found if node is not None))


UNSOUND: dict[str, tuple[type, Callable[[Any], Any], str]] = {
    "groups of groups": (g.GroupRows, lambda op: replace(op, rate=65), "groups of 65 rows"),
    "another rate": (g.GroupRows, lambda op: replace(op, rate=3), "width of 'group': 48, expected 36"),
    "no groups": (g.GroupRows, lambda op: None, "reads 'group' before it is computed"),
    "a first row of tokens": (g.FirstRow, lambda op: replace(op, value="hidden"), "level of 'hidden': 0, expected 1"),
    "taps before all": (g.SpreadRows, lambda op: replace(op, before=5), "5 before its own"),
    "tokens as groups": (g.SpreadRows, lambda op: replace(op, groups="hidden"), "level of 'hidden': 0, expected 1"),
    "rows of groups": (g.Linear, lambda op: replace(op, input="molecules"), "'molecules'"),
    "functions of nothing": (
        g.Embed,
        lambda op: replace(op, terms=(replace(op.terms[0], hashes=None), *op.terms[1:])),
        "by hashes, None hash functions",
    ),
    "functions that are not known": (
        g.Embed,
        lambda op: replace(op, terms=(replace(op.terms[0], factor=2.0), *op.terms[1:])),
        "entries of 3 hash functions",
    ),
}


@pytest.mark.parametrize("case", UNSOUND)
def test_unsound(case: str) -> None:
    kind, change, words = UNSOUND[case]
    with pytest.raises(EtchError) as caught:
        check_graph(changed(graph_of(folder(TAGS)), kind, change))
    assert words in str(caught.value)
