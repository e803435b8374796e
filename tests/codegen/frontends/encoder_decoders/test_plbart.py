# SPDX-License-Identifier: Apache-2.0
"""PLBART as a family: what its folders may say, and what is refused. lower/test_generation.py has what it writes,
test_recorded_models.py what its classifier computes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, changed, configure, graph_of
from test_decoders import folder as writer
from test_decoders import graph_of as writer_of

from codegen.errors import EtchError
from codegen.oracle.interpret import Interpreter

CLASSES = "plbart/softmax"
IDS = [0, 70, 9, 12, 2]


def output(path: Path) -> np.ndarray:
    return Interpreter(graph_of(path)).output(IDS, [0] * len(IDS))


def test_what_a_folder_says() -> None:
    graph = graph_of(folder(CLASSES))
    assert (graph.task.verb, graph.max_tokens, graph.notes, graph.target_rules) == ("classify", 14, (), None)


def test_what_no_key_says(tmp_path: Path) -> None:
    """Words are scaled; the decoder begins with the end of a text, whatever the configuration says of targets."""
    unsaid = changed(CLASSES, configure(scale_embedding=None, decoder_start_token_id=70), tmp_path)
    assert np.array_equal(output(unsaid), output(folder(CLASSES)))


REFUSED: dict[str, tuple[Change, str, str]] = {
    "another end": (configure(eos_token_id=70), "config-value", "eos_token_id is 70"),
    "padding that texts have": (configure(pad_token_id=2), "config-value", "pad_token_id 2"),
    "two labels": (configure(id2label=None, label2id=None), "wrong-shape", "expected [2, 20]"),
    "BART's": (configure(architectures=["BartForSequenceClassification"]), "architecture-not-supported", "PLBart"),
    "an answerer's": (
        configure(architectures=["PLBartForQuestionAnswering"]),
        "architecture-not-supported",
        "PLBartForConditionalGeneration",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(CLASSES, *REFUSED[case], tmp_path)


def test_a_writer(tmp_path: Path) -> None:
    graph = writer_of(writer(tmp_path / "model", "plbart"))
    assert graph.target_rules is not None
    assert (graph.task.verb, graph.notes, graph.target_rules.begin) == ("translate", (), (42,))


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"architectures": ["PLBartForCausalLM"]}, "architecture-not-supported"),
        ({"encoder_layers": 2}, "missing-tensor"),
        ({"max_position_embeddings": 25}, "wrong-shape"),
    ],
)
def test_writers_that_are_refused(changes: dict[str, Any], code: str, tmp_path: Path) -> None:
    with pytest.raises(EtchError) as caught:
        writer_of(writer(tmp_path / "model", "plbart", **changes))
    assert caught.value.code == code
