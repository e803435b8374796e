# SPDX-License-Identifier: Apache-2.0
"""BioGptTokenizer's folders: ids are those that `transformers` 5.23 gave with `sacremoses` 0.2.0, and what they ask for
besides is refused."""

from __future__ import annotations

import json
import string
import sys
from pathlib import Path
from typing import Any

import pytest
from moses_files import write_folder

from codegen.errors import EtchError
from codegen.ir.tokenizer_spec import CharacterBpeModel, MosesSegmenter, TokenizerSpec
from codegen.library_tokenizer.wheel_tokenizer import wheel_tokenizer
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files import moses_library
from codegen.load.tokenizer_files.tokenizer import load_tokenizer

# The last pair is there twice: its last place counts. Some pieces go through what has no id.
PAIRS = (
    *(("i", "n"), ("in", "g</w>"), ("D", "r"), ("Dr", ".</w>"), ("&", "a"), ("&a", "pos"), ("p", "o"), ("po", "s")),
    *(
        ("&apos", ";</w>"),
        ("&apos", ";"),
        ("N", "o"),
        ("No", ".</w>"),
        ("@", "-"),
        ("@-", "@</w>"),
        ("e", "n"),
        ("i", "n"),
    ),
)
PIECES = (
    *(letter + end for end in ("", "</w>") for letter in string.ascii_letters + string.digits + ".,'-&;"),
    *("ing</w>", "Dr.</w>", "&apos;", "&apos;</w>", "No.</w>", "@-@</w>", "No", "in"),
)
IDS = {
    "": [2],
    "Dr. No. 5 in.": [2, 141, 144, 129, 12, 85, 134],
    "No. a": [2, 144, 72],
    "No. A": [2, 43, 86, 134, 98],
    "in-a -b- c": [2, 12, 85, 145, 72, 69, 5, 137, 74],
    "a.b. C": [2, 4, 66, 5, 134, 100],
    "it's going 'in' the DOTMULTIs": [2, 12, 91, 142, 90, 10, 18, 140, 143, 12, 85, 143, 23, 11, 76, 66, 90],
    "x... .. .": [2, 95, 66, 66, 134, 66, 134, 134],
    "5,300 a,b ,,5, 5,": [2, 61, 67, 59, 56, 124, 72, 135, 73, 135, 67, 129, 135, 129, 135],
    "a.'": [2, 72, 134, 143],
    "J.R. in</s>a<s>b": [2, 39, 66, 47, 134, 12, 85, 2, 72, 0, 73],
    "rock 'n' 5's 5'S a''b": [2, 21, 18, 6, 82, 143, 85, 143, 129, 142, 90, 61, 142, 116, 72, 143, 143, 73],
    "\x01 in \x85g\xa0x\u3000": [2, 12, 85, 78, 95],
    "e.g. U.S. X": [2, 8, 66, 10, 134, 50, 66, 48, 134, 121],
    "DOTDOTMULTI DOTM DODOTMULTI..": [2, 66, 134, 33, 44, 49, 110, 33, 44, 134, 66, 134],
    "in\xe9 \u4e2d": [2, 147, 3, 3],
    "</w> <unk>": [2, 70, 15, 23, 139, 3, 94, 70, 10, 23, 139, 3],
    "a & b": [2, 72, 3, 16, 19, 139, 73],
    "-a--b-": [2, 69, 4, 69, 69, 5, 137],
    "in ing, 'ing' Dr.": [2, 12, 85, 140, 135, 143, 140, 143, 141],
    "\n": [2],
}


def read(place: Path, pairs: Any = PAIRS, pieces: Any = PIECES, **settings: Any) -> TokenizerSpec:
    pytest.importorskip("sacremoses")
    write_folder(place, pairs, pieces, **settings)
    return load_tokenizer(CheckpointFolder(place), 256)


def ids(spec: TokenizerSpec, *texts: str) -> list[int]:
    return wheel_tokenizer(spec).encode(*texts).ids


