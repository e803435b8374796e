# SPDX-License-Identifier: Apache-2.0
"""The EuroBERT front-end: how it pools, and what is refused. test_recorded_models.py has what its models compute."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, changed, configure, graph_of, rename

from codegen.ir import graph as g

LATE, MEAN, MASKS = "eurobert/late", "eurobert/mean", "masks/eurobert"
REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "architecture": (
        LATE,
        configure(architectures=["EuroBertForQuestionAnswering2"]),
        "architecture-not-supported",
        "EuroBert",
    ),
    "a bare encoder": (LATE, configure(architectures=["EuroBertModel"]), "modules-missing", "EuroBertModel"),
    "pooling": (LATE, configure(classifier_pooling="max"), "pooling-not-supported", "bos, mean, late"),
    "heads of keys": (MEAN, configure(num_key_value_heads=3), "heads-do-not-divide", "4 heads"),
    "biases": (MEAN, configure(mlp_bias=False), "unused-tensor", "mlp"),
    "no biases": (LATE, configure(attention_bias=True), "missing-tensor", "q_proj.bias"),
    "angles": (LATE, configure(rope_scaling={"rope_type": "yarn"}), "rotary-not-supported", "rope"),
    "no dense": (LATE, rename("dense.weight", "other"), "missing-tensor", "dense.weight"),
    "words once only": (MASKS, rename("lm_head.weight", "other"), "missing-tensor", "lm_head.weight"),
    "other words": (MASKS, configure(tie_word_embeddings=True), "tied-tensors-differ", "lm_head.weight"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


@pytest.mark.parametrize(
    ("pooling", "kind", "rows"),
    [("late", "mean", "all"), ("mean", "mean", "one"), ("bos", "first", "one"), (None, "mean", "all")],
)
def test_the_mean_of_logits_is_that_of_their_inputs(pooling: str | None, kind: str, rows: str, tmp_path: Path) -> None:
    graph = graph_of(changed(LATE, configure(classifier_pooling=pooling), tmp_path))
    ops = [node for node in graph.body if not isinstance(node, g.Layers)]
    (pool,) = (op for op in ops if isinstance(op, g.Pool))
    dense = next(op for op in ops if isinstance(op, g.Linear))
    assert pool.kind == kind
    assert (ops.index(dense) < ops.index(pool)) == (rows == "all")


def test_what_predicts_words_is_one_linear() -> None:
    ops = [node for node in graph_of(folder(MASKS)).body if not isinstance(node, g.Layers)]
    assert [type(op) for op in ops[-2:]] == [g.Masked, g.Best]
