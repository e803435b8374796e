# SPDX-License-Identifier: Apache-2.0
"""Decoders whose heads have a sink: what is refused, and that each layer has its own. lower/test_generation.py has what
they write."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from test_generation import graph_of, recorded

from codegen.errors import EtchError
from codegen.ir import graph as g
from codegen.ir.clamped_gate import ClampedGate
from codegen.oracle.interpret import Interpreter

GRANITE, MOE, GPT_OSS = "granite_swa/own", "granitemoe_swa/own", "gpt_oss/own"
REFUSED: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "too few thetas": (GRANITE, {"layer_rope_theta": [90.0, 0]}, "layers-out-of-range", "layer_rope_theta"),
    "thetas that are none": (GRANITE, {"layer_rope_theta": [True] * 4}, "layers-out-of-range", "layer_rope_theta"),
    "a theta below 0": (GRANITE, {"layer_rope_theta": [-1.0] * 4}, "rotary-not-supported", "rope_theta -1"),
    "no window": (MOE, {"sliding_window": None}, "config-type", "sliding_window"),
    "other layers": (MOE, {"layer_types": ["full_attention"]}, "layers-out-of-range", "layer_types"),
    "other heads": (MOE, {"num_attention_heads": 2}, "wrong-shape", "k_proj"),
    "another expert": (GPT_OSS, {"num_local_experts": 5}, "wrong-shape", "gate_up_proj"),
    "a gate without bounds": (GPT_OSS, {"swiglu_limit": 0.0}, "config-out-of-range", "swiglu_limit"),
    "a gate that is none": (GPT_OSS, {"swiglu_alpha": -1.7}, "config-out-of-range", "swiglu_alpha"),
    "other angles": (
        *(GPT_OSS, {"rope_parameters": {"rope_type": "dynamic", "factor": 2.0}}, "rotary-not-supported", "dynamic"),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    variant, changes, code, named = REFUSED[case]
    with pytest.raises(EtchError) as error:
        graph_of(variant, **changes)
    assert (error.value.code, named in str(error.value)) == (code, True), str(error.value)


UNSAID = {
    GRANITE: ("hidden_act", "mlp_bias", "rms_norm_eps"),
    MOE: ("layer_rope_theta", "layer_types", "attention_bias", "hidden_act"),
    GPT_OSS: ("layer_types", "attention_bias", "hidden_act", "rms_norm_eps"),
}


@pytest.mark.parametrize("variant", UNSAID)
def test_what_no_key_says(variant: str) -> None:
    assert np.array_equal(logits(graph_of(variant), variant), logits(graph_of(variant, UNSAID[variant]), variant))


@pytest.mark.parametrize("variant", UNSAID)
def test_sinks_of_every_layer_count(variant: str) -> None:
    graph = graph_of(variant)
    before = logits(graph, variant)
    count = next(layers.count for op, layers in g.ops_of(graph) if isinstance(op, g.Attention) and layers)
    for layer in range(count):
        after = logits(changed(graph, layer), variant)
        assert np.abs(after - before).max() > 1e-3 * np.abs(before).max()


def changed(graph: g.Graph, layer: int) -> g.Graph:
    """With larger sinks in one layer."""

    def of_op(op: g.Op) -> g.Op:
        if not isinstance(op, g.Attention):
            return op
        assert op.sinks is not None
        arrays = list(op.sinks.arrays)
        arrays[layer] = replace_values(arrays[layer])
        return replace(op, sinks=replace(op.sinks, arrays=tuple(arrays)))

    repeat = tuple(
        replace(node, body=tuple(map(of_op, node.body))) if isinstance(node, g.Layers) else node
        for node in graph.repeat
    )
    return replace(graph, repeat=repeat)


def replace_values(array: Any) -> Any:
    return type(
        "Larger", (), {"name": array.name, "file": array.file, "shape": array.shape, "values": array.values + 2}
    )


def test_the_gate_between_bounds() -> None:
    (op,) = (op for op, _ in g.ops_of(graph_of(GPT_OSS)) if isinstance(op, g.Experts))
    assert (op.clamped, op.activation, op.weighing) == (ClampedGate(1.3, 1.5), "none", "chosen")
    (usual,) = (
        op for op, _ in g.ops_of(graph_of(GPT_OSS, ("swiglu_alpha", "swiglu_limit"))) if isinstance(op, g.Experts)
    )
    assert usual.clamped == ClampedGate(1.702, 7.0)


def logits(graph: g.Graph, variant: str) -> np.ndarray:
    ids = recorded(variant)["outputs"][2]["ids"]
    return Interpreter(graph).logits(ids, [0] * len(ids), [])
