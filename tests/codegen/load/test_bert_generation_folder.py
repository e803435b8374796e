# SPDX-License-Identifier: Apache-2.0
"""BertGenerationTokenizer's folder: its ids are those that `transformers` 5.23 gave, and what it asks for besides is
refused. end_to_end/tokenizer/test_bert_generation_tokenizer.py has the runtime's."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from recorded.outputs import folder
from sentencepiece_files import CONTROL, UNKNOWN, sentencepiece_file

from codegen.errors import EtchError
from codegen.ir.tokenizer_spec import TokenizerSpec
from codegen.library_tokenizer.wheel_tokenizer import wheel_tokenizer
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.tokenizer import load_tokenizer

SAVED = folder("bert-generation/mean")
ROWS = 80 + 1
IDS = {
    "the cat and a king": [5, 7, 13, 6, 5, 18, 8, 7, 5, 8, 11, 15, 5, 8, 5, 27, 37],
    "  the   catering\n": [5, 7, 13, 6, 5, 18, 8, 7, 6, 14, 37, 3],
    "x\u00e9\u4e2d the": [5, 30, 3, 5, 7, 13, 6],
    "</s>the <::::> cat": [1, 5, 7, 13, 6, 4, 5, 18, 8, 7],
    "<unk>": [3],
    "< s>": [5, 3, 5, 12, 3],
    "12 3 39": [5, 53, 5, 44, 5, 80],
    "": [],
    " ": [],
    "\u2581the": [5, 5, 7, 13, 6],
    "THE the": [5, 3, 5, 7, 13, 6],
    "a<pad>a": [5, 8, 0, 5, 8],
    "\u2581": [],
    "the\u3000cat": [5, 7, 13, 6, 3, 18, 8, 7],
}
FIRST = [("<pad>", CONTROL), ("</s>", CONTROL), ("<s>", CONTROL), ("<unk>", UNKNOWN), ("<::::>", CONTROL)]
PIECES = [("\u2581", -1.0), ("\u2581a", -2.0), ("b", -3.0)]
NAMED = {"tokenizer_class": "BertGenerationTokenizer"}


def read(place: Path, model: bytes | None, rows: int = ROWS, **config: Any) -> TokenizerSpec:
    """Of a folder with this spiece.model, None: without one."""
    if model is not None:
        (place / "spiece.model").write_bytes(model)
    (place / "tokenizer_config.json").write_text(json.dumps(NAMED | config))
    return load_tokenizer(CheckpointFolder(place), rows)


def test_ids_are_those_of_the_library() -> None:
    spec = load_tokenizer(CheckpointFolder(SAVED), ROWS)
    library = wheel_tokenizer(spec)
    assert {text: library.encode(text).ids for text in IDS} == IDS
    assert library.encode("the", "cat").ids == [5, 7, 13, 6, 5, 18, 8, 7]
    assert [token.content for token in spec.added_tokens] == ["<pad>", "</s>", "<s>", "<unk>", "<::::>"]
    assert spec.template.segments == 1 and spec.notes == ()


def test_the_class_of_the_family_is_enough(tmp_path: Path) -> None:
    shutil.copy(SAVED / "spiece.model", tmp_path)
    spec = load_tokenizer(CheckpointFolder(tmp_path), ROWS, None, "BertGenerationTokenizer")
    assert wheel_tokenizer(spec).encode("the cat").ids == IDS["the cat and a king"][:8]


def test_tokens_that_are_no_pieces_come_behind_them(tmp_path: Path) -> None:
    spec = read(tmp_path, sentencepiece_file(FIRST[:4], PIECES), bos_token="<begin>")
    assert {token.content: token.id for token in spec.added_tokens}.items() >= {"<begin>": 7, "<::::>": 8}.items()
    assert wheel_tokenizer(spec).encode("a<::::>b<begin>").ids == [5, 8, 4, 6, 7]


OWN = sentencepiece_file(FIRST, PIECES)
FLAGS = dict.fromkeys(("normalized", "single_word", "lstrip", "rstrip"), False)
TOKEN = {"content": "<::::>", "special": True, **FLAGS}
REFUSED: dict[str, tuple[bytes | None, dict[str, Any], str, str]] = {
    "no file": (None, {}, "tokenizer-missing", "spiece.model"),
    "sampling": (OWN, {"sp_model_kwargs": {"enable_sampling": True}}, "tokenizer-setting", "sp_model_kwargs"),
    "another reading": (OWN, {"legacy": False}, "tokenizer-setting", "legacy"),
    "another reading, null": (OWN, {"legacy": None}, "tokenizer-setting", "legacy"),
    "segments": (OWN, {"model_input_names": ["input_ids", "token_type_ids"]}, "tokenizer-setting", "no segments"),
    "a begin": (OWN, {"add_bos_token": True}, "tokenizer-setting", "add_bos_token"),
    "merges": (sentencepiece_file(FIRST, PIECES, model_type=2), {}, "sentencepiece-type", "of type 2"),
    "a piece twice": (sentencepiece_file(FIRST, [*PIECES, ("b", -4.0)]), {}, "sentencepiece-malformed", "b"),
    "an id apart": (
        OWN,
        {"added_tokens_decoder": {"90": TOKEN | {"content": "<x>"}}},
        "tokenizer-conflict",
        "neither those of pieces",
    ),
    "another id of a piece": (OWN, {"added_tokens_decoder": {"8": TOKEN}}, "tokenizer-conflict", "neither those"),
    "white space": (
        OWN,
        {"added_tokens_decoder": {"4": TOKEN | {"rstrip": True}}},
        "added-token-unsupported",
        "rstrip",
    ),
    "another unknown piece": (OWN, {"unk_token": "b"}, "tokenizer-conflict", "another piece than the unknown one"),
    "a token more": (OWN, {"extra_special_tokens": ["<y>"]}, "tokenizer-conflict", "<y>"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    model, config, code, words = REFUSED[case]
    with pytest.raises(EtchError) as caught:
        read(tmp_path, model, **config)
    assert caught.value.code == code
    assert words in str(caught.value)


def test_two_tokenizers_are_refused(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(EtchError) as caught:
        read(tmp_path, OWN)
    assert (caught.value.code, caught.value.file) == ("tokenizer-conflict", "tokenizer.json")


def test_rows_are_enough(tmp_path: Path) -> None:
    with pytest.raises(EtchError) as caught:
        read(tmp_path, sentencepiece_file(FIRST[:4], [*PIECES, ("c", -5.0)]), rows=8)
    assert caught.value.code == "token-id-out-of-range"
