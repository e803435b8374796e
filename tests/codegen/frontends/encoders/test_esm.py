# SPDX-License-Identifier: Apache-2.0
"""ESM's front-end: where positions and their angles come from, what is dropped, and what is refused.
test_recorded_models.py and test_fill_mask.py have what its models compute, load/test_esm_folder.py its tokenizer."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_changes import Change, add, assert_refused, changed, configure, graph_of, rename

from codegen import pipeline
from codegen.frontends.shared.rotary import Angles
from codegen.ir import graph as g
from codegen.request import Reading

TURNED, PLACED, MASKS, EMBEDDING = "esm/proteins", "esm/absolute", "masks/esm", "esm/mean"
STAR = "esm.encoder.layer.*.attention.self.rotary_embeddings.inv_freq"
FIRST = STAR.replace("*", "0")


def with_null(key: str) -> Change:
    def change(path: Path) -> None:
        values = json.loads((path / "config.json").read_text())
        (path / "config.json").write_text(json.dumps(values | {key: None}))

    return change


REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "answers to questions": (
        TURNED,
        configure(architectures=["EsmForQuestionAnswering"]),
        "architecture-not-supported",
        "EsmForMaskedLM, EsmForTokenClassification",
    ),
    "folding": (TURNED, configure(is_folding_model=True), "config-not-supported", "is_folding_model"),
    "a bare encoder": (TURNED, configure(architectures=["EsmModel"]), "modules-missing", "EsmModel"),
    "a decoder": (TURNED, configure(is_decoder=True), "decoder-not-supported", "is_decoder"),
    "another kind of position": (
        PLACED,
        configure(position_embedding_type="relative_key"),
        "position-embedding-not-supported",
        "rotary",
    ),
    "odd heads": (TURNED, configure(num_attention_heads=8), "heads-not-even", "3"),
    "a width of heads": (TURNED, configure(head_dim=6), "config-not-supported", "head_dim"),
    "no padding token": (PLACED, configure(pad_token_id=None), "config-missing", "pad_token_id"),
    "the unknown token as padding": (PLACED, configure(pad_token_id=3), "config-value", "pad_token_id 3"),
    "no mask": (TURNED, configure(mask_token_id=None), "config-missing", "mask_token_id"),
    "positions": (PLACED, configure(max_position_embeddings=30), "wrong-shape", "position_embeddings"),
    "no norm of the embedding": (
        PLACED,
        rename("esm.embeddings.layer_norm.weight", "other"),
        "missing-tensor",
        "layer_norm",
    ),
    "a norm that nobody asks for": (
        PLACED,
        configure(emb_layer_norm_before=False),
        "unused-tensor",
        "esm.embeddings.layer_norm",
    ),
    "angles of another width": (TURNED, configure(num_attention_heads=2), "wrong-shape", "inv_freq"),
    "layers of other angles": (TURNED, add(FIRST, (4,)), "tied-tensors-differ", FIRST),
    "no head": (TURNED, rename("classifier.out_proj.weight", "other"), "missing-tensor", "classifier.out_proj"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


def terms_of(graph: g.Graph) -> tuple[g.Term, ...]:
    (embed,) = (node for node in graph.body if isinstance(node, g.Embed))
    return embed.terms


def cosines_of(graph: g.Graph) -> np.ndarray:
    (layers,) = (node for node in graph.body if isinstance(node, g.Layers))
    turned = [op for op in layers.body if isinstance(op, g.Rotary)]
    assert [op.value for op in turned] == ["query", "key"]
    return turned[0].cosines[0].at(0).values


def test_what_is_dropped() -> None:
    (words,) = terms_of(graph_of(folder(TURNED)))
    assert (words.factor, words.dropped) == (0.88, 32)
    words, positions = terms_of(graph_of(folder(EMBEDDING)))
    assert (words.factor, words.dropped, positions.first) == (None, None, 2)


@pytest.mark.parametrize("name", [FIRST, "esm.rotary_embeddings.inv_freq"])
def test_angles_by_any_name(name: str, tmp_path: Path) -> None:
    found = cosines_of(graph_of(changed(TURNED, rename(STAR, name), tmp_path)))
    assert np.array_equal(found, cosines_of(graph_of(folder(TURNED))))


def test_rounded_angles_of_the_file_come_before_the_configuration(tmp_path: Path) -> None:
    rates = Angles(10_000.0).frequencies(8)
    stored = rates.astype(np.float16).astype(np.float64)
    assert np.abs(cosines_of(graph_of(folder(TURNED))) - np.cos(np.arange(20)[:, None] * stored)).max() < 1e-7
    assert np.abs(stored - rates).max() > 1e-6

    def without(path: Path) -> None:
        rename(STAR, "esm.embeddings.position_embeddings.weight")(path)  # which old files have all the same
        configure(rope_theta=500.0)(path)

    wanted = np.cos(np.arange(20)[:, None] * Angles(500.0).frequencies(8).astype(np.float64))
    assert np.abs(cosines_of(graph_of(changed(TURNED, without, tmp_path))) - wanted).max() < 1e-7


@pytest.mark.parametrize("key", ["emb_layer_norm_before", "token_dropout", "esmfold_config"])
def test_keys_that_may_be_null(key: str, tmp_path: Path) -> None:
    graph = graph_of(changed(TURNED, with_null(key), tmp_path))
    assert [op.name for op in graph.body if isinstance(op, g.Norm)] == ["final_norm"]
    assert (terms_of(graph)[0].dropped is None) == (key == "token_dropout")


def test_the_activation_is_gelu_whatever_is_said(tmp_path: Path) -> None:
    graph = graph_of(changed(TURNED, configure(hidden_act="mish"), tmp_path))
    activations = {op.activation for op, _ in g.ops_of(graph) if isinstance(op, g.Linear)}
    assert activations == {"none", "gelu", "tanh"}
    assert not any("hidden_act" in note for note in graph.notes)


def test_no_pairs_where_a_text_has_no_end(tmp_path: Path) -> None:
    def endless(path: Path) -> None:
        (path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "EsmTokenizer", "eos_token": None}))

    def pairs(path: Path) -> bool:
        return pipeline.load(path).tokenizer.template.segments <= graph_of(path).segments

    assert pairs(folder(TURNED))
    assert not pairs(changed(TURNED, endless, tmp_path))


def test_an_embedding_of_a_masked_language_model(tmp_path: Path) -> None:
    """As published: the file has the head that predicts words, which an embedding does not use."""
    path = changed(MASKS, configure(architectures=["EsmModel"]), tmp_path)
    graph = pipeline.to_graph(pipeline.load(path, Reading(pooling="mean")), None)
    assert [op.kind for op in graph.body if isinstance(op, g.Pool)] == ["mean"]
    assert any("lm_head.dense.weight" in note for note in graph.notes)
    assert_refused(TURNED, add("lm_head.bias", (97,)), "unused-tensor", "lm_head.bias", tmp_path / "other")


def test_other_heads_are_notes() -> None:
    assert any("contact_head.regression.weight" in note for note in graph_of(folder(MASKS)).notes)
    assert any("pooler.dense.weight" in note for note in graph_of(folder(EMBEDDING)).notes)
