# SPDX-License-Identifier: Apache-2.0
"""Decoders with experts: which layers have some, in which forms files store them, and what is refused.
lower/test_generation.py has what they write."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded_changes import Change
from test_generation import HERE, graph_of, recorded
from tiny_checkpoint import read_raw_safetensors, write_raw_safetensors

from codegen.errors import EtchError
from codegen.frontends import family_of
from codegen.ir import graph as g
from codegen.load.config import Config
from codegen.load.files import CheckpointFolder
from codegen.load.shards import open_weights
from codegen.oracle.interpret import Interpreter

FAMILIES = (
    *("qwen3_moe", "olmoe", "mixtral", "qwen2_moe", "granitemoe"),
    *("granitemoeshared", "flex_olmo", "hunyuan_v1_moe", "qwen3_5_moe_text"),
)
QWEN3, OLMOE, MIXTRAL, QWEN2, GRANITE, GRANITE_SHARED, FLEX_OLMO, HUNYUAN, QWEN3_5 = (
    f"{family}/own" for family in FAMILIES
)
REFUSED: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "no experts": (QWEN3, {"num_local_experts": 0}, "config-out-of-range", "num_local_experts"),
    "two numbers of them": (OLMOE, {"num_local_experts": 7}, "config-value", "num_local_experts is not what"),
    "more than there are": (OLMOE, {"num_experts_per_tok": 7}, "config-out-of-range", "num_experts_per_tok"),
    "an expert less": (OLMOE, {"num_experts": 5}, "wrong-shape", "mlp.gate.weight"),
    "wider ones": (QWEN3, {"moe_intermediate_size": 10}, "wrong-shape", "gate_proj"),
    "no layer with some": (QWEN3, {"mlp_only_layers": [0, 1, 2, 3]}, "config-not-supported", "no layer has experts"),
    "a step over all": (QWEN2, {"decoder_sparse_step": 9}, "config-not-supported", "no layer has experts"),
    "layers that are none": (QWEN3, {"mlp_only_layers": "0"}, "layers-out-of-range", "mlp_only_layers"),
    "another layer": (QWEN3, {"mlp_only_layers": [1]}, "missing-tensor", "layers.0.mlp.experts"),
    "bounds": (OLMOE, {"clip_qkv": 3.0}, "config-not-supported", "clip_qkv"),
    "a wider block beside": (
        *(GRANITE_SHARED, {"shared_intermediate_size": 15}, "wrong-shape", "shared_mlp.input_linear"),
    ),
    "no block beside": (GRANITE_SHARED, {"shared_intermediate_size": 0}, "unused-tensor", "shared_mlp"),
    "another number in each layer": (
        *(HUNYUAN, {"moe_topk": [1, 2], "num_hidden_layers": 2}, "config-not-supported", "the same for 2 layers"),
    ),
    "a list too short": (HUNYUAN, {"moe_topk": []}, "config-not-supported", "moe_topk"),
    "two numbers by two names": (HUNYUAN, {"num_experts_per_tok": 3}, "config-value", "num_experts_per_tok is not"),
    "more of Hunyuan's": (HUNYUAN, {"moe_topk": 5}, "config-out-of-range", "moe_topk"),
    "a shared expert": (QWEN2, {"shared_expert_intermediate_size": 14}, "wrong-shape", "shared_expert.gate_proj"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    variant, changes, code, named = REFUSED[case]
    with pytest.raises(EtchError) as error:
        graph_of(variant, **changes)
    assert (error.value.code, named in str(error.value)) == (code, True), str(error.value)


def test_which_layers_have_experts() -> None:
    ops = [(op, layers) for op, layers in g.ops_of(graph_of(QWEN3)) if isinstance(op, g.Experts)]
    ((op, layers),) = ops
    assert (op.experts, op.top, op.weighing, layers is not None and layers.count) == (5, 2, "chosen", 3)
    shared = [op.weighing for op, _ in g.ops_of(graph_of(QWEN2)) if isinstance(op, g.Experts)]
    assert shared == ["all", "each"]


UNSAID = {
    QWEN3: ("num_experts", "attention_bias", "hidden_act", "rms_norm_eps", "decoder_sparse_step"),
    OLMOE: ("norm_topk_prob", "attention_bias", "hidden_act", "rms_norm_eps"),
    MIXTRAL: ("head_dim", "hidden_act", "rms_norm_eps", "rope_parameters"),
    QWEN2: ("norm_topk_prob", "qkv_bias", "mlp_only_layers", "decoder_sparse_step", "layer_types"),
    GRANITE: ("attention_bias", "hidden_act"),
    FLEX_OLMO: ("attention_bias", "norm_topk_prob", "rms_norm_eps", "hidden_act"),
    QWEN3_5: ("attention_bias", "hidden_act", "rms_norm_eps", "linear_conv_kernel_dim"),
}


@pytest.mark.parametrize("variant", UNSAID)
def test_what_no_key_says(variant: str) -> None:
    assert np.array_equal(logits(graph_of(variant), variant), logits(graph_of(variant, UNSAID[variant]), variant))


def stack(form: str) -> Change:
    """What newer files may have: one tensor of all experts, by the names that the library has in memory."""

    def change(path: Path) -> None:
        header, data = read_raw_safetensors(path / "model.safetensors")
        arrays = {
            name: np.frombuffer(data[slice(*each["data_offsets"])], np.float16).reshape(each["shape"])
            for name, each in header.items()
            if name != "__metadata__"
        }
        stacked = renamed(arrays) if form == "renamed" else joined(arrays)
        write(path, stacked)

    return change


def joined(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Of each expert one below the other."""
    kept = {name: array for name, array in arrays.items() if ".experts." not in name}
    kept = {name.replace("block_sparse_moe", "mlp"): array for name, array in kept.items()}
    for layer in {name.partition(".experts.")[0] for name in arrays if ".experts." in name}:
        count = sum(name.startswith(f"{layer}.experts.") for name in arrays) // 3
        of_numbers = "block_sparse_moe" in layer or "feed_forward" in layer
        names = ("w1", "w3", "w2") if of_numbers else ("gate_proj", "up_proj", "down_proj")
        gate, up, down = (
            np.stack([arrays[f"{layer}.experts.{i}.{name}.weight"] for i in range(count)]) for name in names
        )
        new = layer.replace("block_sparse_moe", "mlp")
        kept |= {f"{new}.experts.gate_up_proj": np.concatenate([gate, up], axis=1), f"{new}.experts.down_proj": down}
    return kept


