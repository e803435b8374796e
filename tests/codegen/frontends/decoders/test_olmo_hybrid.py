# SPDX-License-Identifier: Apache-2.0
"""OLMo Hybrid: what its keys mean, what files call its tensors, and what is refused. lower/test_generation.py has what
it writes, test_recorded_models.py what its rows are read with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded.outputs import folder as folder_of_rows
from test_generation import HERE, graph_of, recorded
from tiny_checkpoint import read_tensors, write_safetensors

from codegen import pipeline
from codegen.errors import EtchError
from codegen.frontends import build_graph, family_of
from codegen.ir import graph as g
from codegen.load.config import Config
from codegen.load.files import CheckpointFolder
from codegen.load.shards import open_weights
from codegen.oracle.interpret import Interpreter

OWN, TURNED = "olmo_hybrid/own", "olmo_hybrid/turned"
IDS = recorded(OWN)["outputs"][2]["ids"]
Tensors = dict[str, np.ndarray]


def logits(variant: str = OWN, without: tuple[str, ...] = (), **changes: Any) -> np.ndarray:
    return of_graph(graph_of(variant, without, **changes))


def of_graph(graph: g.Graph) -> np.ndarray:
    return Interpreter(graph).logits(IDS, [0] * len(IDS), [])


def test_what_no_key_says() -> None:
    own, turned = logits(), logits(TURNED)
    assert np.array_equal(logits(OWN, ("hidden_act", "rms_norm_eps", "linear_allow_neg_eigval")), own)
    unsaid = ("num_key_value_heads", "layer_types", "linear_num_key_heads", "linear_num_value_heads")
    sizes = ("linear_key_head_dim", "linear_value_head_dim")
    assert np.array_equal(logits(TURNED, unsaid + sizes), turned)
    assert np.array_equal(logits(TURNED, **dict.fromkeys(("layer_types", *sizes))), turned)
    assert not np.array_equal(logits(TURNED, linear_allow_neg_eigval=True), turned)


def test_where_theta_is_null_nothing_is_turned() -> None:
    own = logits()
    assert not any(isinstance(op, g.Rotary) for op, _ in g.ops_of(graph_of(OWN)))
    assert np.array_equal(logits(OWN, rope_parameters=None, rope_theta=None), own)
    still = logits(TURNED, rope_parameters={"rope_type": "default", "rope_theta": None})
    assert not np.array_equal(still, logits(TURNED))
    usual = logits(TURNED, ("rope_parameters",))
    assert np.array_equal(usual, logits(TURNED, rope_parameters={"rope_theta": 10_000.0}))


def changed(change: Callable[[Tensors], None], folder: Path) -> g.Graph:
    """Of OWN with other tensors."""
    tensors = read_tensors(HERE / OWN / "model.safetensors")
    change(tensors)
    write_safetensors(folder / "model.safetensors", tensors)
    config = Config.from_json(CheckpointFolder(HERE / OWN).read_json("config.json"))
    weights = open_weights(CheckpointFolder(folder))[0]
    return family_of("olmo_hybrid").graph_of(config, weights, 24, recorded(OWN)["max_target"])


def _names_of_the_library(tensors: Tensors) -> None:
    for name in [name for name in tensors if "layer_norm." in name]:
        other = name.replace("attention_layer_norm", "input_layernorm")
        tensors[other.replace("feedforward_layer_norm", "post_attention_layernorm")] = tensors.pop(name)
    for layer in (0, 2):
        parts = [tensors.pop(f"model.layers.{layer}.linear_attn.{of}_conv1d.weight") for of in "qkv"]
        tensors[f"model.layers.{layer}.linear_attn.conv1d.weight"] = np.concatenate(parts)


def _rows_of_each(tensors: Tensors) -> None:
    """As published files have them; the library saves parts of as many rows each."""
    names = [f"model.layers.0.linear_attn.{of}_conv1d.weight" for of in "qkv"]
    whole = np.concatenate([tensors[name] for name in names])
    tensors |= dict(zip(names, np.split(whole, (10, 20)), strict=True))


@pytest.mark.parametrize("change", [_names_of_the_library, _rows_of_each])
def test_what_files_call_it(change: Callable[[Tensors], None], tmp_path: Path) -> None:
    assert np.array_equal(of_graph(changed(change, tmp_path)), logits())


def _shorter(tensors: Tensors) -> None:
    name = "model.layers.0.linear_attn.v_conv1d.weight"
    tensors[name] = tensors[name][:-1]


def _without_rows(tensors: Tensors) -> None:
    tensors["model.layers.0.linear_attn.v_conv1d.weight"] = np.array(1, np.float16)


def _twice(tensors: Tensors) -> None:
    tensors["model.layers.0.input_layernorm.weight"] = tensors["model.layers.0.attention_layer_norm.weight"]


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        (_shorter, "wrong-shape", "59 rows, expected 60"),
        (_without_rows, "wrong-shape", "40 rows, expected 60"),
        (_twice, "unused-tensor", "input_layernorm"),
    ],
)
def test_a_file_that_is_refused(change: Callable[[Tensors], None], code: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(EtchError) as caught:
        changed(change, tmp_path)
    assert caught.value.code == code
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "code", "words"),
    [
        ({"layer_types": ["linear_attention"] * 3}, "layers-out-of-range", "no layer has full attention"),
        ({"linear_num_key_heads": 3}, "heads-do-not-divide", "linear_num_value_heads 4 on linear_num_key_heads 3"),
        ({"linear_value_head_dim": 6}, "wrong-shape", "linear_attn.v_proj.weight"),
        ({"hidden_act": "relu"}, "activation-not-supported", "hidden_act 'relu' behind a convolution"),
        ({"rope_parameters": {"rope_type": "yarn", "factor": 2.0}}, "rotary-not-supported", "yarn"),
    ],
)
def test_refused(changes: dict[str, Any], code: str, words: str) -> None:
    with pytest.raises(EtchError) as caught:
        graph_of(OWN, **changes)
    assert caught.value.code == code
    assert words in str(caught.value)


def test_there_is_no_classifier() -> None:
    """Nor is there one in the library."""
    rows = pipeline.load(folder_of_rows("olmo_hybrid/last"))
    assert build_graph(rows, 9).task.verb == "embed"
