# SPDX-License-Identifier: Apache-2.0
"""Nomic's BERT with experts: what is refused, and which layers they are. test_recorded_models.py has what
they compute."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, changed, configure, graph_of, rename

from codegen.ir import graph as g

EXPERTS, THREE = "nomic_bert/experts", "nomic_bert/thirds"
NOT_SUPPORTED = "config-not-supported"
REFUSED: dict[str, tuple[Change, str, str]] = {
    "another class": (
        configure(architectures=["NomicBertForSequenceClassification"]),
        *("architecture-not-supported", "NomicBertModel"),
    ),
    "normalized weights": (configure(moe_normalize_expert_weights=True), NOT_SUPPORTED, "moe_normalize_expert_weights"),
    "experts that choose": (configure(expert_choice_router=True), NOT_SUPPORTED, "expert_choice_router"),
    "shared experts": (configure(num_shared_experts=1), NOT_SUPPORTED, "num_shared_experts 1"),
    "narrower experts": (configure(ffn_div=2), NOT_SUPPORTED, "ffn_div 2"),
    "norms before": (configure(prenorm=True), NOT_SUPPORTED, "prenorm"),
    "a part of a head": (configure(rotary_emb_fraction=0.5), NOT_SUPPORTED, "rotary_emb_fraction 0.5"),
    "pairs": (configure(rotary_emb_interleaved=True), NOT_SUPPORTED, "rotary_emb_interleaved"),
    "longer texts": (configure(rotary_scaling_factor=2.0), NOT_SUPPORTED, "rotary_scaling_factor"),
    "a number for false": (configure(causal=0), NOT_SUPPORTED, "causal 0"),
    "no layer with experts": (configure(moe_every_n_layers=0), NOT_SUPPORTED, "moe_every_n_layers 0"),
    "every layer": (configure(moe_every_n_layers=1), NOT_SUPPORTED, "moe_every_n_layers 1"),
    "too many of them": (configure(moe_top_k=5), "config-out-of-range", "moe_top_k"),
    "more experts": (configure(num_experts=5), "wrong-shape", "mlp.experts.mlp.w1"),
    "a gate": (configure(activation_function="swiglu"), "activation-not-supported", "swiglu"),
    "angles": (configure(rotary_emb_base=0.5), "config-out-of-range", "rotary_emb_base"),
    "no router": (rename("encoder.layers.1.mlp.router.layer.weight", "other"), "missing-tensor", "router.layer"),
    "dense layers": (rename("encoder.layers.0.mlp.fc1.bias", "other"), "missing-tensor", "fc1.bias"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    change, code, named = REFUSED[case]
    assert_refused(EXPERTS, change, code, named, tmp_path)


def test_a_bare_encoder_is_refused(tmp_path: Path) -> None:
    assert_refused(EXPERTS, lambda path: (path / "modules.json").unlink(), "modules-missing", "--pooling", tmp_path)


@pytest.mark.parametrize(("variant", "mixed"), [(EXPERTS, (1, 3)), (THREE, (1, 4))])
def test_which_layers_have_experts(variant: str, mixed: tuple[int, ...]) -> None:
    found = [
        array.name
        for op, _ in g.ops_of(graph_of(folder(variant)))
        if isinstance(op, g.Experts)
        for array in op.linears[0].weight.arrays
    ]
    assert found == [f"encoder.layers.{layer}.mlp.experts.mlp.w1" for layer in mixed]


def test_keys_that_may_be_missing(tmp_path: Path) -> None:
    usual = ("activation_function", "layer_norm_epsilon", "rotary_emb_base", "qkv_proj_bias", "architectures")
    there = graph_of(folder(EXPERTS))
    assert graph_of(changed(EXPERTS, configure(**dict.fromkeys(usual)), tmp_path)).widths == there.widths
