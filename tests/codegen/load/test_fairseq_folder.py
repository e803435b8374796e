# SPDX-License-Identifier: Apache-2.0
"""PhobertTokenizer's and BertweetTokenizer's folders: ids are those that `transformers` 5.23 gave, and what they ask
for besides is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fairseq_files import write_folder

from codegen.errors import EtchError
from codegen.ir.tokenizer_spec import CharacterBpeModel, TokenizerSpec
from codegen.library_tokenizer.wheel_tokenizer import wheel_tokenizer
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.tokenizer import load_tokenizer

CLASSES = ("PhobertTokenizer", "BertweetTokenizer")
# The third pair is there twice: its last place counts. Some pieces go through what has no id.
PAIRS = (
    *(("c", "\u00e1"), ("x", "in"), ("i", "n"), ("x", "in</w>"), ("i", "n</w>"), ("@", "@"), ("ch", "o</w>")),
    *(("c", "h"), ("i", "n")),
)
PIECES = ("xin", "in", "i@@", "n", "x@@", "c\u00e1@@", "cho", "c@@", "h", "\u00e1", "@@", "@@@", "a", "n@@")
FLAGS = ("single_word", "lstrip", "rstrip", "normalized")
IDS = {
    "xin": [0, 4, 2],
    "xin cho c\u00e1": [0, 4, 10, 11, 13, 2],
    "in\n": [0, 3, 3, 2],
    "in \nin\n\nin": [0, 5, 3, 3, 5, 2],
    "@@ @@@ @ a@@": [0, 15, 3, 3, 3, 3, 3, 15, 3, 2],
    "<mask>xin<mask> c\u00e1\n<mask>": [0, 18, 4, 18, 9, 3, 18, 2],
    "zz xi\u001cn a": [0, 3, 3, 8, 3, 7, 16, 2],
    "": [0, 2],
    "chocho \u4e2d": [0, 3, 3, 10, 3, 2],
    "in</w> <s>": [0, 3, 3, 3, 3, 3, 0, 2],
}


def read(
    place: Path, name: str = CLASSES[0], pairs: Any = PAIRS, pieces: Any = PIECES, **settings: Any
) -> TokenizerSpec:
    write_folder(place, pairs, pieces, name, **settings)
    return load_tokenizer(CheckpointFolder(place), 64)


def ids(spec: TokenizerSpec, *texts: str) -> list[int]:
    return wheel_tokenizer(spec).encode(*texts).ids


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("settings", [{}, {"mask_token": {"content": "<mask>", "lstrip": True}}])
def test_ids_are_those_of_the_library(name: str, settings: dict[str, Any], tmp_path: Path) -> None:
    """It does not keep the flags of a token that no list has."""
    spec = read(tmp_path, name, **settings)
    assert {text: ids(spec, text) for text in IDS} == IDS
    assert ids(spec, "in", "n a") == [0, 5, 2, 2, 7, 16, 2]
    assert (spec.template.segments, spec.summary) == (1, "BPE of characters")
    assert isinstance(spec.model, CharacterBpeModel)
    assert spec.model.without_id == ("\u00e1@@", "in@@", "xin@@", "@@@@", "ch@@", "o", "h@@")


def listed(text: str, **flags: bool) -> dict[str, Any]:
    """As added_tokens_decoder has it."""
    return {"content": text, "special": True, **dict.fromkeys(FLAGS, False), **flags}


def test_a_token_of_its_own_begins_texts(tmp_path: Path) -> None:
    """New tokens are numbered behind the words."""
    spec = read(tmp_path, cls_token="<cls>")
    assert ids(spec, "xin<mask>") == [18, 4, 19, 2]


def test_listed_tokens_keep_their_flags(tmp_path: Path) -> None:
    spec = read(tmp_path, added_tokens_decoder={"18": listed("<mask>", lstrip=True)})
    assert ids(spec, "a\n<mask>") == [0, 16, 18, 2]  # the line feed is none of the word
    assert any("U+001C" in note for note in spec.notes)


def test_lines_are_those_of_python(tmp_path: Path) -> None:
    """White space around a word and its number is no part of it; what is behind the last line feed is no code."""
    read(tmp_path)
    vocab, codes = tmp_path / "vocab.txt", tmp_path / "bpe.codes"
    vocab.write_bytes(vocab.read_bytes().replace(b"\n", b" \r\n"))
    codes.write_bytes(codes.read_bytes().replace(b"\n", b"\r") + b"a n 7")
    spec = load_tokenizer(CheckpointFolder(tmp_path), 64)
    assert {text: ids(spec, text) for text in IDS} == IDS


def test_a_tokenizer_json_has_added_tokens_only(tmp_path: Path) -> None:
    read(tmp_path)
    vocab = {f"<{i}>": i for i in range(18)} | {"<new>": 18}
    described = {"model": {"vocab": vocab}, "added_tokens": [{"id": 18, **listed("<new>")}]}
    (tmp_path / "tokenizer.json").write_text(json.dumps(described))
    spec = load_tokenizer(CheckpointFolder(tmp_path), 64)
    assert ids(spec, "a<new><mask>") == [0, 16, 18, 19, 2]
    (tmp_path / "tokenizer.json").write_text("{}")
    refused(lambda: load_tokenizer(CheckpointFolder(tmp_path), 64), "tokenizer-field")


def refused(read_it: Any, code: str, part: str = "") -> None:
    with pytest.raises(EtchError) as error:
        read_it()
    assert error.value.code == code
    assert part in str(error.value)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"bos_token": "</s>"}, "tokenizer-conflict"),
        ({"pieces": ("a", "a")}, "vocab-duplicate-piece"),
        ({"pieces": ("<unk>",)}, "vocab-duplicate-piece"),
        ({"pieces": ("",)}, "vocab-gap"),
        ({"pairs": (("a", "</w>"),)}, "tokenizer-merges"),
        ({"pairs": (("a</w>", "b"),)}, "tokenizer-merges"),
        ({"pairs": (("</", "w>"),)}, "tokenizer-merges"),
        ({"pairs": (("a", "@@</w>"),)}, "tokenizer-merges"),
        ({"pairs": (("<s", "></w>"),)}, "tokenizer-merges"),
        ({"pairs": (("a", ""),)}, "tokenizer-merges"),
        ({"mask_token": "z"}, "added-token-unsupported"),
        ({"mask_token": "z@@"}, "added-token-unsupported"),
        ({"added_tokens_decoder": {"19": listed("xin")}}, "tokenizer-conflict"),
        ({"added_tokens_decoder": {"18": listed("<mask>", single_word=True)}}, "added-token-unsupported"),
        ({"image_token": "<image>"}, "tokenizer-conflict"),
        ({"do_basic_tokenize": False}, "tokenizer-setting"),
    ],
)
def test_refused(changes: dict[str, Any], code: str, tmp_path: Path) -> None:
    refused(lambda: read(tmp_path, **changes), code)


def test_normalization_is_refused(tmp_path: Path) -> None:
    """PhobertTokenizer does not ask for it."""
    refused(lambda: read(tmp_path, CLASSES[1], normalization=True), "tokenizer-setting", "normalizeTweet")
    read(tmp_path, CLASSES[1], normalization=False)
    read(tmp_path, CLASSES[0], normalization=True)


@pytest.mark.parametrize("name", ["vocab.txt", "bpe.codes"])
def test_both_files_are_needed(name: str, tmp_path: Path) -> None:
    read(tmp_path)
    (tmp_path / name).unlink()
    refused(lambda: load_tokenizer(CheckpointFolder(tmp_path), 64), "tokenizer-missing", name)


def test_codes_as_save_pretrained_writes_them(tmp_path: Path) -> None:
    read(tmp_path, CLASSES[1])
    (tmp_path / "bpe.codes").write_text("a n\n")
    refused(lambda: load_tokenizer(CheckpointFolder(tmp_path), 64), "tokenizer-merges", "save_pretrained")
