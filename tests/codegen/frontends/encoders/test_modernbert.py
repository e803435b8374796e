# SPDX-License-Identifier: Apache-2.0
"""The ModernBERT front-end: what its layers see and are turned by, and what is refused. test_recorded_models.py has
what its models compute."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, changed, configure, graph_of, rename

from codegen.frontends.shared.rotary import Angles, rotary_tables
from codegen.ir import graph as g
from codegen.ir import program as p
from codegen.ir import walks
from codegen.lower import lower
from codegen.quantize import RECIPES

CLASSIFIER = "modernbert/softmax"
FULL, SLIDING = "full_attention", "sliding_attention"
REFUSED: dict[str, tuple[Change, str, str]] = {
    "architecture": (
        configure(architectures=["ModernBertForNextSentencePrediction"]),
        "architecture-not-supported",
        "NextSentencePrediction",
    ),
    "pooling": (configure(classifier_pooling="max"), "pooling-not-supported", "max"),
    "kinds": (configure(layer_types=[FULL] * 3), "layers-out-of-range", "4"),
    "a kind": (configure(layer_types=[FULL, FULL, FULL, "linear"]), "layers-out-of-range", "sliding_attention"),
    "scaled angles": (configure(rope_scaling={"rope_type": "yarn"}), "rotary-not-supported", "rope_scaling"),
    "other angles": (configure(rope_parameters={FULL: {"rope_type": "yarn"}}), "rotary-not-supported", "yarn"),
    "partial angles": (
        configure(rope_parameters={SLIDING: {"partial_rotary_factor": 0.5}}),
        "rotary-not-supported",
        "sliding_attention",
    ),
    "angles of no kind": (configure(rope_parameters={"rope_theta": 3.0}), "rotary-not-supported", "rope_parameters"),
    "theta": (configure(rope_parameters={FULL: {"rope_theta": 0.5}}), "rotary-not-supported", "0.5"),
    "a window by another name": (configure(sliding_window=4), "config-value", "sliding_window"),
    "odd heads": (configure(num_attention_heads=4), "heads-not-even", "5"),
    "biases": (configure(attention_bias=True), "missing-tensor", "bias"),
    "no first norm": (rename("model.embeddings.norm.weight", "other"), "missing-tensor", "embeddings.norm"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(CLASSIFIER, *REFUSED[case], tmp_path)


def attentions(graph: g.Graph) -> list[g.Attention]:
    return [op for op, _ in g.runs_of(graph) if isinstance(op, g.Attention)]


def test_every_third_layer_sees_all_tokens() -> None:
    graph = graph_of(folder(CLASSIFIER))
    assert [op.mask for op in attentions(graph)] == ["none", "window", "window", "none"]
    assert {op.window for op in attentions(graph)} == {None, 3}
    turned = [op.cosines[op.table].name for op, _ in g.runs_of(graph) if isinstance(op, g.Rotary)]
    assert turned == [f"{kind}_cosines" for kind in ("global", "local", "local", "global") for _ in range(2)]


def test_layers_that_are_alike_have_one_value(tmp_path: Path) -> None:
    old = configure(layer_types=None, global_attn_every_n_layers=9, rope_parameters=None, local_rope_theta=70)
    graph = graph_of(changed(CLASSIFIER, old, tmp_path))
    (layers,) = [node for node in graph.body if isinstance(node, g.Layers)]
    (attention,) = [op for op in layers.body if isinstance(op, g.Attention)]
    assert (attention.mask, attention.window, layers.count) == ("window", 3, 3)


def test_tables_of_angles_are_stored_once() -> None:
    program = lower(graph_of(folder(CLASSIFIER)), RECIPES["w8a8"])
    names = [slot.name for slot, _ in walks.slots_of(program) if isinstance(slot.stored[0], p.FloatTable)]
    assert sorted(names) == ["global_cosines", "global_sines", "local_cosines", "local_sines"]
    assert walks.layers_of(program) == 4


def test_angles() -> None:
    cosines, sines = (table.arrays[0].values for table in rotary_tables("t", Angles(160_000.0), 8192, 64))
    assert cosines.shape == (8192, 32)
    rates = np.float32(1) / np.float32(160_000.0) ** (np.arange(0, 64, 2, dtype=np.float32) / np.float32(64))
    angles = np.arange(8192)[:, None] * rates.astype(np.float64)
    assert np.abs(cosines - np.cos(angles)).max() < 6e-8 + 8192 * 2**-24  # NumPy's power may be off by a unit
    assert np.abs(cosines**2 + sines**2 - 1).max() < 3e-7
