# SPDX-License-Identifier: Apache-2.0
"""Falcon: which of its forms there are, what configurations need not say, and what is refused. test_recorded_models.py
and test_generation.py have what they compute."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, changed, configure, graph_of
from test_generation import graph_of as writer

from codegen.errors import EtchError
from codegen.ir import graph as g
from codegen.oracle.interpret import Interpreter

ROWS = "falcon/regression"  # 3 heads, a block behind the other
NEW, SHARED = "falcon/new", "falcon/multi_query"  # which write
NEW_KEY = "new_decoder_architecture"
REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "answers": (
        ROWS,
        configure(architectures=["FalconForQuestionAnswering"]),
        "architecture-not-supported",
        "FalconForSequenceClassification, FalconForCausalLM, FalconForTokenClassification, or ",
    ),
    "ALiBi": (ROWS, configure(alibi=True), "config-not-supported", "alibi"),
    "some heads of keys": (ROWS, configure(num_kv_heads=1), "config-not-supported", "num_kv_heads is not 3"),
    "one block behind the other in the new form": (
        ROWS,
        configure(**{NEW_KEY: True}),
        "config-not-supported",
        "parallel_attn is false",
    ),
    "a norm each in the old form": (
        ROWS,
        configure(parallel_attn=True, num_ln_in_parallel_attn=2),
        "config-not-supported",
        "num_ln_in_parallel_attn 2",
    ),
    "three norms": (ROWS, configure(num_ln_in_parallel_attn=3), "config-out-of-range", "num_ln_in_parallel_attn"),
    "heads of an odd width": (
        ROWS,
        configure(num_attention_heads=8, num_kv_heads=8),
        "heads-do-not-divide",
        "8 heads of 3",
    ),
    "another width of heads": (ROWS, configure(head_dim=4), "config-not-supported", "head_dim"),
    "biases": (ROWS, configure(bias=True), "missing-tensor", "bias"),
    "a norm less": (ROWS, configure(parallel_attn=True), "unused-tensor", "post_attention_layernorm"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


@pytest.mark.parametrize(
    ("variant", "changes", "code"),
    [
        (NEW, {"num_kv_heads": 3}, "heads-do-not-divide"),
        (NEW, {"num_kv_heads": None}, "wrong-shape"),
        (NEW, {"num_ln_in_parallel_attn": 1}, "missing-tensor"),
        (SHARED, {"multi_query": None}, "wrong-shape"),
    ],
)
def test_what_no_writer_has(variant: str, changes: dict[str, Any], code: str) -> None:
    with pytest.raises(EtchError) as caught:
        writer(variant, **changes)
    assert caught.value.code == code


def output(path: Path) -> np.ndarray:
    ids = list(range(5, 15))
    return Interpreter(graph_of(path)).output(ids, [0] * len(ids))


def test_what_no_key_says(tmp_path: Path) -> None:
    """As the library has it, which wrote these keys down; null is no."""
    unsaid = ("alibi", "bias", NEW_KEY, "layer_norm_epsilon", "num_kv_heads", "rope_parameters", "tie_word_embeddings")
    path = changed(ROWS, configure(**dict.fromkeys(unsaid)), tmp_path)
    config = json.loads((path / "config.json").read_text(encoding="utf-8"))
    (path / "config.json").write_text(json.dumps(config | {"multi_query": None, "bias": None}), encoding="utf-8")
    assert np.array_equal(output(path), output(folder(ROWS)))


def test_what_a_writer_need_not_say() -> None:
    said = [writer(variant) for variant in (NEW, SHARED)]
    unsaid = [
        writer(NEW, without=("num_ln_in_parallel_attn",)),
        writer(SHARED, without=("multi_query", "parallel_attn", "num_kv_heads", "max_position_embeddings")),
    ]
    for one, other in zip(said, unsaid, strict=True):
        ids = [5, 9, 7]
        found = [Interpreter(graph).logits(ids, [0] * 3, [4, 8]) for graph in (one, other)]
        assert np.array_equal(*found)


def test_heads_of_keys() -> None:
    found = [next(op for op, _ in g.ops_of(writer(name)) if isinstance(op, g.Attention)) for name in (NEW, SHARED)]
    assert [(op.heads, op.key_heads) for op in found] == [(4, 2), (4, 1)]
