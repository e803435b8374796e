# SPDX-License-Identifier: Apache-2.0
"""Gemma 2: what bounds its scores and logits, and what its folders need not say. test_recorded_models.py and
test_generation.py have what it computes, and most of what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_changes import changed, configure, graph_of
from test_generation import graph_of as writer

from codegen.ir import graph as g
from codegen.oracle.interpret import Interpreter

ROWS, WRITES = "gemma2/softmax", "gemma2/own"
SCORES, LOGITS = "attn_logit_softcapping", "final_logit_softcapping"


def caps(graph: g.Graph) -> tuple[set[float | None], list[float]]:
    """Of scores, and of logits."""
    ops = [op for op, _ in g.ops_of(graph)]
    return {op.cap for op in ops if isinstance(op, g.Attention)}, [op.limit for op in ops if isinstance(op, g.Cap)]


@pytest.mark.parametrize(
    ("changes", "without", "expected"),
    [
        ({}, (), ({1.5}, [3.0])),
        ({}, (SCORES, LOGITS), ({50.0}, [30.0])),
        ({SCORES: None, LOGITS: None}, (), ({None}, [])),
        ({LOGITS: 7}, (), ({1.5}, [7])),
    ],
)
def test_caps_of_a_writer(changes: dict[str, Any], without: tuple[str, ...], expected: object) -> None:
    assert caps(writer(WRITES, without, **changes)) == expected


def test_labels_have_no_cap() -> None:
    """As in the library."""
    assert caps(graph_of(folder(ROWS))) == ({2.0}, [])


def test_every_other_layer_has_a_window() -> None:
    for unsaid in ((), ("layer_types",)):
        ops = [op for op, _ in g.ops_of(writer(WRITES, unsaid)) if isinstance(op, g.Attention)]
        assert [(op.mask, op.window) for op in ops] == [(g.ByLayer(("past", "causal")), g.ByLayer((4, None)))]


def test_what_no_key_says(tmp_path: Path) -> None:
    unsaid = ("layer_types", "rms_norm_eps", "rope_parameters", "tie_word_embeddings", "use_bidirectional_attention")
    path = changed(ROWS, configure(**dict.fromkeys(unsaid)), tmp_path)
    config = json.loads((path / "config.json").read_text(encoding="utf-8"))
    assert not set(unsaid) & set(config)
    found = [Interpreter(graph_of(each)).output(list(range(5, 15)), [0] * 10) for each in (path, folder(ROWS))]
    assert np.array_equal(*found)