def renamed(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Granite's, which are stacked as they are."""
    names = {
        "input_linear.weight": "experts.gate_up_proj",
        "output_linear.weight": "experts.down_proj",
        "router.layer.weight": "router.weight",
    }
    found = {}
    for name, array in arrays.items():
        old = next((old for old in names if name.endswith(f"moe.{old}")), None)
        found[name if old is None else name.replace(old, names[old])] = array
    return found


def write(path: Path, arrays: dict[str, np.ndarray]) -> None:
    header: dict[str, Any] = {}
    data = b""
    for name, array in arrays.items():
        header[name] = {"dtype": "F16", "shape": array.shape, "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    write_raw_safetensors(path / "model.safetensors", header, data)


@pytest.mark.parametrize(
    ("variant", "form"),
    [
        *((each, "joined") for each in (QWEN3, OLMOE, MIXTRAL, QWEN2, FLEX_OLMO, HUNYUAN, QWEN3_5)),
        *((each, "renamed") for each in (GRANITE, GRANITE_SHARED)),
    ],
)
def test_files_of_newer_forms(variant: str, form: str, tmp_path: Path) -> None:
    shutil.copytree(HERE / variant, tmp_path / "folder")
    stack(form)(tmp_path / "folder")
    folder = CheckpointFolder(tmp_path / "folder")
    config = Config.from_json(folder.read_json("config.json"))
    family = family_of(variant.partition("/")[0])
    found = family.graph_of(config, open_weights(folder)[0], 24, recorded(variant)["max_target"])
    assert np.array_equal(logits(found, variant), logits(graph_of(variant), variant))


def logits(graph: g.Graph, variant: str) -> np.ndarray:
    ids = recorded(variant)["outputs"][2]["ids"]
    return Interpreter(graph).logits(ids, [0] * len(ids), [])
