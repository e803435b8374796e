# SPDX-License-Identifier: Apache-2.0
"""Splinter's front-end: the token that asks, and what is refused. test_recorded_models.py and the tests of tasks have
what its models compute."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, changed, configure, graph_of, rename

from codegen import pipeline
from codegen.errors import EtchError
from codegen.ir import graph as g
from codegen.ir.tokenizer_spec import TokenizerSpec
from codegen.library_tokenizer.wheel_tokenizer import wheel_tokenizer
from codegen.oracle.interpret import Interpreter

ANSWERS = "answers/splinter"
QUESTION, POINT = 5, 36
REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "rows of tokens alone": (ANSWERS, configure(architectures=["SplinterModel"]), "modules-missing", "SplinterModel"),
    "what was trained first": (
        ANSWERS,
        configure(architectures=["SplinterForPreTraining"]),
        "architecture-not-supported",
        "SplinterForQuestionAnswering",
    ),
    "a decoder": (ANSWERS, configure(is_decoder=True), "decoder-not-supported", "is_decoder"),
    "another token": (ANSWERS, configure(question_token_id=6), "config-value", "question_token_id 6"),
    "the usual token": (ANSWERS, configure(question_token_id=None), "config-value", "question_token_id 104"),
    "no such linear": (ANSWERS, rename("splinter_qass.end_classifier.weight", "other"), "missing-tensor", "end_class"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


def test_the_first_of_several_asks_and_else_the_first_token() -> None:
    """As the library finds it."""
    interpreter = Interpreter(graph_of(folder(ANSWERS)))
    (op,) = (op for op, _ in g.ops_of(interpreter.graph) if isinstance(op, g.RowOfToken))
    assert (op.id, op.input) == (QUESTION, "hidden")
    asked = interpreter.output([2, 9, QUESTION, 3, 8, QUESTION, 3], [0] * 7)
    assert asked.shape == (7, 2) and not np.array_equal(asked, interpreter.output([2, 9, 9, 3, 8, 9, 3], [0] * 7))


def tokenizer_of(path: Path) -> TokenizerSpec:
    return pipeline.load(path).tokenizer


def test_a_question_has_the_token_behind_it() -> None:
    """Ids are those of `transformers` 5.23; it tells the model of no segments."""
    spec = tokenizer_of(folder(ANSWERS))
    wheel = wheel_tokenizer(spec)
    assert wheel.encode("cat", "dog").ids == [2, 7, QUESTION, POINT, 3, 8, 3]
    assert wheel.encode("cat").ids == [2, 7, 3]
    assert wheel.encode("[QUESTION] cat").ids == [2, QUESTION, 7, 3]
    assert (spec.template.segments, wheel.encode("cat", "dog").type_ids) == (1, [0] * 7)


def tokenizer_changed(tmp_path: Path, **settings: Any) -> Path:
    path = changed(ANSWERS, configure(), tmp_path)
    file = path / "tokenizer_config.json"
    file.write_text(json.dumps(json.loads(file.read_text(encoding="utf-8")) | settings), encoding="utf-8")
    return path


def test_of_the_vocabulary_alone(tmp_path: Path) -> None:
    path = tokenizer_changed(tmp_path)
    described = json.loads((path / "tokenizer.json").read_text(encoding="utf-8"))
    (path / "tokenizer.json").unlink()
    vocab = described["model"]["vocab"]
    (path / "vocab.txt").write_text("".join(f"{piece}\n" for piece in sorted(vocab, key=vocab.get)), encoding="utf-8")
    assert wheel_tokenizer(tokenizer_of(path)).encode("cat", "dog").ids == [2, 7, QUESTION, POINT, 3, 8, 3]
    (path / "vocab.txt").write_text("\n".join(piece for piece in vocab if piece != "."), encoding="utf-8")
    with pytest.raises(Exception, match=r"missing-special-token.*the vocabulary has no '\.'"):
        tokenizer_of(path)


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"padding_side": "left"}, "tokenizer-setting"),
        ({"question_token": "cat"}, "tokenizer-setting"),
        ({"tokenizer_class": "BertTokenizer"}, "tokenizer-template"),
    ],
)
def test_templates_of_other_classes_are_refused(settings: dict[str, str], code: str, tmp_path: Path) -> None:
    with pytest.raises(EtchError) as caught:
        tokenizer_of(tokenizer_changed(tmp_path, **settings))
    assert caught.value.code == code
