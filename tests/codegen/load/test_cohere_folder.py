# SPDX-License-Identifier: Apache-2.0
"""Folders of Cohere's tokenizer, as transformers 5.23 reads them (AutoTokenizer was asked for the same folders)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from malformed import edit

from codegen.errors import EtchError
from codegen.ir.normalizer_spec import NormalFormNormalizer
from codegen.ir.tokenizer_spec import DigitsSegmenter, TokenizerSpec
from codegen.library_tokenizer.wheel_tokenizer import wheel_tokenizer
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.tokenizer import load_tokenizer

RECORDED = Path(__file__).resolve().parents[1] / "generation" / "cohere2" / "texts"
CONFIG, JSON = "tokenizer_config.json", "tokenizer.json"
PROMPTS = json.loads((RECORDED / "texts.json").read_text(encoding="utf-8"))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in (CONFIG, JSON):
        shutil.copy(RECORDED / name, tmp_path / name)
    return tmp_path


def read(place: Path) -> TokenizerSpec:
    return load_tokenizer(CheckpointFolder(place), 1000, None, "CohereTokenizer")


def ids_of(spec: TokenizerSpec, text: dict[str, Any]) -> list[int]:
    return wheel_tokenizer(spec).encode(text["prompt"]).ids[: len(text["ids"])]


def test_ids_are_the_recorded_ones(place: Path) -> None:
    spec = read(place)
    assert (spec.segmenter, spec.normalizer) == (DigitsSegmenter(False, individual=True), NormalFormNormalizer("NFC"))
    for text in PROMPTS:
        assert ids_of(spec, text) == text["ids"]


@pytest.mark.parametrize("begins", [True, False])
def test_without_tokenizer_json_a_setting_says_how_texts_begin(begins: bool, place: Path) -> None:
    model = json.loads((place / JSON).read_text(encoding="utf-8"))["model"]
    (place / "vocab.json").write_text(json.dumps(model["vocab"]), encoding="utf-8")
    lines = ["#version: 0.2", *(" ".join(pair) for pair in model["merges"]), ""]
    (place / "merges.txt").write_text("\n".join(lines), encoding="utf-8")
    (place / JSON).unlink()
    edit(CONFIG, lambda values: values.update(add_bos_token=begins))(place)
    spec = read(place)
    for text in PROMPTS:
        assert ids_of(spec, text | {"ids": text["ids"][not begins :]}) == text["ids"][not begins :]


def test_it_may_say_that_there_is_no_unknown_token(place: Path) -> None:
    """As those of Command-R do."""
    edit(CONFIG, lambda values: values.update(unk_token=None))(place)
    assert read(place).added_tokens == load_tokenizer(CheckpointFolder(RECORDED), 1000).added_tokens


def test_flags_of_tokens_that_no_file_names_are_the_class_s(place: Path) -> None:
    """The others keep those of tokenizer.json."""

    def strip(values: dict[str, Any]) -> None:
        next(token for token in values["added_tokens"] if token["content"] == "<MASK_TOKEN>").update(lstrip=True)

    edit(JSON, strip)(place)
    assert [token.content for token in read(place).added_tokens if token.lstrip] == ["<MASK_TOKEN>"]
    edit(CONFIG, lambda values: values.pop("mask_token"))(place)
    with pytest.raises(EtchError, match="another added_tokens") as caught:
        read(place)
    assert caught.value.code == "tokenizer-conflict"


CONFLICTS: dict[str, tuple[str, Callable[[dict[str, Any]], object], str]] = {
    "no normal form": (JSON, lambda values: values.update(normalizer=None), "normalizer"),
    "numbers of several digits": (
        JSON,
        lambda values: values["pre_tokenizer"]["pretokenizers"][0].update(individual_digits=False),
        "another pre_tokenizer",
    ),
    "a space before": (CONFIG, lambda values: values.update(add_prefix_space=True), "another pre_tokenizer"),
    "a token more": (CONFIG, lambda values: values.update(sep_token="<OTHER>"), "another added_tokens"),
}


@pytest.mark.parametrize("case", CONFLICTS)
def test_tokenizer_json_must_agree(case: str, place: Path) -> None:
    file, change, words = CONFLICTS[case]
    edit(file, change)(place)
    with pytest.raises(EtchError, match=words) as caught:
        read(place)
    assert caught.value.code == "tokenizer-conflict"
