# SPDX-License-Identifier: Apache-2.0
"""CanineTokenizer's folders: ids are those that `transformers` 5.23 gave, and what they ask for besides is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from codegen.errors import EtchError
from codegen.ir.character_models import CODE_POINTS, CodePointsModel
from codegen.ir.tokenizer_spec import TokenizerSpec
from codegen.library_tokenizer.wheel_tokenizer import wheel_tokenizer
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.tokenizer import load_tokenizer

BEGIN, END, MASK = 0xE000, 0xE001, 0xE003
TEXT = "a \ue003 b \0 \ue000"
FLAGS = {"single_word": False, "lstrip": True, "rstrip": True, "normalized": False}


def read(place: Path, **settings: Any) -> TokenizerSpec:
    (place / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "CanineTokenizer", **settings}))
    return load_tokenizer(CheckpointFolder(place), CODE_POINTS)


def ids(spec: TokenizerSpec, *texts: str) -> list[int]:
    return wheel_tokenizer(spec).encode(*texts).ids


def listed(text: str, **changes: object) -> dict[str, object]:
    """As added_tokens_decoder has it."""
    return {str(ord(text)): {"content": text, "special": True, **FLAGS, **changes}}


def test_ids_are_code_points(tmp_path: Path) -> None:
    spec = read(tmp_path)
    assert ids(spec, TEXT) == [BEGIN, 97, 32, MASK, 32, 98, 32, 0, 32, BEGIN, END]
    assert ids(spec, "a\U0001f389", "\u4e2d") == [BEGIN, 97, 0x1F389, END, 0x4E2D, END]
    assert wheel_tokenizer(spec).encode("a", "b").type_ids == [0] * 5
    assert (spec.model, spec.template.segments, spec.summary) == (CodePointsModel(), 1, "code points")
    assert {token.id for token in spec.added_tokens} == {0, BEGIN, END, MASK}
    assert not spec.is_of_wheel and not spec.notes


def test_white_space_beside_a_token_is_what_the_list_says(tmp_path: Path) -> None:
    """The class drops the flags that a file gives a token otherwise."""
    spec = read(tmp_path, added_tokens_decoder=listed("\ue003"))
    assert ids(spec, TEXT) == [BEGIN, 97, MASK, 98, 32, 0, 32, BEGIN, END]
    assert any("U+001C" in note for note in spec.notes)
    spec = read(tmp_path, mask_token={"content": "\ue003", **FLAGS})
    assert ids(spec, TEXT) == [BEGIN, 97, 32, MASK, 32, 98, 32, 0, 32, BEGIN, END]
    assert any("takes no white space" in note for note in spec.notes)


def test_other_characters_may_be_special(tmp_path: Path) -> None:
    assert ids(read(tmp_path, cls_token="a"), "b") == [97, 98, END]


def test_files_beside_it(tmp_path: Path) -> None:
    (tmp_path / "special_tokens_map.json").write_text(json.dumps({"mask_token": {"content": "\ue003", **FLAGS}}))
    (tmp_path / "added_tokens.json").write_text(json.dumps({"a": 97}))
    assert ids(read(tmp_path), TEXT) == [BEGIN, 97, 32, MASK, 32, 98, 32, 0, 32, BEGIN, END]


REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], str, str]] = {
    "a longer token": ({"pad_token": "[PAD]"}, {}, "added-token-unsupported", "no single character"),
    "a listed one": (
        {"added_tokens_decoder": {"1114112": {"content": "<x>", "special": True, **FLAGS}}},
        {},
        "added-token-unsupported",
        "1114112",
    ),
    "more of them": ({"additional_special_tokens": ["<x>"]}, {}, "tokenizer-conflict", "additional_special_tokens"),
    "another key": ({"unk_token": "b"}, {}, "tokenizer-conflict", "unk_token"),
    "no end": ({"sep_token": None}, {}, "config-type", "sep_token"),
    "another id": (
        {"added_tokens_decoder": {"98": {"content": "a", "special": True, **FLAGS}}},
        {},
        "tokenizer-conflict",
        "98",
    ),
    "whole words": (
        {"added_tokens_decoder": listed("\ue003", single_word=True)},
        {},
        "added-token-unsupported",
        "single_word",
    ),
    "the other file": ({}, {"tokenizer.json": {}}, "tokenizer-conflict", "made without this file"),
    "an id of its own": ({}, {"added_tokens.json": {"b": CODE_POINTS}}, "tokenizer-conflict", "1114112"),
    "split tokens": ({"split_special_tokens": True}, {}, "tokenizer-setting", "split_special_tokens"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    settings, files, code, words = REFUSED[case]
    for name, content in files.items():
        (tmp_path / name).write_text(json.dumps(content))
    with pytest.raises(EtchError, match=words) as error:
        read(tmp_path, **settings)
    assert error.value.code == code
