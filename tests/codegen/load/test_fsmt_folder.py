# SPDX-License-Identifier: Apache-2.0
"""Folders of FSMTTokenizer: ids of texts and texts of ids, BioGptTokenizer's too, are those that `transformers` 5.23
gave with `sacremoses` 0.2.0, and what they ask for besides is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from moses_cases import FOLDERS, PAIRS, PIECES, TEXTS, drawn_ids, write
from moses_files import write_folder
from test_moses_folder import listed, refused

from codegen.ir.target_tokenizer import DecoderSpec
from codegen.ir.tokenizer_spec import NormalizedMosesSegmenter
from codegen.library_tokenizer.spelled import Speller
from codegen.library_tokenizer.wheel_tokenizer import wheel_tokenizer
from codegen.load.config import Config
from codegen.load.files import CheckpointFolder
from codegen.load.limits import Limits
from codegen.load.tokenizer_files.text_tokenizers import TextTokenizers, load_text_tokenizers

pytest.importorskip("sacremoses")
HERE = Path(__file__).resolve().parents[1] / "generation"
RECORDED: dict[str, Any] = json.loads((HERE / "moses_texts.json").read_text(encoding="utf-8"))
ROWS = 4 + len(PIECES)
FSMT = {"tokenizer_class": "FSMTTokenizer", "langs": ["en", "de"]}


def both(place: Path, rows: int = ROWS) -> TextTokenizers:
    limits = Limits(20, ROWS, 20, "max_position_embeddings", writes_texts=True, target_entries=rows)
    return load_text_tokenizers(CheckpointFolder(place), Config.from_json({"model_type": "fsmt"}), limits)


@pytest.mark.parametrize("name", FOLDERS)
def test_ids_and_texts_are_those_of_the_library(name: str, tmp_path: Path) -> None:
    write(tmp_path, name)
    found = both(tmp_path)
    library = wheel_tokenizer(found.source)
    assert [library.encode(text).ids for text in TEXTS] == RECORDED[name]["encoded"][:-1]
    assert library.encode(*TEXTS[1:3]).ids == RECORDED[name]["encoded"][-1]
    speller = Speller(found.target)
    assert [speller.text(ids) for ids in drawn_ids()] == RECORDED[name]["decoded"]


def test_parts(tmp_path: Path) -> None:
    write(tmp_path, "de-en")
    found = both(tmp_path)
    assert found.source.segmenter == NormalizedMosesSegmenter("german", lowers=True, escapes=True)
    assert found.target.decoder == DecoderSpec(space="</w>", moses="english", absent="<unk>")
    assert any("LGPL" in note for note in found.source.notes)


def read(place: Path, rows: int = ROWS, **settings: Any) -> TextTokenizers:
    write_folder(place, PAIRS, PIECES, **FSMT | settings)
    return both(place, rows)


@pytest.mark.parametrize(
    ("changes", "code", "part"),
    [
        ({"langs": ["en", None]}, "tokenizer-setting", "null"),
        ({"langs": ["en", "fr"]}, "tokenizer-setting", "'fr'"),
        ({"langs": ["zh", "en"]}, "tokenizer-setting", "'zh'"),
        ({"langs": ["en"]}, "tokenizer-setting", "a pair is two"),
        ({"langs": "en"}, "config-type", "langs"),
        ({"langs": [["en"], "de"]}, "tokenizer-setting", "langs"),
        ({"do_lower_case": 1}, "config-type", "do_lower_case"),
        ({"sep_token": None}, "missing-special-token", "sep_token"),
        ({"rows": ROWS + 1}, "token-id-out-of-range", "tgt_vocab_size"),
        (
            {"do_lower_case": True}
            | {"added_tokens_decoder": {"200": listed("Berlin", special=False, normalized=True)}},
            "added-token-unsupported",
            "lower case",
        ),
    ],
)
def test_refused(changes: dict[str, Any], code: str, part: str, tmp_path: Path) -> None:
    refused(lambda: read(tmp_path, **changes), code, part)


@pytest.mark.parametrize("name", ["vocab-src.json", "vocab-tgt.json", "merges.txt"])
def test_files_are_needed(name: str, tmp_path: Path) -> None:
    read(tmp_path)
    (tmp_path / name).unlink()
    refused(lambda: both(tmp_path), "tokenizer-missing", name)


def test_special_tokens_have_one_id(tmp_path: Path) -> None:
    read(tmp_path)
    ids = json.loads((tmp_path / "vocab-tgt.json").read_text(encoding="utf-8"))
    ids |= {"</s>": ids["a"], "a": ids["</s>"]}
    (tmp_path / "vocab-tgt.json").write_text(json.dumps(ids), encoding="utf-8")
    refused(lambda: both(tmp_path), "tokenizer-conflict", "vocab-src.json")


def test_spaces_that_the_library_may_drop(tmp_path: Path) -> None:
    """A note says it, as of other tokenizers."""
    found = read(tmp_path, clean_up_tokenization_spaces=True)
    assert any("clean_up_tokenization_spaces is not done" in note for note in found.target.spec.notes)
