# SPDX-License-Identifier: Apache-2.0
"""ByT5Tokenizer's folder: its ids are those that `transformers` 5.23 gave, and what it asks for besides is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

from codegen.errors import EtchError
from codegen.ir.tokenizer_spec import TokenizerSpec
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.tokenizer import load_tokenizer

# Of the class alone.
IDS = {
    "h\u00e9llo": [107, 198, 172, 111, 111, 114, 1],
    "a </s> b": [100, 1, 101, 1],
    "x  <extra_id_0> y": [123, 35, 35, 259, 35, 124, 1],
    "<pad>": [0, 1],
    "": [1],
    "<extra_id_12><extra_id_1>": [271, 260, 1],
}
FLAGS = dict.fromkeys(("single_word", "lstrip", "rstrip"), False) | {"normalized": True}
PUBLISHED = {key: {"content": f"<{key[:3]}>", **FLAGS} for key in ("unk_token", "pad_token")} | {
    "eos_token": {"content": "</s>", **FLAGS},
    "extra_ids": 125,
    "additional_special_tokens": [f"<extra_id_{i}>" for i in range(125)],
}
END = "a text that ends with </s> gets another one, ByT5Tokenizer adds none"
BESIDE = "U+001C to U+001F beside special tokens stay, ByT5Tokenizer takes them for white space"


def read(place: Path, rows: int = 384, special_map: dict[str, Any] | None = None, **config: Any) -> TokenizerSpec:
    (place / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "ByT5Tokenizer", **config}))
    if special_map is not None:
        (place / "special_tokens_map.json").write_text(json.dumps(special_map))
    return load_tokenizer(CheckpointFolder(place), rows, None, "T5Tokenizer")


def ids(spec: TokenizerSpec, *texts: str) -> list[int]:
    return Tokenizer.from_str(spec.json).encode(*texts).ids


def test_ids_are_those_of_the_library(tmp_path: Path) -> None:
    spec = read(tmp_path)
    assert {text: ids(spec, text) for text in IDS} == IDS
    assert ids(spec, "ab", "cd") == [100, 101, 1, 102, 103, 1]
    assert (spec.summary, spec.template.segments, spec.notes) == ("bytes", 1, (END, BESIDE))
    assert len([token for token in spec.added_tokens if token.special]) == 128


def test_the_published_files(tmp_path: Path) -> None:
    """Their tokens leave white space as it is."""
    spec = read(tmp_path, **PUBLISHED)
    assert {text: ids(spec, text) for text in IDS} == IDS | {"a </s> b": [100, 35, 1, 35, 101, 1]}
    assert spec.notes == (END,)


def test_the_class_of_the_model(tmp_path: Path) -> None:
    """config.json names it, too, and no other file has to be there."""
    spec = load_tokenizer(CheckpointFolder(tmp_path), 384, "ByT5Tokenizer", "T5Tokenizer")
    assert {text: ids(spec, text) for text in IDS} == IDS


def test_other_tokens_behind_the_bytes(tmp_path: Path) -> None:
    spec = read(tmp_path, rows=261, extra_ids=0, extra_special_tokens=["<de>", "<fr>"])
    assert ids(spec, "<fr>a<extra_id_0>") == [260, 100, *(3 + byte for byte in b"<extra_id_0>"), 1]
    spec = read(tmp_path, rows=261, extra_ids=1)
    assert ids(spec, "<extra_id_0>") == [259, 1]
    assert "vocab_size is 261, the tokenizer produces ids up to 259" in spec.notes


@pytest.mark.parametrize(
    ("code", "words", "config"),
    [
        ("config-type", "'extra_ids' must be an integer from 0, got true", {"extra_ids": True}),
        ("tokenizer-conflict", "'extra_ids' is 3, the files list 125", {**PUBLISHED, "extra_ids": 3}),
        ("tokenizer-conflict", "two of pad_token, eos_token, unk_token are one token", {"pad_token": "</s>"}),
        ("tokenizer-conflict", "not those from 259 on", {"decoder": 261}),
        ("tokenizer-conflict", "'<pad>' has the id 259, for ByT5Tokenizer it is 0", {"decoder": 259, "text": "<pad>"}),
        ("tokenizer-setting", "'extra_special_tokens': '<x>' beside", {"extra_special_tokens": {"image": "<x>"}}),
        ("tokenizer-setting", "'bos_token': '<s>' beside", {"bos_token": "<s>"}),
        ("tokenizer-setting", "tells the model of no segments", {"model_input_names": ["token_type_ids"]}),
        ("added-token-unsupported", "is one character", {"extra_ids": 0, "extra_special_tokens": ["\u00e9"]}),
        ("added-token-unsupported", "(single_word)", {"eos_token": {"content": "</s>", **FLAGS, "single_word": True}}),
        ("added-token-unsupported", "inside of it", {"extra_ids": 0, "extra_special_tokens": ["a<b"]}),
        ("token-id-out-of-range", "has the id 383", {"rows": 383}),
        ("tokenizer-setting", "say it in tokenizer_config.json", {"special_map": {"eos_token": "<end>"}}),
    ],
)
def test_refused(code: str, words: str, config: dict[str, Any], tmp_path: Path) -> None:
    asked = dict(config)
    number, text = asked.pop("decoder", None), asked.pop("text", "<x>")
    if number is not None:
        asked["added_tokens_decoder"] = {str(number): {"content": text, **FLAGS, "special": True}}
    with pytest.raises(EtchError) as caught:
        read(tmp_path, **asked)
    assert caught.value.code == code
    assert words in caught.value.message


def test_a_tokenizer_json_beside_it(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(EtchError, match="is made without this file"):
        read(tmp_path)
