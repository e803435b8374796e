# SPDX-License-Identifier: Apache-2.0
"""RoCBert: which shape and pronunciation a word has, and what is refused. test_recorded_models.py has what the models
compute."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_changes import Change, add, assert_refused, changed, configure, graph_of
from tiny_checkpoint import write_json

from codegen import pipeline
from codegen.oracle.interpret import Interpreter

BOTH, SOUNDS, MASKS = "roc_bert/softmax", "roc_bert/sounds", "masks/roc_bert"
SHAPE_FILE, SOUND_FILE = "word_shape.json", "word_pronunciation.json"
WORD = 30


def number(name: str, **numbers: Any) -> Change:
    """Sets words of a file; None removes one."""

    def change(path: Path) -> None:
        words = json.loads((path / name).read_text()) | numbers
        write_json(path / name, {word: value for word, value in words.items() if value is not None})

    return change


def without(name: str) -> Change:
    return lambda path: (path / name).unlink()


def tokenizer(**settings: Any) -> Change:
    def change(path: Path) -> None:
        file = path / "tokenizer_config.json"
        write_json(file, json.loads(file.read_text()) | settings)

    return change


REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "means": (BOTH, configure(concat_input=False), "config-not-supported", "concat_input is false"),
    "a decoder": (BOTH, configure(is_decoder=True), "decoder-not-supported", "is_decoder"),
    "pre-training": (
        BOTH,
        configure(architectures=["RoCBertForPreTraining"]),
        "architecture-not-supported",
        "RoCBertForPreTraining",
    ),
    "no shapes": (BOTH, without(SHAPE_FILE), "tokenizer-missing", SHAPE_FILE),
    "no pronunciations": (SOUNDS, without(SOUND_FILE), "tokenizer-missing", SOUND_FILE),
    "no unknown shape": (BOTH, number(SHAPE_FILE, **{"[UNK]": None}), "missing-special-token", "[UNK]"),
    "no number": (BOTH, number(SOUND_FILE, the="la"), "config-type", "'the'"),
    "a negative number": (BOTH, number(SOUND_FILE, the=-1), "config-type", "-1"),
    "more shapes": (BOTH, number(SHAPE_FILE, the=11), "config-value", "shape_vocab_size is 11"),
    "the usual shapes": (BOTH, configure(shape_vocab_size=None), "wrong-shape", "24858"),
    "the usual width of shapes": (BOTH, configure(shape_embed_dim=None), "wrong-shape", "512"),
    "the usual pronunciations": (BOTH, configure(pronunciation_vocab_size=None), "wrong-shape", "910"),
    "the usual width of pronunciations": (BOTH, configure(pronunciation_embed_dim=None), "wrong-shape", "768"),
    "without what the linear reads": (BOTH, configure(enable_shape=False), "wrong-shape", "map_inputs_layer"),
    "accents": (BOTH, tokenizer(strip_accents=False), "tokenizer-setting", "composes"),
    "capitals": (BOTH, tokenizer(do_lower_case=False), "tokenizer-setting", "composes"),
    "words that are never parted": (BOTH, tokenizer(never_split=["the"]), "tokenizer-setting", "never_split"),
    "a tensor more": (BOTH, add("roc_bert.more", (2,)), "unused-tensor", "roc_bert.more"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


def output(path: Path, *ids: int) -> np.ndarray:
    return Interpreter(graph_of(path)).output([2, *ids, 3], [0] * (len(ids) + 2))


def word_of(variant: str, index: int) -> str:
    return (folder(variant) / "vocab.txt").read_text().splitlines()[index]


@pytest.mark.parametrize("file", [SHAPE_FILE, SOUND_FILE])
def test_numbers_are_those_of_the_files(file: str, tmp_path: Path) -> None:
    """Another number is another output, of texts with the word alone; a word without one has that of [UNK]."""
    word = word_of(BOTH, WORD)
    unknown = json.loads((folder(BOTH) / file).read_text())["[UNK]"]
    other = {name: tmp_path / name for name in ("none", "unknown", "another")}
    for (name, place), value in zip(other.items(), (None, unknown, unknown + 1), strict=True):
        place.mkdir()
        other[name] = changed(BOTH, number(file, **{word: value}), place)
    assert np.array_equal(output(other["none"], WORD), output(other["unknown"], WORD))
    assert not np.array_equal(output(other["none"], WORD), output(other["another"], WORD))
    assert np.array_equal(output(other["another"], WORD + 1), output(folder(BOTH), WORD + 1))


@pytest.mark.parametrize("token", ["[CLS]", "[SEP]"])
def test_the_tokens_around_are_unknown_ones(token: str, tmp_path: Path) -> None:
    """As the class has it, whatever the files say of them."""
    path = changed(BOTH, number(SHAPE_FILE, **{token: 7}), tmp_path)
    assert np.array_equal(output(path, WORD), output(folder(BOTH), WORD))


def test_what_is_not_enabled_is_not_read(tmp_path: Path) -> None:
    path = changed(SOUNDS, number(SHAPE_FILE, **{word_of(SOUNDS, WORD): 9}), tmp_path)
    assert np.array_equal(output(path, WORD), output(folder(SOUNDS), WORD))


def test_words_are_predicted_by_their_own_table() -> None:
    """Not by what the linear makes of them."""
    graph = graph_of(folder(MASKS))
    names = {parameter.name for parameter in (graph.body[0].terms[0].table, graph.body[-1].weight)}
    assert names == {"joined_embeddings", "word_embeddings"}


def test_notes() -> None:
    notes = pipeline.load(folder(BOTH)).notes
    assert any("capital sigma" in note for note in notes)
    assert any("tokens that stand around texts" in note for note in notes)
    assert not any("sigma" in note for note in pipeline.load(folder("ernie/softmax")).notes)
