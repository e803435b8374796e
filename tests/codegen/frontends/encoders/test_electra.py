# SPDX-License-Identifier: Apache-2.0
"""The ELECTRA front-end: what it refuses. test_recorded_models.py has what its models compute."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, configure, graph_of, rename

CLASSIFIER, ONE_WIDTH, ENCODER = "electra/projected", "electra/one_width", "electra/cls"
PROJECTION = "electra.embeddings_project.weight"
REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "architecture": (
        CLASSIFIER,
        configure(architectures=["ElectraForPreTraining"]),
        "architecture-not-supported",
        "ElectraForSequenceClassification",
    ),
    "bare encoder": (CLASSIFIER, configure(architectures=["ElectraModel"]), "modules-missing", "ElectraModel"),
    "decoder": (CLASSIFIER, configure(is_decoder=True), "decoder-not-supported", "is_decoder"),
    "heads": (CLASSIFIER, configure(num_attention_heads=5), "heads-do-not-divide", "num_attention_heads 5"),
    "embedding width": (CLASSIFIER, configure(embedding_size=13), "wrong-shape", "expected [64, 13]"),
    "default embedding width": (CLASSIFIER, configure(embedding_size=None), "wrong-shape", "128"),
    "a projection that has no use": (
        ONE_WIDTH,
        rename("classifier.dense.bias", PROJECTION),
        "missing-tensor",
        "classifier.dense.bias",
    ),
    "no projection": (CLASSIFIER, rename(PROJECTION, "other"), "missing-tensor", PROJECTION),
    "activation": (CLASSIFIER, configure(hidden_act="mish"), "activation-not-supported", "hidden_act 'mish'"),
    "layers": (CLASSIFIER, configure(num_hidden_layers=1), "unused-tensor", "encoder.layer.1"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


def test_the_projection_is_there_where_widths_differ() -> None:
    assert graph_of(folder(CLASSIFIER)).widths["embedded"] == 14
    assert "embedded" not in graph_of(folder(ONE_WIDTH)).widths
    assert graph_of(folder(ENCODER)).widths["embedded"] == 11
