# SPDX-License-Identifier: Apache-2.0
"""DPR's encoders: which of them a folder is, and what is refused. test_recorded_models.py has what they compute."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from recorded.outputs import folder
from recorded_changes import Change, add, assert_refused, changed, configure, graph_of
from test_clip import with_modules

from codegen import pipeline
from codegen.ir import graph as g

QUESTION, CONTEXT = "dpr/question", "dpr/context"
REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "a reader": (
        QUESTION,
        configure(architectures=["DPRReader"]),
        "architecture-not-supported",
        "'DPRReader' is not supported (supported: DPRQuestionEncoder, DPRContextEncoder)",
    ),
    "the other encoder": (
        QUESTION,
        configure(architectures=["DPRContextEncoder"]),
        "missing-tensor",
        "ctx_encoder.bert_model",
    ),
    "the usual encoder": (CONTEXT, configure(architectures=None), "missing-tensor", "question_encoder.bert_model"),
    "no projection": (QUESTION, configure(projection_dim=None), "unused-tensor", "question_encoder.encode_proj"),
    "a projection": (CONTEXT, configure(projection_dim=7), "missing-tensor", "ctx_encoder.encode_proj.weight"),
    "a decoder": (CONTEXT, configure(is_decoder=True), "decoder-not-supported", "is_decoder"),
    "modules": (CONTEXT, with_modules, "architecture-conflict", "no rows"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    variant, change, code, words = REFUSED[case]
    if change is with_modules:
        change = wide_modules
    assert_refused(variant, change, code, words, tmp_path)


def wide_modules(path: Path) -> None:
    """Of this width."""
    with_modules(path)
    file = path / "1_Pooling/config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"word_embedding_dimension": 20}))


def test_the_first_row_is_the_embedding() -> None:
    for variant, outputs in ((QUESTION, 13), (CONTEXT, 20)):
        graph = graph_of(folder(variant))
        assert [op.kind for op, _ in g.ops_of(graph) if isinstance(op, g.Pool)] == ["first"]
        assert (graph.task.verb, graph.task.outputs, graph.segments) == ("embed", outputs, 2)
        assert pipeline.load(folder(variant)).notes == ()  # on labels, which no class has


def test_a_pooler_is_a_note(tmp_path: Path) -> None:
    change = add("ctx_encoder.bert_model.pooler.dense.weight", (20, 20))
    graph = graph_of(changed(CONTEXT, change, tmp_path))
    assert any("pooler.dense.weight" in note for note in graph.notes)
