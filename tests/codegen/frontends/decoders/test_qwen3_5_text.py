# SPDX-License-Identifier: Apache-2.0
"""Qwen 3.5's texts: what its layers are, what is kept from token to token, and what is refused.
lower/test_generation.py has what it writes, runtime/ops/delta_rule_test.cpp the op."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_generation import HERE, graph_of, recorded
from tiny_checkpoint import read_raw_safetensors, write_raw_safetensors

from codegen.emulate.delta_rule import softplus
from codegen.errors import EtchError
from codegen.frontends import limits_of
from codegen.frontends.decoders.qwen3_5_text import FAMILY
from codegen.frontends.shared.computed import Computed
from codegen.ir import graph as g
from codegen.ir import walks
from codegen.ir.check_graph import check_graph
from codegen.load.config import Config
from codegen.load.safetensors import TensorFile
from codegen.lower import lower
from codegen.memory.plan import plan_memory
from codegen.oracle.interpret import Interpreter
from codegen.quantize import RECIPES
from codegen.targets import TARGETS

OWN, BIASED = "qwen3_5_text/own", "qwen3_5_text/biased"
IDS = recorded(OWN)["outputs"][2]["ids"]


def logits(variant: str = OWN, without: tuple[str, ...] = (), **changes: Any) -> np.ndarray:
    return Interpreter(graph_of(variant, without, **changes)).logits(IDS, [0] * len(IDS), [])


def test_what_no_key_says() -> None:
    own = logits(BIASED)
    unsaid = ("hidden_act", "rms_norm_eps", "linear_conv_kernel_dim")
    assert np.array_equal(logits(BIASED, unsaid), own)
    assert np.array_equal(logits(BIASED, ("layer_types",), full_attention_interval=2), own)
    turned = {"rope_theta": 90.0, "partial_rotary_factor": 0.5}
    of_images = {"mrope_section": [1, 1, 0], "mrope_interleaved": True}
    assert np.array_equal(logits(BIASED, rope_parameters=turned | of_images), own)
    assert np.array_equal(logits(OWN, rope_parameters={"rope_theta": 1e4}), logits())
    assert not np.array_equal(logits(BIASED, rope_parameters=turned | {"rope_theta": 91.0}), own)


@pytest.mark.parametrize(
    ("changes", "code", "words"),
    [
        ({"layer_types": ["linear_attention"] * 3}, "layers-out-of-range", "no layer has full attention"),
        ({"layer_types": ["conv"] * 3}, "layers-out-of-range", "full_attention or linear_attention"),
        ({"linear_num_key_heads": 3}, "heads-do-not-divide", "linear_num_value_heads 4 on linear_num_key_heads 3"),
        ({"linear_conv_kernel_dim": 1}, "config-out-of-range", "linear_conv_kernel_dim 1: expected 2 to 65"),
        ({"linear_key_head_dim": 6}, "wrong-shape", "linear_attn.conv1d.weight"),
        ({"linear_value_head_dim": 6}, "wrong-shape", "linear_attn.conv1d.weight"),
        ({"hidden_act": "relu"}, "activation-not-supported", "hidden_act 'relu' behind a convolution"),
        ({"attention_bias": True}, "missing-tensor", "self_attn.q_proj.bias"),
        ({"head_dim": 6}, "rotary-not-supported", "partial_rotary_factor"),
        ({"tie_word_embeddings": False}, "missing-tensor", "lm_head.weight"),
    ],
)
def test_refused(changes: dict[str, Any], code: str, words: str) -> None:
    with pytest.raises(EtchError) as caught:
        graph_of(OWN, **changes)
    assert caught.value.code == code
    assert words in str(caught.value)


def test_heads_on_its_rows_are_refused_by_name() -> None:
    with pytest.raises(EtchError, match="Qwen3_5: layers of linear_attention write texts") as caught:
        FAMILY._graph_of_rows(None, 8)  # type: ignore[arg-type]
    assert caught.value.code == "architecture-not-supported"
    config = Config.from_json({"architectures": ["Qwen3_5TextForSequenceClassification"]})
    assert not FAMILY._writes_texts(config)


def rates(value: float) -> g.Parameter:
    """The same of each head."""
    return g.Parameter("rates", (Computed("rates", (4,), lambda: np.full(4, value)),), common=True)


def delta_rule(made: g.Graph) -> g.DeltaRule:
    return next(op for op, _ in g.ops_of(made) if isinstance(op, g.DeltaRule))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"heads": 5}, "'layer_0_delta_rows' of 12 values has not 5 heads"),
        ({"key_heads": 3}, "width of 'delta_mixed'"),
        ({"key_width": 4}, "width of 'delta_mixed'"),
        ({"beta": "delta_gate"}, "width of 'delta_gate'"),
        ({"out": "delta_mixed"}, "delta_mixed"),
        ({"rates": rates(-1e-9)}, "a rate of decay is below 0"),
    ],
)
def test_an_op_that_is_not_sound(values: dict[str, Any], words: str) -> None:
    made = graph_of(OWN)
    op = delta_rule(made)
    repeat = tuple(
        replace(node, body=tuple(replace(one, **values) if one is op else one for one in node.body))
        if isinstance(node, g.Layers)
        else node
        for node in made.repeat
    )
    with pytest.raises(EtchError, match=words) as caught:
        check_graph(replace(made, repeat=repeat))
    assert caught.value.code == "graph-not-sound"


def logarithms(value: float, place: Path) -> g.Graph:
    """The graph of a file whose heads all have this logarithm of their rates."""
    header, data = read_raw_safetensors(HERE / OWN / "model.safetensors")
    for name, entry in header.items():
        if name.endswith("linear_attn.A_log"):
            begin, end = entry["data_offsets"]
            entry["dtype"], size = "BF16", end - begin  # of float16's size, with float32's range
            stored = (np.full(size // 2, value, np.float32).view(np.uint32) >> 16).astype(np.uint16)
            data = data[:begin] + stored.tobytes() + data[end:]
    write_raw_safetensors(place / "model.safetensors", header, data)
    config = Config.from_json(json.loads((HERE / OWN / "config.json").read_text()))
    return FAMILY.graph_of(config, TensorFile.open(place / "model.safetensors"), 24, 8)


@pytest.mark.parametrize("value", [-1e30, -1000.0, -40.0, 5.0])
def test_rates_down_to_nothing(value: float, tmp_path: Path) -> None:
    """A state that does not decay is one that decays by less than float32 tells."""
    made = logarithms(value, tmp_path)
    check_graph(made)
    lower(made, RECIPES["w8a8"])
    written = Interpreter(made).logits(IDS, [0] * len(IDS), [])
    assert np.isfinite(written).all()
    if value < 0:
        assert np.abs(written - Interpreter(logarithms(-60.0, tmp_path)).logits(IDS, [0] * len(IDS), [])).max() < 1e-12


@pytest.mark.parametrize("value", [36.0, 89.0, 1000.0, 3e38])
def test_rates_that_are_too_large(value: float, tmp_path: Path) -> None:
    """Of infinite ones, times a softplus of nothing, a program would make no numbers."""
    with pytest.raises(EtchError, match="A_log") as caught:
        lower(logarithms(value, tmp_path), RECIPES["w8a8"])
    assert caught.value.code == "activation-bound"


def test_each_head_keeps_a_matrix() -> None:
    """Of each beam and layer, however long the texts are, beside the rows that a convolution takes from."""
    program = lower(graph_of(OWN), RECIPES["w8a8"])
    assert walks.layers_of(program) == 3
    states = {buffer.name: buffer.width for buffer in walks.buffers_of(program) if buffer.storage == "state"}
    matrices, rows = 4 * 5 * 3, 2 * (2 * 2 * 5 + 4 * 3)
    assert states == {
        **{f"layer_{layer}_delta_rows_state": matrices for layer in (0, 2)},
        **{f"layer_{layer}_delta_input_state": rows for layer in (0, 2)},
    }
    plan = plan_memory(program, TARGETS["m-profile"], 64)
    assert {name: plan.placement(name).size for name in states} == {name: 4 * width for name, width in states.items()}


def test_softplus_is_that_of_float64() -> None:
    x = np.linspace(-120, 120, 4801, dtype=np.float32)
    found, meant = softplus(x).astype(np.float64), np.logaddexp(0, x.astype(np.float64))
    assert np.abs(found - meant).max() < 1e-5
    near = np.abs(x) < 40
    assert (np.abs(found - meant)[near] < 1e-5 * meant[near]).all()


WHOLE = "qwen3_5/whole"


def test_a_whole_models_texts() -> None:
    made = graph_of(WHOLE)
    assert (made.notes, made.task.verb) == ((), "generate")
    assert any(isinstance(op, g.DeltaRule) for op, _ in g.ops_of(made))


def test_what_a_whole_leaves_open_its_texts_say() -> None:
    """As the library makes settings of a folder that has none, and as published folders have their end."""
    rules = graph_of(WHOLE, ("eos_token_id", "bos_token_id")).target_rules
    assert rules is not None
    assert rules == graph_of(WHOLE).target_rules
    with pytest.raises(EtchError, match="'eos_token_id' is missing"):
        graph_of(WHOLE, ("eos_token_id", "text_config"), text_config={})


@pytest.mark.parametrize(
    ("changes", "without", "code", "words"),
    [
        ({"text_config": 3}, (), "config-type", "'text_config' must be an object"),
        ({"tie_word_embeddings": False}, (), "missing-tensor", "lm_head.weight"),
        ({}, ("tie_word_embeddings",), "missing-tensor", "lm_head.weight"),
    ],
)
def test_a_whole_model_that_is_refused(
    changes: dict[str, Any], without: tuple[str, ...], code: str, words: str
) -> None:
    with pytest.raises(EtchError) as caught:
        graph_of(WHOLE, without, **changes)
    assert caught.value.code == code
    assert words in str(caught.value)


def test_mixtures_are_refused_by_name() -> None:
    with pytest.raises(EtchError, match=r"'qwen3_5_moe' is not supported; nearest: .*qwen3_5") as caught:
        limits_of(Config.from_json({"model_type": "qwen3_5_moe"}))
    assert caught.value.code == "model-type-not-supported"
