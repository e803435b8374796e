# SPDX-License-Identifier: Apache-2.0
"""BERT and RoBERTa with their norms in other places, or with other names: Megatron's BERT, RoBERTa with norms before,
XLM-RoBERTa XL, data2vec's encoder. What is refused, and where the norms are; test_recorded_models.py has what their
models compute."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded.outputs import folder
from recorded_changes import Change, add, assert_refused, changed, configure, graph_of, rename

from codegen.ir import graph as g

MEGATRON, BEFORE = "megatron-bert/softmax", "roberta-prelayernorm/softmax"
XL, DATA = "xlm-roberta-xl/labels", "data2vec-text/value"
REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "another family's class": (
        MEGATRON,
        configure(architectures=["BertForSequenceClassification"]),
        "architecture-not-supported",
        "MegatronBertForSequenceClassification",
    ),
    "a bare encoder": (XL, configure(architectures=["XLMRobertaXLModel"]), "modules-missing", "XLMRobertaXLModel"),
    "next sentence": (
        BEFORE,
        configure(architectures=["RobertaPreLayerNormForNextSentencePrediction"]),
        "architecture-not-supported",
        "RobertaPreLayerNormModel",
    ),
    "a decoder": (DATA, configure(is_decoder=True), "decoder-not-supported", "is_decoder"),
    "a norm before attention": (
        MEGATRON,
        rename("bert.encoder.layer.1.attention.ln.weight", "other"),
        "missing-tensor",
        "attention.ln.weight",
    ),
    "a norm before the feed-forward": (
        BEFORE,
        rename("roberta_prelayernorm.encoder.layer.0.intermediate.LayerNorm.bias", "other"),
        "missing-tensor",
        "intermediate.LayerNorm.bias",
    ),
    "the last norm": (XL, rename("roberta.encoder.LayerNorm.weight", "other"), "missing-tensor", "encoder.LayerNorm"),
    "a norm of the embedding": (
        MEGATRON,
        add("bert.embeddings.LayerNorm.weight", (20,)),
        "unused-tensor",
        "embeddings.LayerNorm",
    ),
    "another name of the encoder": (
        DATA,
        rename("data2vec_text.embeddings.word_embeddings.weight", "roberta.embeddings.word_embeddings.weight"),
        "missing-tensor",
        "data2vec_text.embeddings",
    ),
    "layers": (XL, configure(num_hidden_layers=1), "unused-tensor", "encoder.layer.1"),
    "padding that a text begins with": (BEFORE, configure(pad_token_id=0), "config-value", "special tokens"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


@pytest.mark.parametrize(
    ("variant", "norms"),
    [
        (MEGATRON, ["final_norm"]),
        (BEFORE, ["embedding_norm", "final_norm"]),
        (XL, ["final_norm"]),
        (DATA, ["embedding_norm"]),
    ],
)
def test_norms_outside_the_layers(variant: str, norms: list[str]) -> None:
    assert [node.name for node in graph_of(folder(variant)).body if isinstance(node, g.Norm)] == norms


@pytest.mark.parametrize(("variant", "first"), [(MEGATRON, 0), (BEFORE, 2), (XL, 2), (DATA, 2)])
def test_positions(variant: str, first: int) -> None:
    (embed,) = (node for node in graph_of(folder(variant)).body if isinstance(node, g.Embed))
    assert [(term.by, term.first) for term in embed.terms] == [("ids", 0), ("segments", 0), ("positions", first)]


@pytest.mark.parametrize("variant", [MEGATRON, BEFORE, XL, DATA])
def test_keys_that_may_be_missing(variant: str, tmp_path: Path) -> None:
    missing = dict.fromkeys(("layer_norm_eps", "pad_token_id", "is_decoder", "architectures"))
    assert graph_of(changed(variant, configure(**missing), tmp_path)).widths == graph_of(folder(variant)).widths


@pytest.mark.parametrize(("variant", "epsilon"), [(XL, 1e-5), (MEGATRON, 1e-12), (BEFORE, 1e-12), (DATA, 1e-12)])
def test_epsilon_where_no_key_says_it(variant: str, epsilon: float, tmp_path: Path) -> None:
    graph = graph_of(changed(variant, configure(layer_norm_eps=None), tmp_path))
    inner = [node for layers in graph.body if isinstance(layers, g.Layers) for node in layers.body]
    norms = [node for node in (*graph.body, *inner) if isinstance(node, g.Norm)]
    assert {norm.epsilon for norm in norms} == {epsilon}
