# SPDX-License-Identifier: Apache-2.0
"""Families with Mamba-2's state spaces: what their keys mean, what is refused, what each head keeps, and that rows read
at once have the bits of those read step by step. lower/test_generation.py has what they write,
test_recorded_models.py what their rows are read with, runtime/ops/state_space_test.cpp the op."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_outputs import assert_gpus_refuse
from test_generation import HERE, graph_of, recorded

from codegen import pipeline
from codegen.emulate.forward import emulate
from codegen.emulate.generation import Generation
from codegen.errors import EtchError
from codegen.frontends import build_graph
from codegen.frontends.decoders.mamba2 import FAMILY
from codegen.frontends.shared.computed import Computed
from codegen.ir import graph as g
from codegen.ir import program as p
from codegen.ir import walks
from codegen.ir.check_graph import check_graph
from codegen.ir.check_operands import CHECK
from codegen.load.checkpoint import Checkpoint
from codegen.load.config import Config
from codegen.load.files import CheckpointFolder
from codegen.lower import lower
from codegen.memory.plan import plan_memory
from codegen.oracle.interpret import Interpreter
from codegen.quantize import RECIPES
from codegen.quantize.bounds import check_bounds
from codegen.targets import TARGETS
from codegen.tasks.embedding import Embedding

OWN, BIASED, HYBRID, BESIDE = "mamba2/own", "mamba2/biased", "granitemoehybrid/mamba", "falcon_h1/own"
IDS = recorded(OWN)["outputs"][2]["ids"]
ENDLESS = {"__float__": "Infinity"}


def logits(variant: str, without: tuple[str, ...] = (), **changes: Any) -> np.ndarray:
    return Interpreter(graph_of(variant, without, **changes)).logits(IDS, [0] * len(IDS), [])


@pytest.mark.parametrize(
    ("variant", "without"),
    [
        (OWN, ("conv_kernel", "expand", "hidden_act", "layer_norm_epsilon", "time_step_limit", "use_bias")),
        (OWN, ("use_conv_bias", "tie_word_embeddings", "rescale_prenorm_residual")),
        (HYBRID, ("mamba_d_conv", "mamba_expand", "mamba_conv_bias", "time_step_limit", "attention_bias")),
        ("bamba/own", ("rms_norm_eps", "rope_parameters", "mamba_expand", "time_step_limit")),
        (BESIDE, ("rope_parameters", "mamba_rms_norm", "projectors_bias", "mlp_bias", "attention_bias")),
    ],
)
def test_what_no_key_says(variant: str, without: tuple[str, ...]) -> None:
    assert np.array_equal(logits(variant, without), logits(variant))


@pytest.mark.parametrize("limit", [None, [0.0, ENDLESS], [-1, ENDLESS]])
def test_limits_of_time_steps_that_limit_nothing(limit: Any) -> None:
    assert np.array_equal(logits(OWN, time_step_limit=limit), logits(OWN))


def test_infinity_as_older_files_have_it(tmp_path: Path) -> None:
    raw = (HERE / OWN / "config.json").read_text().replace('{\n      "__float__": "Infinity"\n    }', "Infinity")
    (tmp_path / "config.json").write_text(raw)
    found = CheckpointFolder(tmp_path).read_json("config.json", endless=True)
    assert found == json.loads((HERE / OWN / "config.json").read_text())
    with pytest.raises(EtchError, match="the number Infinity"):
        CheckpointFolder(tmp_path).read_json("config.json")


def test_which_layers_have_which() -> None:
    """By either name of both kinds."""
    named = ["linear_attention", "full_attention"] * 2
    assert np.array_equal(logits(HYBRID, layer_types=named), logits(HYBRID))
    assert np.array_equal(logits(HYBRID, ("layer_types",), layers_block_type=named), logits(HYBRID))
    count = {kind: sum(isinstance(op, kind) for op, _ in g.runs_of(graph_of(HYBRID))) for kind in KINDS}
    assert count == {g.StateSpace: 2, g.Attention: 2}
    assert not any(isinstance(op, g.Attention) for op, _ in g.ops_of(graph_of(OWN)))


KINDS = g.StateSpace, g.Attention


def test_factors_count() -> None:
    """Each of Falcon-H1's changes what is written."""
    config, own = json.loads((HERE / BESIDE / "config.json").read_text()), logits(BESIDE)
    keys = [key for key in config if key.endswith(("_multiplier", "_multipliers"))]
    assert len(keys) == 9
    for key in keys:
        values = config[key] if isinstance(config[key], list) else [config[key]]
        for i in range(len(values)):
            changed = [value * (2 if i == j else 1) for j, value in enumerate(values)]
            found = logits(BESIDE, **{key: changed if isinstance(config[key], list) else changed[0]})
            assert np.abs(found - own).max() > 1e-6 * np.abs(own).max(), (key, i)


