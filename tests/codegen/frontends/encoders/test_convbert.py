# SPDX-License-Identifier: Apache-2.0
"""ConvBERT's front-end: its heads, what becomes of its output linear and of groups, and what is refused.
test_recorded_models.py and the tests of tasks have what its models compute."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, configure, graph_of, rename

from codegen import pipeline
from codegen.ir import graph as g

CLASSIFIER, GROUPS, ONE_HEAD, CHOICES = "convbert/softmax", "convbert/groups", "convbert/one_head", "choices/convbert"
LAYER = "convbert.encoder.layer.0."
SPAN = f"{LAYER}attention.self.key_conv_attn_layer"
REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "architecture": (
        CLASSIFIER,
        configure(architectures=["ConvBertForCausalLM"]),
        "architecture-not-supported",
        "ConvBertForSequenceClassification",
    ),
    "a bare encoder": (CLASSIFIER, configure(architectures=["ConvBertModel"]), "modules-missing", "ConvBertModel"),
    "a decoder": (CLASSIFIER, configure(is_decoder=True), "decoder-not-supported", "is_decoder"),
    "other positions": (
        CLASSIFIER,
        configure(position_embedding_type="relative_key"),
        "position-embedding-not-supported",
        "relative_key",
    ),
    "taps without a middle": (CLASSIFIER, configure(conv_kernel_size=8), "config-out-of-range", "odd number"),
    "one tap": (CLASSIFIER, configure(conv_kernel_size=1), "config-out-of-range", "from 3 to 65"),
    "too many taps": (CLASSIFIER, configure(conv_kernel_size=67), "config-out-of-range", "conv_kernel_size 67"),
    "other taps": (CLASSIFIER, configure(conv_kernel_size=7), "wrong-shape", "depthwise"),
    "no ratio": (CLASSIFIER, configure(head_ratio=0), "config-out-of-range", "head_ratio"),
    "heads of halves": (ONE_HEAD, configure(hidden_size=21, num_attention_heads=3), "heads-do-not-divide", "of 2"),
    "groups that do not divide": (GROUPS, configure(num_groups=5), "config-value", "5 groups"),
    "other groups": (GROUPS, configure(num_groups=2), "wrong-shape", "intermediate.dense.weight"),
    "no groups": (CLASSIFIER, configure(num_groups=3, intermediate_size=18), "wrong-shape", "intermediate.dense"),
    "the usual width of words": (CLASSIFIER, configure(embedding_size=None), "wrong-shape", "word_embeddings"),
    "no such convolution": (CLASSIFIER, rename(f"{SPAN}.bias", "other"), "missing-tensor", f"{SPAN}.bias"),
    "a summary of another kind": (CHOICES, configure(summary_type="cls_index"), "pooling-not-supported", "cls_index"),
    "a summary by a linear": (CHOICES, configure(summary_use_proj=True), "summary-not-supported", "summary_use_proj"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


def ops_of(variant: str) -> list[g.Op]:
    return [op for op, _ in g.ops_of(graph_of(folder(variant)))]


def linear_of(variant: str, name: str) -> g.Linear:
    return next(op for op in ops_of(variant) if isinstance(op, g.Linear) and op.name == name)


@pytest.mark.parametrize(("variant", "heads", "taps"), [(CLASSIFIER, 3, 9), (GROUPS, 2, 5), (ONE_HEAD, 1, 3)])
def test_fewer_heads_each_with_taps_of_its_own(variant: str, heads: int, taps: int) -> None:
    graph = graph_of(folder(variant))
    (attention,) = (op for op in ops_of(variant) if isinstance(op, g.Attention))
    (convolution,) = (op for op in ops_of(variant) if isinstance(op, g.DynamicConvolution))
    (softmax,) = (op for op in ops_of(variant) if isinstance(op, g.Softmax))
    assert attention.heads == convolution.heads == softmax.heads == heads
    assert graph.widths[convolution.taps] == heads * taps
    assert graph.widths[attention.query] * 2 == graph.widths["hidden"]


def test_the_output_linear_is_two() -> None:
    stored = pipeline.load(folder(CLASSIFIER)).tensors.take(f"{LAYER}attention.output.dense.weight", (24, 24)).values
    attention, convolution = (linear_of(CLASSIFIER, name) for name in ("attention_output", "span_output"))
    assert np.array_equal(attention.weight.arrays[0].values, stored[:, :12])
    assert np.array_equal(convolution.weight.arrays[0].values, stored[:, 12:])
    assert (attention.bias is None, convolution.bias is None) == (False, True)


def test_outputs_of_a_group_are_made_of_its_inputs() -> None:
    weight = linear_of(GROUPS, "intermediate").weight.arrays[0]
    stored = pipeline.load(folder(GROUPS)).tensors.take(f"{LAYER}intermediate.dense.weight", (3, 8, 6)).values
    assert weight.shape == weight.values.shape == (18, 24)
    for output in range(18):
        group = output // 6
        assert np.array_equal(weight.values[output, group * 8 : group * 8 + 8], stored[group, :, output % 6])
        assert not weight.values[output, : group * 8].any() and not weight.values[output, group * 8 + 8 :].any()


def test_zeros_are_a_note() -> None:
    assert any("with zeros" in note for note in graph_of(folder(GROUPS)).notes)
    assert not graph_of(folder(CLASSIFIER)).notes
