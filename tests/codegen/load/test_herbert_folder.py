# SPDX-License-Identifier: Apache-2.0
"""HerbertTokenizer's folders: ids are those that `transformers` 5.23 gave, and what they ask for besides is refused."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from herbert_files import herbert_folders
from tokenizers import Tokenizer

from codegen.errors import EtchError
from codegen.ir.normalizer_spec import BertNormalizer
from codegen.ir.tokenizer_spec import CharacterBpeModel, TokenizerSpec
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.tokenizer import load_tokenizer

Files = dict[str, Any]
FOLDERS = herbert_folders()
IDS = {
    "The cat, on Berlin": [0, 79, 81, 68, 83, 88, 15, 13, 53, 2],
    "aaaa workxy": [0, 84, 5, 41, 94, 86, 2],
    "in inn": [0, 13, 53, 87, 53, 2],
    "caf\u00e9 \u4e2dcat": [0, 7, 5, 10, 74, 75, 81, 2],
    "<mask> the\n<s>": [0, 4, 77, 0, 2],
    "": [0, 2],
    "zq the_cat": [0, 27, 3, 77, 70, 81, 2],
}


def read(place: Path, name: str, change: Callable[[Files], object] = lambda _: None) -> TokenizerSpec:
    files = copy.deepcopy(FOLDERS[name])
    change(files)
    for file, content in files.items():
        (place / file).write_text(content if isinstance(content, str) else json.dumps(content))
    return load_tokenizer(CheckpointFolder(place), 200)


def ids(spec: TokenizerSpec, *texts: str) -> list[int]:
    return Tokenizer.from_str(spec.json).encode(*texts).ids


@pytest.mark.parametrize("name", FOLDERS)
def test_ids_are_those_of_the_library(name: str, tmp_path: Path) -> None:
    """As it is, tokenizer.json has no template here."""
    spec = read(tmp_path, name)
    ends = not name.endswith("as in json")
    expected = IDS if ends else {text: all_ids[1:-1] for text, all_ids in IDS.items()}
    assert {text: ids(spec, text) for text in IDS} == expected
    assert ids(spec, "the", "cat") == ([0, 77, 2, 81, 2] if ends else [77, 81])
    assert (spec.template.segments, spec.summary) == (1, "BPE of characters")
    assert spec.normalizer == BertNormalizer(True, True, False, False)
    assert isinstance(spec.model, CharacterBpeModel) and spec.model.marks_ends


def test_segments_where_the_model_is_told_of_them(tmp_path: Path) -> None:
    def change(files: Files) -> None:
        files["tokenizer_config.json"]["model_input_names"] = ["input_ids", "token_type_ids"]

    assert read(tmp_path, "herbert", change).template.segments == 2


def config(**values: Any) -> Callable[[Files], None]:
    return lambda files: files["tokenizer_config.json"].update(values)


def in_json(key: str, value: Any) -> Callable[[Files], None]:
    return lambda files: files["tokenizer.json"].update({key: value})


def in_model(**values: Any) -> Callable[[Files], None]:
    return lambda files: files["tokenizer.json"]["model"].update(values)


@pytest.mark.parametrize(
    ("name", "change", "code"),
    [
        ("herbert", config(cls_token="<mask>"), "tokenizer-template"),
        ("herbert, merges.txt", config(sep_token="<pad>"), "tokenizer-template"),
        ("herbert", in_json("normalizer", None), "tokenizer-conflict"),
        ("herbert", in_json("pre_tokenizer", {"type": "WhitespaceSplit"}), "tokenizer-conflict"),
        ("herbert", in_json("post_processor", None), "tokenizer-conflict"),
        ("herbert", in_model(end_of_word_suffix=None), "tokenizer-conflict"),
        ("herbert", in_model(fuse_unk=True), "tokenizer-conflict"),
        ("herbert", in_json("pre_tokenizer", {"type": "ByteLevel"}), "tokenizer-model"),
        ("herbert", lambda files: files.update({"merges.txt": "a b"}), "tokenizer-conflict"),
        ("herbert, merges.txt", lambda files: files.pop("merges.txt"), "tokenizer-missing"),
        ("herbert", config(image_token="<image>"), "tokenizer-conflict"),
        ("herbert, as in json", in_model(ignore_merges=True), "tokenizer-setting"),
        ("herbert, as in json", in_model(end_of_word_suffix="</x>"), "tokenizer-setting"),
        (
            "herbert, as in json",
            in_json("pre_tokenizer", {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always"}),
            "tokenizer-setting",
        ),
    ],
)
def test_refused(name: str, change: Callable[[Files], None], code: str, tmp_path: Path) -> None:
    with pytest.raises(EtchError) as error:
        read(tmp_path, name, change)
    assert error.value.code == code
