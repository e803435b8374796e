# SPDX-License-Identifier: Apache-2.0
"""LayoutLM: a BERT whose tokens all have one box. test_recorded_models.py has what it computes."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded.outputs import folder
from recorded_changes import Change, add, assert_refused, configure, graph_of, rename

LABELS, TAGS = "layoutlm/softmax", "tags/layoutlm"
_X, _H = (f"layoutlm.embeddings.{side}_position_embeddings.weight" for side in "xh")
REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "the usual entries": (LABELS, configure(max_2d_position_embeddings=None), "wrong-shape", "1024"),
    "no entries": (LABELS, configure(max_2d_position_embeddings=0), "config-out-of-range", "max_2d"),
    "a table less": (TAGS, rename(_H, "layoutlm.embeddings.z.weight"), "missing-tensor", "tensor"),
    "a tensor more": (TAGS, add("layoutlm.more", (2,)), "unused-tensor", "layoutlm.more"),
    "another class": (LABELS, configure(architectures=["LayoutLMv2Model"]), "architecture-not-supported", "LayoutLM"),
    "positions of another kind": (
        LABELS,
        configure(position_embedding_type="relative_key"),
        "position-embedding-not-supported",
        "relative_key",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


def test_boxes_that_are_not_there_are_a_note() -> None:
    for variant in (LABELS, TAGS):
        assert any("bbox" in note for note in graph_of(folder(variant)).notes)
