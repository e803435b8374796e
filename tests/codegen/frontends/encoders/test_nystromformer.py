# SPDX-License-Identifier: Apache-2.0
"""Nyströmformer's front-end: its convolution beside attention to all tokens, and what is refused.
test_recorded_models.py and the tests of tasks have what its models compute."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, changed, configure, graph_of, rename

from codegen import pipeline
from codegen.ir import graph as g

CLASSIFIER, CHOICES = "nystromformer/softmax", "choices/nystromformer"
CONVOLUTION = "nystromformer.encoder.layer.0.attention.self.conv.weight"
REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "rows of tokens alone": (CLASSIFIER, configure(architectures=["NystromformerModel"]), "modules-missing", "Model"),
    "a decoder": (CLASSIFIER, configure(add_cross_attention=True), "decoder-not-supported", "add_cross_attention"),
    "landmarks": (CLASSIFIER, configure(num_landmarks=32), "attention-not-supported", "num_landmarks 32"),
    "longer texts": (CLASSIFIER, configure(segment_means_seq_len=512), "attention-not-supported", "padded"),
    "an inverse": (CLASSIFIER, configure(inv_coeff_init_option=True), "config-not-supported", "inv_coeff_init_option"),
    "an even kernel": (CLASSIFIER, configure(conv_kernel_size=8), "config-out-of-range", "odd number"),
    "one tap": (CLASSIFIER, configure(conv_kernel_size=1), "config-out-of-range", "from 3 to 65"),
    "many taps": (CLASSIFIER, configure(conv_kernel_size=67), "config-out-of-range", "conv_kernel_size 67"),
    "the usual taps": (CLASSIFIER, configure(conv_kernel_size=None), "wrong-shape", "conv.weight"),
    "no such convolution": (CLASSIFIER, rename(CONVOLUTION, "other"), "missing-tensor", CONVOLUTION),
    "other positions": (CLASSIFIER, configure(max_position_embeddings=22), "wrong-shape", "position_embeddings"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


def test_a_head_has_the_same_taps_for_all_its_channels() -> None:
    graph = graph_of(folder(CLASSIFIER))
    convolution = next(op for op, _ in g.ops_of(graph) if isinstance(op, g.CenteredConvolution))
    kernel = pipeline.load(folder(CLASSIFIER)).tensors.take(CONVOLUTION, (5, 1, 7, 1)).values
    taps = convolution.weight.arrays[0].values
    assert taps.shape == (20, 7)
    assert all(np.array_equal(taps[channel], kernel[channel // 4, 0, :, 0]) for channel in range(20))


def test_there_may_be_no_convolution(tmp_path: Path) -> None:
    """Then its tensors are too many."""
    path = changed(CLASSIFIER, configure(), tmp_path)
    config = json.loads((path / "config.json").read_text(encoding="utf-8")) | {"conv_kernel_size": None}
    (path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(Exception, match=r"unused-tensor.*self\.conv\.weight"):
        graph_of(path)


def test_choices_have_a_linear_of_their_own() -> None:
    named = {op.name: op.activation for op, _ in g.ops_of(graph_of(folder(CHOICES))) if isinstance(op, g.Linear)}
    assert named["pre_classifier"] == "relu"
