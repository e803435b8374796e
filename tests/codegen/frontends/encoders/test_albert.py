# SPDX-License-Identifier: Apache-2.0
"""The ALBERT front-end: what it refuses, and which layer has which weights. test_recorded_models.py has what its models
compute."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, changed, configure, graph_of, rename
from tiny_checkpoint import read_raw_safetensors, write_raw_safetensors

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


def more_groups(count: int) -> Change:
    """So many groups, all those behind the first like it."""

    def change(path: Path) -> None:
        header, data = read_raw_safetensors(path / "model.safetensors")
        first = {name: entry for name, entry in header.items() if ".albert_layer_groups.0." in name}
        for name, entry in first.items():
            begin, end = entry["data_offsets"]
            for group in range(1, count):
                other = name.replace("groups.0.", f"groups.{group}.")
                if other not in header:
                    header[other] = entry | {"data_offsets": [len(data), len(data) + end - begin]}
                    data += data[begin:end]
        write_raw_safetensors(path / "model.safetensors", header, data)
        configure(num_hidden_groups=count)(path)

    return change


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(CLASSIFIER, *REFUSED[case], tmp_path)


@pytest.mark.parametrize("variant", ["albert/one_group", CLASSIFIER, "albert/inner_groups", TWICE])
def test_layers_of_a_group_are_stored_once(variant: str) -> None:
    (layers,) = [node for node in graph_of(folder(variant)).body if isinstance(node, g.Layers)]
    (query,) = [op.weight for op in layers.body if isinstance(op, g.Linear) and op.weight.name == "query_weight"]
    assert layers.count == len(query.of_layer or query.arrays)
    assert len(query.arrays) < layers.count or variant == "albert/inner_groups"


def test_layers_that_the_groups_do_not_divide(tmp_path: Path) -> None:
    """AlbertTransformer divides twice in floating point: of 18 layers in 14 groups the tenth is of the seventh group,
    though 9 * 14 / 18 is 7."""
    path = changed(CLASSIFIER, more_groups(14), tmp_path)
    configure(num_hidden_layers=18)(path)
    graph = graph_of(path)
    (layers,) = [node for node in graph.body if isinstance(node, g.Layers)]
    (query,) = [op.weight for op in layers.body if isinstance(op, g.Linear) and op.weight.name == "query_weight"]
    assert query.of_layer == (0, 0, 1, 2, 3, 3, 4, 5, 6, 6, 7, 8, 9, 10, 10, 11, 12, 13)
