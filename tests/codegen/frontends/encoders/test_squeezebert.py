# SPDX-License-Identifier: Apache-2.0
"""SqueezeBERT's front-end: what becomes of groups, and what is refused. test_recorded_models.py and test_fill_mask.py
have what its models compute."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, configure, graph_of, rename

from codegen import pipeline
from codegen.ir import graph as g

CLASSIFIER, MASKS = "squeezebert/softmax", "masks/squeezebert"
OUTPUT = "transformer.encoder.layers.0.output.conv1d.weight"
REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "architecture": (
        CLASSIFIER,
        configure(architectures=["SqueezeBertForPreTraining"]),
        "architecture-not-supported",
        "SqueezeBertForQuestionAnswering",
    ),
    "a bare encoder": (
        CLASSIFIER,
        configure(architectures=["SqueezeBertModel"]),
        "modules-missing",
        "SqueezeBertModel",
    ),
    "a width of words": (CLASSIFIER, configure(embedding_size=12), "config-value", "not hidden_size 24"),
    "the usual width of words": (CLASSIFIER, configure(embedding_size=None), "config-value", "embedding_size is 768"),
    "groups that do not divide": (CLASSIFIER, configure(output_groups=5), "config-value", "5 groups"),
    "other groups": (CLASSIFIER, configure(output_groups=2), "wrong-shape", OUTPUT),
    "no groups": (CLASSIFIER, configure(output_groups=0), "config-out-of-range", "output_groups"),
    "no such convolution": (CLASSIFIER, rename(OUTPUT, "other"), "missing-tensor", OUTPUT),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


def linear_of(graph: g.Graph, name: str) -> g.Linear:
    return next(op for op, _ in g.ops_of(graph) if isinstance(op, g.Linear) and op.name == name)


def test_outputs_of_a_group_are_made_of_its_inputs() -> None:
    weight = linear_of(graph_of(folder(CLASSIFIER)), "output").weight.arrays[0]
    stored = pipeline.load(folder(CLASSIFIER)).tensors.take(OUTPUT, (24, 7, 1)).values
    assert weight.shape == weight.values.shape == (24, 28)
    for output in range(24):
        first = output // 6 * 7
        assert np.array_equal(weight.values[output, first : first + 7], stored[output, :, 0])
        assert not weight.values[output, :first].any() and not weight.values[output, first + 7 :].any()


def test_norms_in_layers_have_an_epsilon_of_their_own() -> None:
    epsilons = {op.name: op.epsilon for op, _ in g.ops_of(graph_of(folder(CLASSIFIER))) if isinstance(op, g.Norm)}
    assert epsilons == {"embedding_norm": 1e-3, "attention_norm": 1e-12, "output_norm": 1e-12}


def test_zeros_are_a_note() -> None:
    assert any("with zeros" in note for note in graph_of(folder(MASKS)).notes)
