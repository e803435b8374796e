# SPDX-License-Identifier: Apache-2.0
"""Folders of Qwen2's tokenizer, as transformers 5.23 reads them (AutoTokenizer was asked for the same folders)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codegen.errors import EtchError
from codegen.ir.normalizer_spec import NormalFormNormalizer
from codegen.ir.tokenizer_spec import AddedToken, Cl100kSegmenter, TokenizerSpec
from codegen.library_tokenizer.wheel_tokenizer import wheel_tokenizer
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.tokenizer import load_tokenizer

RECORDED = Path(__file__).resolve().parents[1] / "generation" / "qwen2" / "texts"
CONFIG, JSON, MAP = "tokenizer_config.json", "tokenizer.json", "special_tokens_map.json"
END = 281
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
STRIPPED = {"content": "[E]", "lstrip": True, "rstrip": False, "normalized": False, "single_word": False}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in (CONFIG, JSON):
        shutil.copy(RECORDED / name, tmp_path / name)
    return tmp_path


def change(path: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    values = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    edit(values)
    path.write_text(json.dumps(values), encoding="utf-8")


def read(place: Path) -> TokenizerSpec:
    return load_tokenizer(CheckpointFolder(place), 1000, None, "Qwen2Tokenizer")


def files_alone(place: Path) -> None:
    """vocab.json and merges.txt in the place of tokenizer.json."""
    model = json.loads((place / JSON).read_text(encoding="utf-8"))["model"]
    (place / "vocab.json").write_text(json.dumps(model["vocab"]), encoding="utf-8")
    lines = ["#version: 0.2", *(" ".join(pair) for pair in model["merges"]), ""]
    (place / "merges.txt").write_text("\n".join(lines), encoding="utf-8")
    (place / JSON).unlink()


@pytest.mark.parametrize("without_json", [False, True])
def test_ids_are_the_recorded_ones(without_json: bool, place: Path) -> None:
    if without_json:
        files_alone(place)
    spec = read(place)
    assert (spec.segmenter, spec.normalizer) == (Cl100kSegmenter(1), NormalFormNormalizer("NFC"))
    for text in json.loads((RECORDED / "texts.json").read_text(encoding="utf-8")):
        assert wheel_tokenizer(spec).encode(text["prompt"]).ids[: len(text["ids"])] == text["ids"]


def test_it_may_lack_tokens(place: Path) -> None:
    change(place / CONFIG, lambda values: values.update(unk_token=None, bos_token=None, pad_token=None))
    assert [token.id for token in read(place).added_tokens] == [END]


@pytest.mark.parametrize("named", ["LlamaTokenizerFast", "GPT2Tokenizer", "RobertaTokenizer", "Unheard"])
def test_another_class_does_not_count(named: str, place: Path) -> None:
    expected = read(place)
    change(place / CONFIG, lambda values: values.update(tokenizer_class=named))
    assert read(place) == expected


def test_special_tokens_have_no_flags(place: Path) -> None:
    files_alone(place)
    change(place / CONFIG, lambda values: values.update(eos_token=STRIPPED))
    plain = dict.fromkeys(("normalized", "single_word", "lstrip", "rstrip"), False)
    assert read(place).added_tokens[-1] == AddedToken(content="[E]", id=END + 1, special=True, **plain)


CONFLICTS: dict[str, tuple[str, Callable[[dict[str, Any]], object], str]] = {
    "no normal form": (JSON, lambda values: values.update(normalizer=None), "normalizer"),
    "other words": (JSON, lambda values: values.update(pre_tokenizer=BYTE_LEVEL), "another pre_tokenizer"),
    "flags": (JSON, lambda values: values["added_tokens"][0].update(single_word=True), "another added_tokens"),
}


@pytest.mark.parametrize("case", CONFLICTS)
def test_tokenizer_json_must_agree(case: str, place: Path) -> None:
    file, edit, words = CONFLICTS[case]
    change(place / file, edit)
    with pytest.raises(EtchError, match=words) as caught:
        read(place)
    assert caught.value.code == "tokenizer-conflict"


@pytest.mark.parametrize(
    ("of_map", "of_config", "says"),
    [
        ({"bos_token": "[B]"}, {"unk_token": "[U]"}, "say them in one file"),
        ({"cls_token": "[E]"}, {"eos_token": STRIPPED}, "other flags"),
    ],
)
def test_two_files_that_add_tokens(
    of_map: dict[str, str], of_config: dict[str, object], says: str, place: Path
) -> None:
    """In which order, or which of them counts, is not for a reader to know."""
    files_alone(place)
    change(place / MAP, lambda values: values.update(of_map))
    change(place / CONFIG, lambda values: values.update(of_config))
    with pytest.raises(EtchError, match=says) as caught:
        read(place)
    assert (caught.value.code, caught.value.file) == ("tokenizer-conflict", MAP)
