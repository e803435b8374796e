# SPDX-License-Identifier: Apache-2.0
"""BlenderbotTokenizer's folder: GPT-2's parts with a space before a text, and a mask that takes spaces. Ids are those
that `transformers` 5.23 gave."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from codegen.errors import EtchError
from codegen.ir.tokenizer_spec import TokenizerSpec
from codegen.library_tokenizer.wheel_tokenizer import wheel_tokenizer
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.tokenizer import load_tokenizer

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "recorded"))
from vocabularies import MERGES, ROBERTA_VOCABULARY

ROWS = len(ROBERTA_VOCABULARY)
IDS = {
    "the cat": [262, 278],
    " the cat": [262, 278],
    "a  <mask>b <s>x</s>": [264, 285, 224, 69, 224, 0, 224, 91, 2],
    "": [],
    "in and": [224, 263, 264, 81, 71],
}
STRIPPING = {"content": "<mask>", "lstrip": True, "rstrip": False, "single_word": False, "normalized": False}


def read(place: Path, special: dict[str, Any] | None = None, **config: Any) -> TokenizerSpec:
    """Of a folder without tokenizer.json."""
    merges = "\n".join(("#version: 0.2", *MERGES, ""))
    (place / "vocab.json").write_text(json.dumps({piece: i for i, piece in enumerate(ROBERTA_VOCABULARY)}))
    (place / "merges.txt").write_text(merges, encoding="utf-8")
    (place / "tokenizer_config.json").write_text(json.dumps(config))
    if special is not None:
        (place / "special_tokens_map.json").write_text(json.dumps(special))
    return load_tokenizer(CheckpointFolder(place), ROWS, None, "BlenderbotTokenizer")


@pytest.mark.parametrize(
    ("config", "end"),
    [
        ({}, []),
        ({"mask_token": "<mask>"}, []),
        ({"mask_token": STRIPPING}, []),
        ({"add_eos_token": True}, [2]),
        ({"tokenizer_class": "BlenderbotTokenizer", "add_prefix_space": True}, []),
    ],
)
def test_ids_are_those_of_the_library(config: dict[str, Any], end: list[int], tmp_path: Path) -> None:
    library = wheel_tokenizer(read(tmp_path, **config))
    assert {text: library.encode(text).ids for text in IDS} == {text: [*ids, *end] for text, ids in IDS.items()}


def test_no_space_where_a_setting_says_so(tmp_path: Path) -> None:
    assert wheel_tokenizer(read(tmp_path, add_prefix_space=False)).encode("the cat").ids == [261, 278]


def test_a_mask_of_another_file_says_that_it_strips(tmp_path: Path) -> None:
    """The class makes a bare one such."""
    with pytest.raises(EtchError) as caught:
        read(tmp_path, {"mask_token": "<mask>"})
    assert (caught.value.code, caught.value.file) == ("tokenizer-setting", "tokenizer_config.json")
    assert wheel_tokenizer(read(tmp_path, {"mask_token": STRIPPING})).encode("a  <mask>").ids == [264, 285]
