# SPDX-License-Identifier: Apache-2.0
"""Qwen 3.5's texts: what its layers are, what is kept from token to token, and what is refused.
lower/test_generation.py has what it writes, test_recorded_models.py what its rows are read with,
runtime/ops/delta_rule_test.cpp the op."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded.outputs import folder
from test_generation import HERE, graph_of, recorded
from tiny_checkpoint import read_raw_safetensors, write_raw_safetensors

from codegen import pipeline
from codegen.emulate import emulate
from codegen.emulate.activations import softplus
from codegen.emulate.generation import Generation
from codegen.errors import EtchError
from codegen.frontends import build_graph, limits_of
from codegen.frontends.decoders.qwen3_5_text import FAMILY
from codegen.frontends.shared.computed import Computed
from codegen.ir import graph as g
from codegen.ir import program as p
from codegen.ir import walks
from codegen.ir.check_graph import check_graph
from codegen.ir.check_operands import CHECK
from codegen.load.checkpoint import Checkpoint
from codegen.load.config import Config
from codegen.load.safetensors import TensorFile
from codegen.load.tokenizer_files.tokenizer_config import AS_QWEN3_5
from codegen.lower import lower
from codegen.memory.plan import plan_memory
from codegen.oracle.interpret import Interpreter
from codegen.quantize import RECIPES
from codegen.targets import TARGETS
from codegen.tasks.embedding import Embedding

OWN, BIASED = "qwen3_5_text/own", "qwen3_5_text/biased"
NOT_USED = ("not used: 21 tensors that are not about texts",)
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
        ({"linear_key_head_dim": 6}, "wrong-shape", "linear_attn.in_proj_qkv.weight"),
        ({"linear_value_head_dim": 6}, "wrong-shape", "linear_attn.in_proj_qkv.weight"),
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


def checkpoint(variant: str, **changes: Any) -> Checkpoint:
    """Of a recorded folder of rows, with keys of its configuration changed."""
    found = pipeline.load(folder(variant))
    return replace(found, config=Config.from_json({**found.config.values, **changes}))


def rows_of(variant: str, **changes: Any) -> g.Graph:
    return build_graph(checkpoint(variant, **changes), 12)


@pytest.mark.parametrize(
    ("variant", "named"),
    [
        ("qwen3_5_text/softmax", "Qwen3_5ForTokenClassification"),  # whose configuration is a whole model's
        ("qwen3_5_text/softmax", "Qwen3_5ForQuestionAnswering"),
        ("qwen3_5/labels", "Qwen3_5TextForSequenceClassification"),
    ],
)
def test_other_classes_are_refused_by_name(variant: str, named: str) -> None:
    with pytest.raises(EtchError, match=f"architecture '{named}' is not supported") as caught:
        rows_of(variant, architectures=[named])
    assert caught.value.code == "architecture-not-supported"


@pytest.mark.parametrize("recipe", ["fp32", "w8a8", "w4a8"])
@pytest.mark.parametrize("variant", [OWN, BIASED])
def test_all_rows_at_once_have_the_bits_of_steps(variant: str, recipe: str) -> None:
    """Logits behind each token of a text, by a program that has read those before it step by step, and by one of all
    rows."""
    writer = graph_of(variant)
    *stack, logits = writer.repeat
    assert isinstance(logits, g.Linear)
    behind = replace(logits, input="last")
    widths = writer.widths | {"last": writer.widths[logits.input]}
    rows = g.Graph(
        widths,
        (*stack, g.Pool("last", logits.input, "last"), behind),
        (g.Head(Embedding(widths[logits.out]), logits.out),),
        writer.vocabulary,
        1,
        writer.max_tokens,
    )
    at_once, steps = lower(rows, RECIPES[recipe]), Generation(lower(writer, RECIPES[recipe]), IDS[:1], [0])
    for count, token in enumerate(IDS, 1):
        assert np.array_equal(emulate(at_once, IDS[:count], [0] * count), steps.logits_behind(token))


def test_a_whole_models_labels_are_its_own() -> None:
    texts = checkpoint("qwen3_5/labels").config.values["text_config"]
    found = rows_of("qwen3_5/labels", text_config=texts | {"id2label": {"0": "one"}, "problem_type": "regression"})
    assert (found.task.verb, found.task.outputs) == ("classify", 4)
    assert found.notes == NOT_USED


def test_a_state_goes_from_block_to_block() -> None:
    """Of each layer one for all texts, however long they are, all through the loop of its layers."""
    for most in (9, 150):
        program = lower(build_graph(checkpoint("qwen3_5_text/long"), most), RECIPES["w8a8"])
        (state,) = (buffer for buffer in walks.buffers_of(program) if buffer.storage == "state")
        assert (state.name, state.rows, state.layers) == ("layer_0_delta_rows_state", "carried", 1)
        assert state.width == 2 * 7 * 6
        placed = plan_memory(program, TARGETS["m-profile"], 64).placement(state.name)
        (loop,) = (step for step in program.steps if isinstance(step, p.Loop))
        blocks = next(of for of in loop.body if any(isinstance(op, p.DeltaRule) for op in of.body))
        assert (placed.size, placed.last - placed.first + 1) == (4 * state.width, len(blocks.body))


def test_a_state_of_another_kind_is_not_sound() -> None:
    program = lower(rows_of("qwen3_5_text/long"), RECIPES["fp32"])
    op = next(op for op in walks.ops_of(program) if isinstance(op, p.DeltaRule))
    for values, words in (
        ({"rows": "sequences"}, "rows of"),
        ({"width": 7}, "width of"),
        ({"storage": "f32"}, "storage"),
    ):
        with pytest.raises(EtchError, match=words) as caught:
            CHECK(replace(op, state=replace(op.state, **values)))
        assert caught.value.code == "program-not-sound"


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
    assert (made.notes, made.task.verb) == (NOT_USED, "generate")
    assert any(isinstance(op, g.DeltaRule) for op, _ in g.ops_of(made))


def test_what_a_whole_leaves_open_its_texts_say() -> None:
    """As the library makes settings of a folder that has none, and as published folders have their end."""
    rules = graph_of(WHOLE, ("eos_token_id", "bos_token_id")).target_rules
    assert rules is not None
    assert rules == graph_of(WHOLE).target_rules
    said = json.loads((HERE / WHOLE / "config.json").read_text())["text_config"]
    silent = {key: value for key, value in said.items() if key != "eos_token_id"}
    with pytest.raises(EtchError, match="'eos_token_id' is missing"):
        graph_of(WHOLE, ("eos_token_id",), text_config=silent)


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


def test_other_mixtures_are_refused_by_name() -> None:
    with pytest.raises(EtchError, match=r"'qwen4_exp_text' is not supported; nearest: .*qwen3_5") as caught:
        limits_of(Config.from_json({"model_type": "qwen4_exp_text"}))
    assert caught.value.code == "model-type-not-supported"


@pytest.mark.parametrize("family", ["qwen3_5", "qwen3_5_moe"])
def test_a_whole_model_has_the_limits_of_its_texts(family: str) -> None:
    texts = {"hidden_size": 24, "vocab_size": 45, "max_position_embeddings": 41}
    whole = limits_of(Config.from_json({"model_type": family, "text_config": texts}))
    alone = limits_of(Config.from_json({"model_type": f"{family}_text", **texts}))
    assert replace(whole, tokenizer_class=alone.tokenizer_class) == alone
    assert whole.tokenizer_class == AS_QWEN3_5
