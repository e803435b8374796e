# SPDX-License-Identifier: Apache-2.0
"""The DistilBERT front-end: what it refuses. test_recorded_models.py has what its models compute."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, changed, configure, graph_of, rename

from codegen.ir.graph import Embed

CLASSIFIER, ENCODER = "distilbert/softmax", "distilbert/mean"
REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "architecture": (
        CLASSIFIER,
        configure(architectures=["DistilBertForNextSentencePrediction"]),
        "architecture-not-supported",
        "DistilBertForSequenceClassification",
    ),
    "bare encoder": (CLASSIFIER, configure(architectures=["DistilBertModel"]), "modules-missing", "DistilBertModel"),
    "both": (
        ENCODER,
        configure(architectures=["DistilBertForSequenceClassification"]),
        "architecture-conflict",
        "modules.json",
    ),
    "no width": (CLASSIFIER, configure(dim=None), "config-missing", "'dim'"),
    "heads": (CLASSIFIER, configure(n_heads=3), "heads-do-not-divide", "dim 20 is not a multiple of n_heads 3"),
    "heads by another name": (CLASSIFIER, configure(num_attention_heads=4), "config-value", "num_attention_heads"),
    "layers by another name": (CLASSIFIER, configure(num_hidden_layers=3), "config-value", "num_hidden_layers"),
    "activation": (CLASSIFIER, configure(activation="mish"), "activation-not-supported", "activation 'mish'"),
    "layers": (CLASSIFIER, configure(n_layers=900), "missing-tensor", "n_layers is 900"),
    "a layer more": (CLASSIFIER, configure(n_layers=3), "missing-tensor", "transformer.layer.2"),
    "a layer less": (CLASSIFIER, configure(n_layers=1), "unused-tensor", "transformer.layer.1"),
    "inner width": (CLASSIFIER, configure(hidden_dim=36), "wrong-shape", "ffn.lin1"),
    "positions": (CLASSIFIER, configure(max_position_embeddings=21), "wrong-shape", "position_embeddings"),
    "tensor": (CLASSIFIER, rename("pre_classifier.bias", "other"), "missing-tensor", "pre_classifier.bias"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


@pytest.mark.parametrize("key", ["dropout", "qa_dropout", "sinusoidal_pos_embds", "architectures", "activation"])
def test_keys_that_may_be_missing(key: str, tmp_path: Path) -> None:
    assert graph_of(changed(CLASSIFIER, configure(**{key: None}), tmp_path)).max_tokens == 20


def test_pairs_are_taken_without_a_table_of_segments() -> None:
    graph = graph_of(folder(CLASSIFIER))
    assert graph.segments == 2
    (embed,) = (op for op in graph.body if isinstance(op, Embed))
    assert [term.by for term in embed.terms] == ["ids", "positions"]
