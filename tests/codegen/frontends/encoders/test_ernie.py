# SPDX-License-Identifier: Apache-2.0
"""The ERNIE front-end: what it refuses, and its tasks. test_recorded_models.py has what its models compute."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, configure, graph_of, rename

from codegen.ir.graph import Embed

CLASSIFIER, TASKS, ENCODER = "ernie/softmax", "ernie/tasks", "ernie/mean"
TABLE = "ernie.embeddings.task_type_embeddings.weight"
REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "architecture": (
        CLASSIFIER,
        configure(architectures=["ErnieForCausalLM"]),
        "architecture-not-supported",
        "ErnieForSequenceClassification",
    ),
    "bare encoder": (CLASSIFIER, configure(architectures=["ErnieModel"]), "modules-missing", "ErnieModel"),
    "decoder": (CLASSIFIER, configure(is_decoder=True), "decoder-not-supported", "is_decoder"),
    "a classifier with modules.json": (
        ENCODER,
        configure(architectures=["ErnieForSequenceClassification"]),
        "architecture-conflict",
        "modules.json",
    ),
    "no table of tasks": (TASKS, rename(TABLE, "other"), "missing-tensor", TABLE),
    "tasks asked for that are not there": (CLASSIFIER, configure(use_task_id=True), "missing-tensor", TABLE),
    "tasks that nobody asks for": (TASKS, configure(use_task_id=None), "unused-tensor", TABLE),
    "number of tasks": (TASKS, configure(task_type_vocab_size=4), "wrong-shape", "expected [4, 24]"),
    "a flag that is none": (TASKS, configure(use_task_id=1), "config-type", "use_task_id"),
    "no tasks": (TASKS, configure(task_type_vocab_size=0), "config-out-of-range", "task_type_vocab_size"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


@pytest.mark.parametrize(("variant", "segments"), [(CLASSIFIER, None), (TASKS, 4), (ENCODER, 2)])
def test_every_token_gets_task_0_whatever_its_segment(variant: str, segments: int | None) -> None:
    graph = graph_of(folder(variant))
    assert not any("task" in note for note in graph.notes)
    embedding = next(op for op in graph.body if isinstance(op, Embed))
    tables = [term.table.arrays[0] for term in embedding.terms if term.table.name == "task_embeddings"]
    if segments is None:
        assert not tables
        return
    (table,) = tables
    assert table.shape == table.values.shape
    assert len(table.values) == segments
    assert np.array_equal(table.values, np.repeat(table.values[:1], segments, axis=0))
    assert table.values.any()
