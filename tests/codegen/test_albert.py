# SPDX-License-Identifier: Apache-2.0
"""The ALBERT front-end: what it refuses, and which layer has which weights. test_recorded_models.py has what its models
compute."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, configure, graph_of, rename

from codegen.ir import graph as g

CLASSIFIER, TWICE = "albert/two_groups", "albert/inner_twice"
MAPPING = "albert.encoder.embedding_hidden_mapping_in.weight"
REFUSED: dict[str, tuple[Change, str, str]] = {
    "architecture": (
        configure(architectures=["AlbertForPreTraining"]),
        "heads-several",
        "AlbertForPreTraining",
    ),
    "a bare encoder": (configure(architectures=["AlbertModel"]), "modules-missing", "AlbertModel"),
    "more groups than layers": (configure(num_hidden_groups=9), "layers-out-of-range", "in 9 groups of"),
    "groups that the file lacks": (configure(num_hidden_groups=3, num_hidden_layers=3), "missing-tensor", "groups.2"),
    "groups that nobody asks for": (configure(num_hidden_groups=1), "unused-tensor", "albert_layer_groups.1"),
    "another width of the embedding": (configure(embedding_size=10), "wrong-shape", "word_embeddings"),
    "no way to the layers' width": (rename(MAPPING, "other"), "missing-tensor", MAPPING),
    "a decoder": (configure(is_decoder=True), "decoder-not-supported", "is_decoder"),
    "an activation": (configure(hidden_act="mish"), "activation-not-supported", "mish"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(CLASSIFIER, *REFUSED[case], tmp_path)


@pytest.mark.parametrize("variant", ["albert/one_group", CLASSIFIER, "albert/inner_groups", TWICE])
def test_layers_of_a_group_are_stored_once(variant: str) -> None:
    (layers,) = [node for node in graph_of(folder(variant)).body if isinstance(node, g.Layers)]
    (query,) = [op.weight for op in layers.body if isinstance(op, g.Linear) and op.weight.name == "query_weight"]
    assert layers.count == len(query.of_layer or query.arrays)
    assert len(query.arrays) < layers.count or variant == "albert/inner_groups"