@pytest.mark.parametrize(
    ("variant", "changes", "code", "words"),
    [
        (OWN, {"head_dim": 9}, "heads-do-not-divide", "num_heads 4 of head_dim 9 do not make rows of 40"),
        (OWN, {"n_groups": 3}, "heads-do-not-divide", "num_heads 4 on n_groups 3"),
        (OWN, {"conv_kernel": 1}, "config-out-of-range", "conv_kernel 1"),
        (OWN, {"state_size": 7}, "wrong-shape", "mixer.conv1d.weight"),
        (OWN, {"hidden_act": "relu"}, "activation-not-supported", "hidden_act 'relu' behind a convolution"),
        (OWN, {"use_bias": True}, "missing-tensor", "mixer.out_proj.bias"),
        (OWN, {"use_conv_bias": False}, "unused-tensor", "conv1d.bias"),
        (OWN, {"rescale_prenorm_residual": True}, "config-not-supported", "divides weights that it reads"),
        (OWN, {"time_step_limit": [0.0, 0.5]}, "config-not-supported", "time_step_limit: the library keeps"),
        (OWN, {"time_step_limit": [0.25, ENDLESS]}, "config-not-supported", "within 0.25 and inf"),
        (OWN, {"time_step_limit": [2.0, 0.5]}, "config-out-of-range", "within 2 and 0.5"),
        (OWN, {"time_step_limit": [0.0, 0.0]}, "config-out-of-range", "within 0 and 0"),
        (OWN, {"time_step_limit": [0.0]}, "config-type", "expected two numbers"),
        (OWN, {"time_step_limit": 3}, "config-type", "expected two numbers"),
        (HYBRID, {"layer_types": ["mamba"] * 3}, "layers-out-of-range", "expected 4"),
        (HYBRID, {"mamba_n_heads": 5}, "heads-do-not-divide", "mamba_n_heads 5 of mamba_d_head 12"),
        ("bamba/own", {"attn_layer_indices": [3]}, "layers-out-of-range", "layers below 3"),
        ("bamba/own", {"attn_layer_indices": "all"}, "layers-out-of-range", "expected a list"),
        ("bamba/own", {"attn_layer_indices": []}, "missing-tensor", "layers.1.mamba.conv1d"),
        (BESIDE, {"ssm_multipliers": [1.0] * 4}, "config-type", "ssm_multipliers: expected 5 numbers"),
        (BESIDE, {"mlp_multipliers": [1.0, 0]}, "config-out-of-range", "mlp_multipliers 2 0"),
        (BESIDE, {"mamba_rms_norm": True}, "missing-tensor", "mamba.norm.weight"),
        (BESIDE, {"mamba_d_ssm": 40}, "heads-do-not-divide", "do not make rows of 40"),
    ],
)
def test_refused(variant: str, changes: dict[str, Any], code: str, words: str) -> None:
    with pytest.raises(EtchError) as caught:
        graph_of(variant, **changes)
    assert caught.value.code == code
    assert words in str(caught.value)


@pytest.mark.parametrize("recipe", ["fp32", "w8a8", "w4a8"])
@pytest.mark.parametrize("variant", [OWN, BIASED, HYBRID, BESIDE])
def test_all_rows_at_once_have_the_bits_of_steps(variant: str, recipe: str) -> None:
    """Logits behind each token of a text, by a program that has read those before it step by step, and by one of all
    rows."""
    writer = graph_of(variant)
    *stack, last = writer.repeat
    assert isinstance(last, g.Linear)
    widths = writer.widths | {"last": writer.widths[last.input]}
    body = (*stack, g.Pool("last", last.input, "last"), replace(last, input="last"))
    head = g.Head(Embedding(widths[last.out]), last.out)
    rows = g.Graph(widths, body, (head,), writer.vocabulary, 1, writer.max_tokens)
    at_once, steps = lower(rows, RECIPES[recipe]), Generation(lower(writer, RECIPES[recipe]), IDS[:1], [0])
    for count, token in enumerate(IDS, 1):
        assert np.array_equal(emulate(at_once, IDS[:count], [0] * count), steps.logits_behind(token))


