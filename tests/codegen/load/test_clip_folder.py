# SPDX-License-Identifier: Apache-2.0
"""Folders of CLIP's tokenizer, as transformers 5.23 reads them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codegen.errors import EtchError
from codegen.ir.tokenizer_spec import ByteLevelSegmenter, ClipSegmenter, SplitSegmenter, TokenizerSpec
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.tokenizer import load_tokenizer
from codegen.load.tokenizer_files.tokenizer_json.byte_level_segmenters import CLIP_EXPRESSION
from codegen.tokenizer.byte_level_bpe import compile_byte_level_bpe
from codegen.vocabulary.prunable import spelling_ids

RECORDED = Path(__file__).resolve().parents[1] / "recorded" / "clip_text_model"
JSON, CONFIG = "tokenizer.json", "tokenizer_config.json"
OLD_EXPRESSION = CLIP_EXPRESSION.split("endoftext\\|>|")[1]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in (CONFIG, JSON):
        shutil.copy(RECORDED / "pooled" / name, tmp_path / name)
    return tmp_path


def change(file: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    values = json.loads(file.read_text(encoding="utf-8"))
    edit(values)
    file.write_text(json.dumps(values), encoding="utf-8")


def read(place: Path, name: str = "CLIPTokenizer") -> TokenizerSpec:
    return load_tokenizer(CheckpointFolder(place), 1000, None, name)


def expression(text: str, **changes: object) -> Callable[[dict[str, Any]], object]:
    def edit(values: dict[str, Any]) -> None:
        split = values["pre_tokenizer"]["pretokenizers"][0]
        split["pattern"] = {"Regex": text}
        split.update(changes)

    return edit


def test_older_files_are_the_same(place: Path) -> None:
    for spec in (read(place), read(RECORDED / "linear")):
        assert isinstance(spec.segmenter, ClipSegmenter) and spec.model.marks_ends
        assert [part.content for part in spec.template.single] == [525, "A", 526]
        assert [part.content for part in spec.template.pair] == [525, "A", 526, 526, "B", 526]
    assert read(place).model == read(RECORDED / "linear").model


def test_the_expression_of_older_files_counts(place: Path) -> None:
    change(place / JSON, expression(OLD_EXPRESSION))
    spec = read(place)
    assert isinstance(spec.segmenter, SplitSegmenter) and spec.segmenter.inner == ByteLevelSegmenter(False)
    assert any("CLIPTokenizer of transformers has another pre_tokenizer" in note for note in spec.notes)


CONFLICTS: dict[str, tuple[Callable[[dict[str, Any]], object], str, str]] = {
    "no lower case": (lambda values: values["normalizer"]["normalizers"].pop(), "tokenizer-conflict", "normalizer"),
    "another template": (
        lambda values: values["post_processor"].update(sep=["!", 0]),
        "tokenizer-conflict",
        "another post_processor",
    ),
    "another suffix": (
        lambda values: values["model"].update(end_of_word_suffix="@@"),
        "tokenizer-setting",
        "end_of_word_suffix",
    ),
    "kept white space": (expression(CLIP_EXPRESSION, behavior="Isolated"), "tokenizer-setting", "end_of_word_suffix"),
    "what lies between": (expression(OLD_EXPRESSION, invert=False), "tokenizer-setting", "end_of_word_suffix"),
    "another expression": (expression(OLD_EXPRESSION + "|x"), "tokenizer-setting", "end_of_word_suffix"),
    "no expression behind": (
        lambda values: values["pre_tokenizer"]["pretokenizers"][1].update(use_regex=False),
        "tokenizer-setting",
        "end_of_word_suffix",
    ),
    "words that may have the mark inside": (
        lambda values: values.update(pre_tokenizer=values["pre_tokenizer"]["pretokenizers"][1]),
        "tokenizer-setting",
        "end_of_word_suffix",
    ),
}


@pytest.mark.parametrize("case", CONFLICTS)
def test_refused(case: str, place: Path) -> None:
    edit, code, words = CONFLICTS[case]
    change(place / JSON, edit)
    with pytest.raises(EtchError, match=words) as caught:
        read(place)
    assert caught.value.code == code


def test_a_word_may_end_with_any_byte(place: Path) -> None:
    """Without a piece for it, there."""

    def edit(values: dict[str, Any]) -> None:
        vocab = values["model"]["vocab"]
        vocab["rare"] = vocab.pop("q</w>")

    change(place / JSON, edit)
    with pytest.raises(EtchError, match="the byte 0x71 at the end of a word"):
        compile_byte_level_bpe(read(place).model, [], None)


def test_what_words_are_spelled_with(place: Path) -> None:
    """When a vocabulary is cut: each byte, within a word and at its end."""
    assert spelling_ids(read(place).model) == list(range(512))