def test_ids_are_those_of_the_library(tmp_path: Path) -> None:
    spec = read(tmp_path)
    assert {text: ids(spec, text) for text in IDS} == IDS
    assert ids(spec, "in", "Dr. a") == [2, 12, 85, 2, 141, 72]
    assert (spec.segmenter, spec.template.segments, spec.summary) == (MosesSegmenter(), 1, "BPE of characters")
    assert isinstance(spec.model, CharacterBpeModel) and "&apos" in spec.model.without_id
    assert not spec.is_of_wheel
    assert any("LGPL" in note for note in spec.notes)


def listed(text: str, **flags: bool) -> dict[str, Any]:
    """As added_tokens_decoder has it."""
    plain = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"content": text, "special": True, **plain, **flags}


def test_tokens_of_its_own(tmp_path: Path) -> None:
    """White space beside them says nothing."""
    new = len(PIECES) + 4
    spec = read(tmp_path, added_tokens_decoder={str(new): listed("<new>", lstrip=True, rstrip=True)}, sep_token="<s>")
    assert ids(spec, "a <new>  in") == [0, 72, new, 12, 85]


def refused(read_it: Any, code: str, part: str = "") -> None:
    with pytest.raises(EtchError) as error:
        read_it()
    assert error.value.code == code
    assert part in str(error.value)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"pairs": (("a", "</w>"),)}, "tokenizer-merges"),
        ({"pairs": (("a</w>", "b"),)}, "tokenizer-merges"),
        ({"pairs": (("<s", "></w>"),)}, "tokenizer-merges"),
        ({"unk_token": "[UNK]"}, "missing-special-token"),
        ({"sep_token": None}, "missing-special-token"),
        ({"mask_token": "z"}, "added-token-unsupported"),
        ({"added_tokens_decoder": {"200": listed("in")}}, "tokenizer-conflict"),
        ({"added_tokens_decoder": {"2": listed("<new>")}}, "tokenizer-conflict"),
        ({"added_tokens_decoder": {"200": listed("<new>", single_word=True)}}, "added-token-unsupported"),
        ({"model_input_names": ["input_ids", "token_type_ids"]}, "tokenizer-setting"),
    ],
)
def test_refused(changes: dict[str, Any], code: str, tmp_path: Path) -> None:
    refused(lambda: read(tmp_path, **changes), code)


def test_a_line_without_two_symbols(tmp_path: Path) -> None:
    read(tmp_path)
    (tmp_path / "merges.txt").write_text("#version: 0.2\ni n 3\nin\n")
    refused(lambda: load_tokenizer(CheckpointFolder(tmp_path), 256), "tokenizer-merges", "line 3")


@pytest.mark.parametrize("name", ["vocab.json", "merges.txt"])
def test_both_files_are_needed(name: str, tmp_path: Path) -> None:
    read(tmp_path)
    (tmp_path / name).unlink()
    refused(lambda: load_tokenizer(CheckpointFolder(tmp_path), 256), "tokenizer-missing", name)


def test_a_tokenizer_json_has_added_tokens_only(tmp_path: Path) -> None:
    read(tmp_path)
    new = len(PIECES) + 4
    vocab = {f"<{i}>": i for i in range(new)} | {"<new>": new}
    described = {"model": {"vocab": vocab}, "added_tokens": [{"id": new, **listed("<new>")}]}
    (tmp_path / "tokenizer.json").write_text(json.dumps(described))
    assert ids(load_tokenizer(CheckpointFolder(tmp_path), 256), "a<new>") == [2, 72, new]


def test_without_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_folder(tmp_path, PAIRS, PIECES)
    moses_library.moses_tokenizer.cache_clear()
    monkeypatch.setitem(sys.modules, "sacremoses", None)
    refused(lambda: load_tokenizer(CheckpointFolder(tmp_path), 256), "library-missing", "[moses]")