def test_each_head_keeps_a_matrix() -> None:
    """Of each beam and layer, however long the texts are, beside the rows that a convolution takes from; those of a
    loop's layers lie one behind the other."""
    program = lower(graph_of(OWN), RECIPES["w8a8"])
    states = {buffer.name: buffer for buffer in walks.buffers_of(program) if buffer.storage == "state"}
    widths = {"mamba_rows_state": 4 * 10 * 6, "mamba_input_state": 3 * (40 + 2 * 2 * 6)}
    assert {name: buffer.width for name, buffer in states.items()} == widths
    plan = plan_memory(program, TARGETS["m-profile"], 64)
    assert {name: plan.placement(name).size for name in states} == {name: 2 * 4 * of for name, of in widths.items()}


def rows_of(variant: str, most: int | None = None) -> g.Graph:
    found: Checkpoint = pipeline.load(folder(variant))
    return build_graph(found, most or 9)


def test_a_state_goes_from_block_to_block() -> None:
    """Of each layer one for all texts, however long they are."""
    for most in (9, 150):
        program = lower(rows_of("mamba2/mean", most), RECIPES["w8a8"])
        (state,) = (buffer for buffer in walks.buffers_of(program) if buffer.storage == "state")
        assert (state.name, state.rows, state.layers, state.width) == ("mamba_rows_state", "carried", 1, 4 * 10 * 5)


def test_a_state_of_another_kind_is_not_sound() -> None:
    program = lower(rows_of("mamba2/mean"), RECIPES["fp32"])
    op = next(op for op in walks.ops_of(program) if isinstance(op, p.StateSpace))
    for values, words in (({"rows": "sequences"}, "rows of"), ({"width": 7}, "width of"), ({"storage": "f32"}, "stor")):
        with pytest.raises(EtchError, match=words) as caught:
            CHECK(replace(op, state=replace(op.state, **values)))
        assert caught.value.code == "program-not-sound"


def numbers(value: float, count: int = 4) -> g.Parameter:
    """The same of each head."""
    return g.Parameter("numbers", (Computed("numbers", (count,), lambda: np.full(count, value)),), common=True)


def with_op(**values: Any) -> g.Graph:
    """The graph of a writer whose op is another one."""
    made = graph_of(OWN)
    op = next(op for op, _ in g.ops_of(made) if isinstance(op, g.StateSpace))
    repeat = tuple(
        replace(node, body=tuple(replace(one, **values) if one is op else one for one in node.body))
        if isinstance(node, g.Layers)
        else node
        for node in made.repeat
    )
    return replace(made, repeat=repeat)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"heads": 3}, "'mamba_rows' of 40 values has not 3 heads"),
        ({"groups": 3}, "width of 'mamba_mixed'"),
        ({"groups": 3, "state_width": 4}, "4 heads on 3 groups"),
        ({"time": "mamba_gate"}, "width of 'mamba_gate'"),
        ({"out": "mamba_mixed"}, "mamba_mixed"),
        ({"rates": numbers(-1e-9), "skips": numbers(1.0)}, "a rate of decay is below 0"),
        ({"rates": numbers(1.0), "skips": numbers(1.0, 5)}, "numbers"),
        ({"times": (2.0, 1.0)}, "time steps within 2 and 1"),
        ({"times": (-1.0, 1.0)}, "time steps within -1 and 1"),
    ],
)
def test_an_op_that_is_not_sound(values: dict[str, Any], words: str) -> None:
    with pytest.raises(EtchError, match=words) as caught:
        check_graph(with_op(**values))
    assert caught.value.code == "graph-not-sound"


@pytest.mark.parametrize(
    ("rate", "skip", "fits"),
    [(0.0, 1.0, True), (1e-30, 1e9, True), (1e30, 1.0, False), (1.0, 1e38, False)],
)
def test_numbers_that_are_too_large(rate: float, skip: float, fits: bool) -> None:
    """Of infinite ones, times nothing, a program would make no numbers; its outputs have a limit of their own."""
    made = with_op(rates=numbers(rate), skips=numbers(skip))
    if fits:
        check_bounds(made)
        return
    with pytest.raises(EtchError, match="could reach") as caught:
        check_bounds(made)
    assert caught.value.code == "activation-bound"


def test_gpus_refuse_it(tmp_path: Path) -> None:
    assert_gpus_refuse("mamba2/mean", tmp_path)


def test_texts_without_an_end() -> None:
    """No row depends on how many there are."""
    config = Config.from_json(json.loads((HERE / OWN / "config.json").read_text()))
    limits = FAMILY.read_limits(config)
    assert (limits.positions, limits.endless) == (2048, True)


def test_there_is_no_classifier() -> None:
    for variant in ("bamba/last", "falcon_h1/last", "granitemoehybrid/mamba", "mamba2/mean"):
        assert rows_of(variant).task.verb == "embed"
