# SPDX-License-Identifier: Apache-2.0
"""OpenAIGPTTokenizer's folders: ids are those that `transformers` 5.23 gave, and what they ask for besides is refused.
What it shares with HerbertTokenizer has test_herbert_folder.py."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from malformed import edit

from codegen.errors import EtchError
from codegen.ir.normalizer_spec import BertNormalizer
from codegen.ir.tokenizer_spec import CharacterBpeModel, TokenizerSpec
from codegen.library_tokenizer.wheel_tokenizer import wheel_tokenizer
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.tokenizer import load_tokenizer

RECORDED = Path(__file__).resolve().parents[1] / "generation" / "openai-gpt" / "texts"
CONFIG, JSON = "tokenizer_config.json", "tokenizer.json"
TEXTS = json.loads((RECORDED / "texts.json").read_text(encoding="utf-8"))
END = 93


@pytest.fixture(params=[JSON, "merges.txt"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder with this file."""
    for name in (CONFIG, JSON):
        shutil.copy(RECORDED / name, tmp_path / name)
    if request.param != JSON:
        model = json.loads((tmp_path / JSON).read_text(encoding="utf-8"))["model"]
        (tmp_path / "vocab.json").write_text(json.dumps(model["vocab"]), encoding="utf-8")
        lines = ["#version: 0.2", *(" ".join(pair) for pair in model["merges"]), ""]
        (tmp_path / "merges.txt").write_text("\n".join(lines), encoding="utf-8")
        (tmp_path / JSON).unlink()
    return tmp_path


def read(place: Path, class_in_config: str | None = None) -> TokenizerSpec:
    return load_tokenizer(CheckpointFolder(place), 1000, class_in_config, "OpenAIGPTTokenizer")


def set_config(place: Path, **values: Any) -> None:
    edit(CONFIG, lambda config: config.update(values))(place)


def test_ids_are_the_recorded_ones(place: Path) -> None:
    spec = read(place)
    assert spec.normalizer == BertNormalizer(True, True, True, True)
    assert isinstance(spec.model, CharacterBpeModel) and spec.model.marks_ends
    assert spec.template.segments == 1
    for text in TEXTS:
        assert wheel_tokenizer(spec).encode(text["prompt"]).ids[: len(text["ids"])] == text["ids"]


def test_a_folder_that_names_no_class(place: Path) -> None:
    set_config(place, tokenizer_class=None)
    assert read(place).template == read(place, "OpenAIGPTTokenizer").template


def test_ends_that_are_asked_for_where_no_tokenizer_json_says_them(place: Path) -> None:
    set_config(place, add_bos_token=True, add_eos_token=True)
    found = wheel_tokenizer(read(place)).encode("cat").ids
    assert found == ([84] if (place / JSON).exists() else [END, 84, END])


def in_json(**values: Any) -> Callable[[Path], None]:
    return edit(JSON, lambda described: described.update(values))


def in_model(**values: Any) -> Callable[[Path], None]:
    return edit(JSON, lambda described: described["model"].update(values))


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (in_json(normalizer=None), "tokenizer-conflict"),
        (in_json(pre_tokenizer={"type": "WhitespaceSplit"}), "tokenizer-conflict"),
        (in_json(pre_tokenizer={"type": "ByteLevel"}), "tokenizer-model"),
        (in_json(post_processor={"type": "BertProcessing", "sep": ["a", 1], "cls": ["b", 2]}), "tokenizer-template"),
        (in_model(end_of_word_suffix=None), "tokenizer-conflict"),
        (in_model(fuse_unk=True), "tokenizer-conflict"),
        (edit(CONFIG, lambda config: config.update(unk_token="?")), "missing-special-token"),
        (edit(CONFIG, lambda config: config.update(unk_token=None)), "missing-special-token"),
        (edit(CONFIG, lambda config: config.update(eos_token="<stop>")), "tokenizer-conflict"),
    ],
)
@pytest.mark.parametrize("place", [JSON], indirect=True)
def test_refused(place: Path, change: Callable[[Path], None], code: str) -> None:
    change(place)
    with pytest.raises(EtchError) as error:
        read(place)
    assert error.value.code == code
