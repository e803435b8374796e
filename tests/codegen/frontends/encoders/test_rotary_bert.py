# SPDX-License-Identifier: Apache-2.0
"""BERT with angles, which GTE's, Nomic's and Jina's encoders are: what is refused, and what files may lack.
test_recorded_models.py has what their models compute."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, changed, configure, graph_of, rename

from codegen.ir import graph as g

NOMIC, GTE, JINA = "nomic_bert/softmax", "gte/softmax", "jina_embeddings_v3/two"
REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "architecture": (NOMIC, configure(architectures=["BertModel"]), "architecture-not-supported", "NomicBert"),
    "a bare encoder": (GTE, configure(architectures=["GteModel"]), "modules-missing", "GteModel"),
    "no gate": (NOMIC, rename("nomic_bert.encoder.layers.0.mlp.fc12.weight", "other"), "missing-tensor", "fc12"),
    "half a gate": (GTE, configure(intermediate_size=26), "wrong-shape", "up_gate_proj"),
    "biases": (JINA, rename("roberta.encoder.layers.0.mixer.Wqkv.bias", "other"), "missing-tensor", "Wqkv.bias"),
    "segments": (GTE, configure(type_vocab_size=0), "unused-tensor", "token_type_embeddings"),
    "width of heads": (NOMIC, configure(head_dim=8), "config-not-supported", "head_dim"),
    "odd heads": (GTE, configure(num_attention_heads=4), "heads-not-even", "5"),
    "angles": (JINA, configure(rope_parameters={"rope_type": "yarn"}), "rotary-not-supported", "yarn"),
    "a decoder": (NOMIC, configure(is_decoder=True), "decoder-not-supported", "is_decoder"),
    "layers": (GTE, configure(num_hidden_layers=1), "unused-tensor", "encoder.layer.1"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


@pytest.mark.parametrize("variant", [NOMIC, GTE, JINA])
def test_keys_that_may_be_missing(variant: str, tmp_path: Path) -> None:
    missing = dict.fromkeys(("hidden_act", "layer_norm_eps", "type_vocab_size", "rope_parameters", "architectures"))
    there = graph_of(folder(variant))
    assert graph_of(changed(variant, configure(**missing), tmp_path)).widths == there.widths


def test_one_layer_turns_queries_and_keys() -> None:
    (layers,) = (node for node in graph_of(folder(NOMIC)).body if isinstance(node, g.Layers))
    assert [op.value for op in layers.body if isinstance(op, g.Rotary)] == ["query", "key"]
    (embed,) = (node for node in graph_of(folder("gte/multi_label")).body if isinstance(node, g.Embed))
    assert [term.by for term in embed.terms] == ["ids"]
