# SPDX-License-Identifier: Apache-2.0
"""Qwen3-Next: what its keys mean, which layers have experts, and what is refused. lower/test_generation.py has what it
writes, test_recorded_models.py what its rows are read with, test_qwen3_5_text.py the layers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_generation import graph_of, recorded

from codegen.errors import EtchError
from codegen.frontends.shared.computed import rows_of_groups
from codegen.ir import graph as g
from codegen.oracle.interpret import Interpreter

OWN, DENSE = "qwen3_next/own", "qwen3_next/dense"
IDS = recorded(OWN)["outputs"][2]["ids"]


class Matrix:
    name, file, shape = "matrix", "model.safetensors", (6, 2)
    values = np.arange(12, dtype=np.float32).reshape(6, 2)


def logits(variant: str = OWN, without: tuple[str, ...] = (), **changes: Any) -> np.ndarray:
    return Interpreter(graph_of(variant, without, **changes)).logits(IDS, [0] * len(IDS), [])


def test_what_no_key_says() -> None:
    own, dense = logits(), logits(DENSE)
    assert np.array_equal(logits(OWN, ("hidden_act", "rms_norm_eps", "norm_topk_prob", "mlp_only_layers")), own)
    assert np.array_equal(logits(DENSE, ("layer_types",), full_attention_interval=2), dense)
    assert not np.array_equal(logits(DENSE, norm_topk_prob=True), dense)
    named = {"num_local_experts": 5}
    assert np.array_equal(logits(OWN, ("num_experts",), **named), own)


def test_which_layers_have_experts() -> None:
    for variant, count in ((OWN, 3), (DENSE, 2)):
        layers = [node for node in graph_of(variant).repeat if isinstance(node, g.Layers)]
        found = sum(
            node.count for node in layers for op in node.body if isinstance(op, g.Experts) and op.out.endswith("mixed")
        )
        assert found == count


def test_rows_of_groups() -> None:
    found = rows_of_groups(Matrix(), 2, (1, 3), (0, 1))
    assert found.shape == (6, 2)
    assert found.values[:, 0].tolist() == [2, 4, 8, 10, 0, 6]


@pytest.mark.parametrize(
    ("changes", "without", "code", "words"),
    [
        ({"linear_key_head_dim": 6}, (), "wrong-shape", "linear_attn.in_proj_qkvz.weight"),
        ({"linear_num_key_heads": 3}, (), "heads-do-not-divide", "linear_num_value_heads 4 on linear_num_key_heads 3"),
        ({"layer_types": ["linear_attention"] * 3}, (), "layers-out-of-range", "no layer has full attention"),
        ({"num_experts": 0}, (), "config-out-of-range", "'num_experts' must be in 1..4096"),
        ({"num_experts_per_tok": 6}, (), "config-out-of-range", "'num_experts_per_tok' must be in 1..5"),
        ({"num_experts": 6}, (), "missing-tensor", "mlp.experts.5."),
        ({"mlp_only_layers": [0, 1, 2]}, (), "config-not-supported", "no layer has experts"),
        ({"mlp_only_layers": [1]}, (), "missing-tensor", "model.layers.1.mlp.gate_proj.weight"),
        ({"mlp_only_layers": [1]}, ("intermediate_size",), "config-missing", "'intermediate_size'"),
        ({"shared_expert_intermediate_size": 13}, (), "wrong-shape", "shared_expert.gate_proj.weight"),
    ],
)
def test_refused(changes: dict[str, Any], without: tuple[str, ...], code: str, words: str) -> None:
    with pytest.raises(EtchError) as caught:
        graph_of(OWN, without, **changes)
    assert caught.value.code == code
    assert words in str(caught.value)
