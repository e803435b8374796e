# SPDX-License-Identifier: Apache-2.0
"""Decoders whose experts are chosen with a stored bias: what is read of their folders, and what is refused.
lower/test_generation.py has what they write."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_generation import HERE, graph_of, recorded
from test_mixtures import logits, stack
from tiny_checkpoint import read_raw_safetensors, write_raw_safetensors

from codegen.errors import EtchError
from codegen.frontends import family_of
from codegen.ir import graph as g
from codegen.ir.experts import ExpertShares
from codegen.load.config import Config
from codegen.load.files import CheckpointFolder
from codegen.load.shards import open_weights

FAMILIES = ("lfm2_moe", "ernie4_5_moe", "dots1", "glm4_moe", "solar_open", "exaone_moe", "hy_v3", "deepseek_v3")
LFM2, ERNIE, DOTS, GLM, SOLAR, EXAONE, HY, DEEPSEEK = (f"{family}/own" for family in FAMILIES)
FLASH = "glm4_moe_lite/own"
REFUSED: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "groups": (GLM, {"n_group": 2, "topk_group": 1}, "config-not-supported", "topk_group 1 of n_group 2"),
    "groups that no key says": (DEEPSEEK, {"n_group": 8, "topk_group": 4}, "config-not-supported", "topk_group 4"),
    "a scale that is no number": (
        DEEPSEEK,
        {"rope_parameters": {"rope_type": "yarn", "factor": 4.0, "mscale_all_dim": "1"}},
        *("config-type", "mscale_all_dim"),
    ),
    "a factor of nothing": (DOTS, {"routed_scaling_factor": 0}, "config-out-of-range", "routed_scaling_factor 0"),
    "another factor": (HY, {"router_scaling_factor": 1e9}, "config-out-of-range", "router_scaling_factor"),
    "nothing at least": (ERNIE, {"moe_norm_min": 0}, "config-out-of-range", "moe_norm_min 0"),
    "no bias": (LFM2, {"use_expert_bias": False}, "unused-tensor", "expert_bias"),
    "an expert less": (SOLAR, {"n_routed_experts": 3}, "wrong-shape", "mlp.gate.weight"),
    "more than there are": (SOLAR, {"num_experts_per_tok": 5}, "config-out-of-range", "num_experts_per_tok"),
    "two numbers of them": (GLM, {"num_local_experts": 7}, "config-value", "num_local_experts is not what"),
    "a wider block beside": (GLM, {"n_shared_experts": 3}, "wrong-shape", "shared_experts.gate_proj"),
    "no block beside": (DOTS, {"n_shared_experts": 0}, "unused-tensor", "shared_experts"),
    "an unsaid number of blocks": (DOTS, {"n_shared_experts": None}, "config-type", "n_shared_experts"),
    "no layer with some": (LFM2, {"num_dense_layers": 4}, "config-not-supported", "num_dense_layers 4: no layer"),
    "none of ERNIE's": (ERNIE, {"moe_layer_start_index": 5}, "config-not-supported", "moe_layer_start_index"),
    "another dense layer": (GLM, {"first_k_dense_replace": 0}, "missing-tensor", "layers.0.mlp.experts"),
    "kinds that are none": (HY, {"mlp_layer_types": ["dense", "wide"]}, "layers-out-of-range", "mlp_layer_types"),
    "kinds of more layers": (EXAONE, {"mlp_layer_types": ["sparse"]}, "layers-out-of-range", "expected 5 of sparse"),
    "no kinds of LFM2's": (LFM2, {"layer_types": None}, "config-not-supported", "layer_types"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    variant, changes, code, named = REFUSED[case]
    with pytest.raises(EtchError) as error:
        graph_of(variant, **changes)
    assert (error.value.code, named in str(error.value)) == (code, True), str(error.value)


def test_how_experts_are_weighed() -> None:
    def weighing(variant: str, **changes: Any) -> tuple[object, ...]:
        op = next(op for op, _ in g.ops_of(graph_of(variant, **changes)) if isinstance(op, g.Experts))
        return op.weighing, op.bias is not None, op.shares

    assert weighing(LFM2) == ("each", True, ExpertShares(added=1e-6))
    assert weighing(ERNIE) == ("all", True, ExpertShares(least=0.6))
    assert weighing(GLM) == ("each", True, ExpertShares(added=1e-20))
    assert weighing(SOLAR) == ("each", True, None)
    assert weighing(SOLAR, n_group=2, topk_group=2)[1]  # all groups are chosen


def test_layers_differ_in_what_they_see_and_in_their_experts() -> None:
    """The first one is dense, the fourth sees all of the past; each is written down as what it is."""
    seen = [(op.mask, op.window, layers.count) for op, layers in attentions() if layers is not None]
    assert sorted(seen, key=str) == [("causal", None, 1), *[("past", 4, count) for count in (1, 1, 2)]]


def attentions() -> list[tuple[g.Attention, g.Layers | None]]:
    return [(op, layers) for op, layers in g.ops_of(graph_of(EXAONE)) if isinstance(op, g.Attention)]


UNSAID = {
    LFM2: ("conv_bias", "norm_eps", "norm_topk_prob", "use_expert_bias"),
    ERNIE: ("moe_layer_start_index", "moe_layer_interval", "moe_num_shared_experts", "hidden_act", "rms_norm_eps"),
    DOTS: ("norm_topk_prob", "n_group", "topk_group", "routed_scaling_factor", "attention_bias"),
    GLM: ("first_k_dense_replace", "norm_topk_prob", "n_group", "num_nextn_predict_layers"),
    SOLAR: ("n_shared_experts", "attention_bias", "routed_scaling_factor"),
    EXAONE: ("first_k_dense_replace", "mlp_layer_types", "routed_scaling_factor", "num_shared_experts"),
    DEEPSEEK: ("hidden_act", "rms_norm_eps", "rope_interleave", "norm_topk_prob"),
    FLASH: ("n_group", "topk_group", "rope_interleave", "norm_topk_prob", "rope_parameters"),
    HY: ("mlp_layer_types", "router_scaling_factor", "num_shared_experts", "mlp_bias", "attention_bias"),
}


@pytest.mark.parametrize("variant", UNSAID)
def test_what_no_key_says(variant: str) -> None:
    assert np.array_equal(logits(graph_of(variant), variant), logits(graph_of(variant, UNSAID[variant]), variant))


@pytest.mark.parametrize("variant", [LFM2, ERNIE, DOTS, GLM, SOLAR, EXAONE, HY, DEEPSEEK, FLASH])
def test_files_of_newer_forms(variant: str, tmp_path: Path) -> None:
    """Experts as one tensor, and a bias by the name that the library has in memory."""
    shutil.copytree(HERE / variant, tmp_path / "folder")
    stack("joined")(tmp_path / "folder")
    found = graph_in(tmp_path / "folder", variant)
    assert np.array_equal(logits(found, variant), logits(graph_of(variant), variant))


GUESSING = {
    DEEPSEEK: "model.layers.3.eh_proj.weight",
    GLM: "model.layers.2.eh_proj.weight",
    EXAONE: "mtp.layers.0.fc.weight",
    ERNIE: "model.mtp_block.0.weight",
}


@pytest.mark.parametrize("variant", GUESSING)
def test_what_guesses_more_tokens_is_left_aside(variant: str, tmp_path: Path) -> None:
    shutil.copytree(HERE / variant, tmp_path / "folder")
    path = tmp_path / "folder" / "model.safetensors"
    header, data = read_raw_safetensors(path)
    header[GUESSING[variant]] = {"dtype": "F16", "shape": [1], "data_offsets": [len(data), len(data) + 2]}
    write_raw_safetensors(path, header, data + bytes(2))
    found = graph_in(tmp_path / "folder", variant)
    assert np.array_equal(logits(found, variant), logits(graph_of(variant), variant))


def graph_in(folder: Path, variant: str) -> g.Graph:
    files = CheckpointFolder(folder)
    config = Config.from_json(files.read_json("config.json"))
    family = family_of(variant.partition("/")[0])
    return family.graph_of(config, open_weights(files)[0], 24, recorded(variant)["max_target"])
