# SPDX-License-Identifier: Apache-2.0
"""`do_lower_case` of sentence-transformers beside a tokenizer that lower-cases by itself, or does not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import test_marian
from malformed import SENTENCE, put
from sentence_folders import cross_encoder, old_files
from tiny_checkpoint import write_json, write_tiny_checkpoint
from tokenizers import Tokenizer
from tokenizers.normalizers import Lowercase

from codegen import pipeline
from codegen.errors import EtchError
from codegen.load.files import CheckpointFolder
from codegen.load.folder import load_checkpoint
from codegen.load.sentence import lower_case_notes


def test_lower_casing_that_the_tokenizer_does_by_itself_is_a_note(tmp_path: Path) -> None:
    """BGE's folders say both."""
    write_tiny_checkpoint(tmp_path)
    old_files(tmp_path)
    put(SENTENCE, do_lower_case=True)(tmp_path)
    (note,) = load_checkpoint(tmp_path).notes
    assert f"{SENTENCE} do_lower_case: the tokenizer does that" in note
    assert "sigma" in note
    assert load_checkpoint(tmp_path).default_max_tokens == 24


def test_a_cross_encoder_has_the_note_too(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    cross_encoder(tmp_path)
    put(SENTENCE, do_lower_case=True)(tmp_path)
    assert any("do_lower_case" in note for note in load_checkpoint(tmp_path).notes)


@pytest.mark.parametrize("said", ["no", 0, 1, []])
def test_it_is_true_or_false(said: object, tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    old_files(tmp_path)
    put(SENTENCE, do_lower_case=said)(tmp_path)
    with pytest.raises(EtchError, match="'do_lower_case' must be true/false") as caught:
        load_checkpoint(tmp_path)
    assert (caught.value.code, caught.value.file) == ("config-type", SENTENCE)


def test_null_is_false(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    old_files(tmp_path)
    put(SENTENCE, do_lower_case=None)(tmp_path)
    assert load_checkpoint(tmp_path).notes == ()


def test_it_is_refused_beside_a_tokenizer_of_sentencepiece_alone(tmp_path: Path) -> None:
    """Marian's, which no tokenizer.json describes."""
    path = test_marian.folder(tmp_path / "model")
    write_json(path / SENTENCE, {"do_lower_case": True})
    with pytest.raises(EtchError, match="does not lower-case by itself") as caught:
        pipeline.load(path)
    assert (caught.value.code, caught.value.file) == ("sentence-lowercase", SENTENCE)


LOWER = {"type": "Lowercase"}
BERT = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True}


@pytest.mark.parametrize(
    ("normalizer", "same"),
    [
        (None, False),
        (LOWER, True),
        ({"type": "NFC"}, False),
        ({"type": "Sequence", "normalizers": [{"type": "NFKD"}, LOWER]}, True),
        ({"type": "Sequence", "normalizers": [{"type": "NFKD"}]}, False),
        *((BERT | {"strip_accents": strips, "lowercase": True}, True) for strips in (None, False, True)),
        (BERT | {"strip_accents": True, "lowercase": False}, False),
    ],
)
def test_lower_casing_is_accepted_where_a_normalizer_before_it_changes_nothing(
    normalizer: dict[str, Any] | None, same: bool, tmp_path: Path
) -> None:
    """Version 6 puts Lowercase before what is there, unless that is one or is a sequence with one."""
    write_tiny_checkpoint(tmp_path)
    put(SENTENCE, do_lower_case=True)(tmp_path)
    spec = replace(load_checkpoint(tmp_path).tokenizer, json=json.dumps({"normalizer": normalizer}))
    folder = CheckpointFolder(tmp_path)
    if not same:
        with pytest.raises(EtchError, match="sentence-lowercase"):
            lower_case_notes(folder, spec)
        return
    assert len(lower_case_notes(folder, spec)) == 1
    if normalizer is None or normalizer["type"] != "BertNormalizer":
        return
    model = {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}
    own = Tokenizer.from_str(json.dumps({"added_tokens": [], "normalizer": normalizer, "model": model})).normalizer
    for letter in map(chr, range(0x30000)):
        if not "\ud800" <= letter <= "\udfff":
            assert own.normalize_str(letter) == own.normalize_str(Lowercase().normalize_str(letter))
