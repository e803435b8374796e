# SPDX-License-Identifier: Apache-2.0
"""LFM2: what its layers are, as configurations say it in several ways, what of them goes together as a loop, and what
is kept from token to token. lower/test_generation.py has what it writes, test_recorded_models.py its embeddings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_generation import graph_of, recorded

from codegen.errors import EtchError
from codegen.frontends.decoders.lfm2 import _inner as inner_width
from codegen.frontends.shared.periods import Period, layers_of_kinds, periods_of
from codegen.ir import graph as g
from codegen.ir import walks
from codegen.load.config import Config
from codegen.lower import lower
from codegen.memory.plan import plan_memory
from codegen.oracle.interpret import Interpreter
from codegen.quantize import RECIPES
from codegen.targets import TARGETS

OWN, TEXTS = "lfm2/own", "lfm2/texts"  # untied, with biases, 4 taps; tied, 3 taps
IDS = recorded(TEXTS)["outputs"][2]["ids"]


def logits(without: tuple[str, ...] = (), **changes: Any) -> np.ndarray:
    return Interpreter(graph_of(TEXTS, without, **changes)).logits(IDS, [0] * len(IDS), [])


def test_what_no_key_says() -> None:
    """As the library has it, which wrote these keys down."""
    unsaid = "block_auto_adjust_ff_dim", "block_ffn_dim_multiplier", "conv_L_cache", "conv_bias", "norm_eps"
    own = logits()
    assert np.array_equal(logits((*unsaid, "tie_word_embeddings")), own)
    usual = logits(rope_parameters={"rope_type": "default", "rope_theta": 1e6})
    assert np.array_equal(logits(("rope_parameters",)), usual)
    assert not np.array_equal(usual, own)


def test_what_the_first_files_say() -> None:
    """The width of feed-forward blocks, tied words and which layers attend by other keys, and none that says less."""
    older = {"block_ff_dim": 36, "tie_embedding": True, "intermediate_size": 99, "tie_word_embeddings": False}
    assert np.array_equal(logits(("layer_types",), **older), logits())


@pytest.mark.parametrize(
    ("said", "width"),
    [
        ({"block_ff_dim": 6656}, 4608),  # LFM2-350M
        ({"block_ff_dim": 10240}, 6912),  # 700M
        ({"block_ff_dim": 12288}, 8192),  # 1.2B
        ({}, 8192),
        ({"intermediate_size": 100, "block_multiple_of": 5}, 70),
        ({"intermediate_size": 100, "block_multiple_of": 1, "block_ffn_dim_multiplier": 1.3}, 85),
        ({"intermediate_size": 100, "block_ffn_dim_multiplier": None}, 66),
        ({"intermediate_size": 100, "block_auto_adjust_ff_dim": False}, 100),
    ],
)
def test_the_width_of_feed_forward_blocks(said: dict[str, Any], width: int) -> None:
    assert inner_width(Config.from_json(said)) == width


@pytest.mark.parametrize(
    ("changes", "code", "words"),
    [
        ({"conv_L_cache": 1}, "config-out-of-range", "conv_L_cache 1: expected 2 to 65"),
        ({"conv_L_cache": 66}, "config-out-of-range", "conv_L_cache 66"),
        ({"layer_types": ["conv"] * 5}, "layers-out-of-range", "no layer has attention"),
        ({"layer_types": ["conv", "full_attention"]}, "layers-out-of-range", "expected 5 of full_attention or conv"),
        ({"layer_types": ["conv"] * 4 + ["sliding_attention"]}, "layers-out-of-range", "full_attention or conv"),
        ({"layer_types": None, "full_attn_idxs": [1, "3"]}, "layers-out-of-range", "full_attn_idxs"),
        ({"layer_types": None, "full_attn_idxs": None}, "missing-tensor", "layers.0.self_attn.q_proj"),
        ({"block_ffn_dim_multiplier": 0}, "config-out-of-range", "block_ffn_dim_multiplier"),
        ({"block_ffn_dim_multiplier": 5000}, "config-out-of-range", "block_ffn_dim_multiplier"),
        ({"block_multiple_of": 60_000, "block_ffn_dim_multiplier": 2600}, "config-out-of-range", "120000 values"),
        ({"intermediate_size": 1}, "config-out-of-range", "block_ffn_dim_multiplier"),
        ({"intermediate_size": 1, "block_ffn_dim_multiplier": None}, "config-out-of-range", "blocks of 0 values"),
        ({"conv_bias": True}, "missing-tensor", "layers.0.conv.conv.bias"),
    ],
)
def test_refused(changes: dict[str, Any], code: str, words: str) -> None:
    with pytest.raises(EtchError) as caught:
        graph_of(TEXTS, **changes)
    assert caught.value.code == code
    assert words in str(caught.value)


def test_what_repeats_of_the_layers_is_a_loop() -> None:
    assert periods_of("aaaa") == [Period(0, 1, 4)]
    assert periods_of("ab" * 3) == [Period(0, 2, 3)]
    assert periods_of("cacac") == [Period(0, 2, 2), Period(4, 1, 1)]
    assert periods_of("cca" * 3 + "ca" * 3 + "c") == [Period(0, 3, 3), Period(9, 2, 3), Period(15, 1, 1)]  # of LFM2
    assert periods_of("abc") == [Period(0, 3, 1)]


def test_names_say_which_layers_they_are_of() -> None:
    """The first ones of their loops; none where all layers are alike."""
    made = graph_of(TEXTS)
    loops = [node for node in made.repeat if isinstance(node, g.Layers)]
    assert [(loop.name, loop.count) for loop in loops] == [("group_0", 2), ("group_4", 1)]
    linears = [op for loop in loops for op in loop.body if isinstance(op, g.Linear) and op.out == "query"]
    assert [(op.name, op.weight.name, len(op.weight.arrays)) for op in linears] == [
        ("layer_1_query", "layer_1_query_weight", 2)
    ]
    assert made.widths["layer_1_key"] == made.widths["key"]
    (layers,), _ = layers_of_kinds("aaa", lambda kind, of: (g.Multiply("a", kind, "own"),), {"own": 3}, {"own"})
    assert layers == g.Layers("layer", 3, (g.Multiply("a", "a", "own"),))


def test_a_convolution_keeps_as_many_rows_as_it_has_taps_before_its_own() -> None:
    """Of each beam and layer, however long the texts are."""
    program = lower(graph_of(OWN), RECIPES["w8a8"])
    assert walks.layers_of(program) == 3
    states = [buffer for buffer in walks.buffers_of(program) if buffer.storage == "state"]
    assert [(state.name, state.width, state.layers) for state in states] == [
        ("layer_0_gated_state", 3 * 24, 1),
        ("layer_2_gated_state", 3 * 24, 1),
    ]
    plan = plan_memory(program, TARGETS["m-profile"], 64)
    assert {plan.placement(state.name).size for state in states} == {4 * 3 * 24}
