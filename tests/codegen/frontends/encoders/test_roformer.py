# SPDX-License-Identifier: Apache-2.0
"""RoFormer's front-end: what turns queries and keys, and what is refused. test_recorded_models.py has what its models
compute."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, changed, configure, graph_of, rename

from codegen import pipeline
from codegen.ir import graph as g

CLASSIFIER, MASKS, CHOICES = "roformer/softmax", "masks/roformer", "choices/roformer"
ANGLES = "roformer.encoder.embed_positions.weight"


def another_tokenizer(path: Path) -> None:
    """The family's own, which parts Chinese words by a dictionary."""
    file = path / "tokenizer_config.json"
    values = json.loads(file.read_text())
    file.write_text(json.dumps(values | {"tokenizer_class": "RoFormerTokenizer"}))


REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "architecture": (
        CLASSIFIER,
        configure(architectures=["RoFormerForCausalLM"]),
        "architecture-not-supported",
        "RoFormerForSequenceClassification",
    ),
    "a bare encoder": (CLASSIFIER, configure(architectures=["RoFormerModel"]), "modules-missing", "RoFormerModel"),
    "a decoder": (CLASSIFIER, configure(is_decoder=True), "decoder-not-supported", "is_decoder"),
    "values that are turned": (CLASSIFIER, configure(rotary_value=True), "rotary-not-supported", "rotary_value"),
    "odd heads": (CLASSIFIER, configure(num_attention_heads=8), "heads-not-even", "3"),
    "no angles": (CLASSIFIER, rename(ANGLES, "other"), "missing-tensor", ANGLES),
    "positions": (CLASSIFIER, configure(max_position_embeddings=19), "wrong-shape", "embed_positions"),
    "width of the embedding": (MASKS, configure(embedding_size=None), "wrong-shape", "word_embeddings"),
    "a summary of another kind": (CHOICES, configure(summary_type="cls_index"), "pooling-not-supported", "cls_index"),
    "a summary by a linear": (CHOICES, configure(summary_use_proj=True), "summary-not-supported", "summary_use_proj"),
    "its own tokenizer": (CLASSIFIER, another_tokenizer, "tokenizer-class", "RoFormerTokenizer"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


def test_rows_at_even_places_come_before_those_at_odd_ones() -> None:
    (layers,) = (node for node in graph_of(folder(CLASSIFIER)).body if isinstance(node, g.Layers))
    assert [op.value for op in layers.body if isinstance(op, g.Rotary)] == ["query", "key"]
    linears = {op.name: op.weight.arrays[0] for op in layers.body if isinstance(op, g.Linear)}
    turned, stored = linears["query"].values, stored_rows("query")
    assert np.array_equal(turned[:8], stored[[0, 2, 4, 6, 1, 3, 5, 7]])
    assert np.array_equal(turned[8:12], stored[[8, 10, 12, 14]])
    assert np.array_equal(linears["value"].values, stored_rows("value"))


def stored_rows(name: str) -> np.ndarray:
    """Of the first layer, as the file has them."""
    tensors = pipeline.load(folder(CLASSIFIER)).tensors
    return tensors.take(f"roformer.encoder.layer.0.attention.self.{name}.weight", (24, 24)).values


@pytest.mark.parametrize(("kind", "pooling"), [(None, "last"), ("first", "first"), ("mean", "mean")])
def test_the_row_that_chooses(kind: str | None, pooling: str, tmp_path: Path) -> None:
    graph = graph_of(changed(CHOICES, configure(summary_type=kind), tmp_path))
    (pool,) = (node for node in graph.body if isinstance(node, g.Pool))
    assert pool.kind == pooling
