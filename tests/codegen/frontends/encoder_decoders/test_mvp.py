# SPDX-License-Identifier: Apache-2.0
"""MVP as a family: what its folders may say, and what is refused. test_generation.py and test_recorded_models.py have
what its models compute."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, changed, configure, graph_of
from test_bart import CHARACTERS
from test_decoders import OWN_FILES, RECORDED
from test_decoders import graph_of as writer_of

from codegen.errors import EtchError
from codegen.oracle.interpret import Interpreter

CLASSES = "mvp/softmax"
IDS = [0, 70, 9, 12, 2]


def writer(out: Path, **changes: Any) -> Path:
    """The recorded checkpoint, whose tokens are characters."""
    shutil.copytree(RECORDED / "mvp" / "own", out, ignore=shutil.ignore_patterns(*OWN_FILES))
    config = json.loads((out / "config.json").read_text(encoding="utf-8")) | CHARACTERS | changes
    (out / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return out


def test_what_a_folder_says() -> None:
    graph = graph_of(folder(CLASSES))
    assert (graph.task.verb, graph.max_tokens, graph.notes, graph.target_rules) == ("classify", 14, (), None)


def test_two_labels_where_none_are_named(tmp_path: Path) -> None:
    """BART's class has three."""
    unnamed = configure(id2label=None, label2id=None)
    assert_refused(CLASSES, unnamed, "wrong-shape", "expected [2, 20]", tmp_path)


def test_keys_of_published_folders(tmp_path: Path) -> None:
    """Of RUCAIBox/mvp."""
    keys = {"prompt_length": 100, "prompt_mid_dim": 800, "use_prompt": False, "classif_dropout": 0.1}
    others = {"add_bias_logits": False, "gradient_checkpointing": False}
    graph = graph_of(changed(CLASSES, configure(**keys, **others), tmp_path))
    assert graph.notes == ()
    outputs = [Interpreter(one).output(IDS, [0] * len(IDS)) for one in (graph, graph_of(folder(CLASSES)))]
    assert np.array_equal(*outputs)


REFUSED: dict[str, tuple[Change, str, str]] = {
    "prompts": (configure(use_prompt=True), "config-not-supported", "use_prompt is true"),
    "another end": (configure(eos_token_id=70), "config-value", "eos_token_id is 70"),
    "BART's": (configure(architectures=["BartForSequenceClassification"]), "architecture-not-supported", "Mvp"),
    "an answerer's": (configure(architectures=["MvpForQuestionAnswering"]), "missing-tensor", "classifier.weight"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(CLASSES, *REFUSED[case], tmp_path)


def test_a_writer(tmp_path: Path) -> None:
    graph = writer_of(writer(tmp_path / "model"))
    assert graph.target_rules is not None
    assert (graph.task.verb, graph.notes, graph.target_rules.begin) == ("translate", (), (2,))
    for key, value, code in (
        ("use_prompt", True, "config-not-supported"),
        ("architectures", ["MvpForCausalLM"], "architecture-not-supported"),
        ("encoder_layers", 2, "missing-tensor"),
    ):
        with pytest.raises(EtchError) as caught:
            writer_of(writer(tmp_path / key, **{key: value}))
        assert caught.value.code == code
