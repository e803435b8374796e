# SPDX-License-Identifier: Apache-2.0
"""Gemma 3's texts: what a folder may say, and what is refused. test_recorded_models.py has what they compute."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, changed, configure, graph_of

from codegen.ir import graph as g
from codegen.oracle.interpret import Interpreter

MEAN, CLASSIFIER = "gemma3_text/mean", "gemma3_text/softmax"
LINEAR = {"rope_type": "linear", "factor": 8.0}
REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "scores with a bound": (MEAN, configure(attn_logit_softcapping=50.0), "config-not-supported", "attn_logit"),
    "logits with a bound": (MEAN, configure(final_logit_softcapping=30.0), "config-not-supported", "final_logit"),
    "a window of itself": (CLASSIFIER, configure(sliding_window=1), "config-not-supported", "sliding_window 1"),
    "a writer in both directions": (
        CLASSIFIER,
        configure(architectures=["Gemma3ForCausalLM"], use_bidirectional_attention=True, eos_token_id=2),
        "config-not-supported",
        "use_bidirectional_attention",
    ),
    "with images": (
        CLASSIFIER,
        configure(architectures=["Gemma3ForConditionalGeneration"]),
        "architecture-not-supported",
        "Gemma3TextForSequenceClassification, Gemma3ForCausalLM, or Gemma3TextModel",
    ),
    "a kind that is not known": (
        MEAN,
        configure(layer_types=["full_attention", "full_attention", "chunked_attention"]),
        "layers-out-of-range",
        "layer_types",
    ),
    "angles of all layers": (MEAN, configure(rope_parameters=LINEAR), "rotary-not-supported", "rope_parameters"),
    "an older name of the angles": (
        MEAN,
        configure(rope_parameters=None, rope_scaling={"type": "linear", "factor": 8.0}),
        "rotary-not-supported",
        "factor",
    ),
    "angles that are none": (MEAN, configure(rope_scaling="linear"), "rotary-not-supported", "rope_scaling"),
    "scores times nothing": (MEAN, configure(query_pre_attn_scalar=0), "config-out-of-range", "query_pre_attn_scalar"),
    "heads of the usual width": (MEAN, configure(head_dim=256), "wrong-shape", "q_proj"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


def rows(path: Path) -> np.ndarray:
    ids = list(range(5, 15))
    return Interpreter(graph_of(path)).output(ids, [0] * len(ids))


def test_what_an_older_file_says(tmp_path: Path) -> None:
    """Thetas and the scale of angles by keys of their own, and full layers by their number."""
    named = {"full_attention": LINEAR | {"rope_theta": 300.0}, "sliding_attention": {"rope_theta": 50.0}}
    today = changed(MEAN, configure(rope_parameters=named), tmp_path / "today")
    older = {"rope_theta": 300.0, "rope_local_base_freq": 50.0, "rope_scaling": LINEAR, "rope_parameters": None}
    before = changed(MEAN, configure(**older, layer_types=None), tmp_path / "before")
    assert np.array_equal(rows(today), rows(before))
    assert not np.array_equal(rows(today), rows(folder(MEAN)))


def attention_of(path: Path) -> g.Attention:
    return next(op for op, _ in g.ops_of(graph_of(path)) if isinstance(op, g.Attention))


@pytest.mark.parametrize(("window", "seen"), [(4, 2), (5, 2), (1, 0)])
def test_both_directions_share_the_window(window: int, seen: int, tmp_path: Path) -> None:
    attention = attention_of(changed(MEAN, configure(sliding_window=window), tmp_path))
    assert attention.window == g.ByLayer((seen, seen, None))
    assert attention.mask == g.ByLayer(("window", "window", "none"))


def test_a_window_of_the_past_counts_the_token_itself(tmp_path: Path) -> None:
    attention = attention_of(changed(CLASSIFIER, configure(sliding_window=19), tmp_path))
    assert attention.window == g.ByLayer((18, None, 18))
    assert attention.mask == g.ByLayer(("past", "causal", "past"))


def test_a_window_that_holds_all_tokens_is_none() -> None:
    attention = attention_of(folder(CLASSIFIER))
    assert (attention.mask, attention.window) == ("causal", None)
