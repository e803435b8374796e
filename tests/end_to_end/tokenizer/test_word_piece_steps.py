# SPDX-License-Identifier: Apache-2.0
"""WordPiece behind single normalizers, as textbooks make it, against the wheel."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from test_byte_level import OWN_TEXTS
from test_word_level import word_level_json
from tokenizer_harness import SPECIALS, assert_same, random_source
from tokenizer_texts import SMALL_VOCABULARY, TRICKY, random_bytes, random_text

from codegen.errors import EtchError
from codegen.ir.tokenizer_spec import TokenizerSpec
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.tokenizer import load_tokenizer
from codegen.load.tokenizer_files.tokenizer_json.word_level import read_word_level_json
from codegen.load.tokenizer_files.tokenizer_json.word_piece import read_word_piece_json

MARKS = ("e\u0301", "\u00e9", "\u0301", "\u0327", "\uac00", "\u1100\u1161", "\ufb01", "\u212b", "\u00bd", "\u0130")
PIECES = (
    *SMALL_VOCABULARY,
    *MARKS,
    *(f"##{text}" for text in MARKS),
    "fi",
    "##i",
    "a\u030a",
    "\u00c5",
    "1",
    "##",
    "\u2044",
    "##2",
)
ISOLATED = [{"type": "WhitespaceSplit"}, {"type": "Punctuation", "behavior": "Isolated"}]
STEPS: list[tuple[str, ...]] = [
    (),
    ("Lowercase",),
    ("NFC",),
    ("NFD",),
    ("NFKC",),
    ("NFKD",),
    ("NFD", "Lowercase", "StripAccents"),
    ("NFKD", "StripAccents"),
    ("StripAccents",),
]


def word_piece_json(steps: tuple[str, ...] = (), *, isolated: bool = False, **model: Any) -> dict[str, Any]:
    values = word_level_json(steps=steps, lowercase=False)
    pieces = tuple(dict.fromkeys((*SPECIALS, *PIECES)))
    assert pieces[: len(SPECIALS)] == SPECIALS
    return values | {
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": ISOLATED} if isolated else {"type": "BertPreTokenizer"},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {piece: i for i, piece in enumerate(pieces)},
            **model,
        },
    }


@pytest.mark.parametrize("steps", STEPS)
def test_every_normalizer(steps: tuple[str, ...]) -> None:
    source = random_source()
    spec = read_word_piece_json(word_piece_json(steps, isolated=bool(source.getrandbits(1))))
    parts = (*TRICKY, *MARKS, *SMALL_VOCABULARY, " ", "[MASK]", "\x00", "\t")
    texts = [random_text(source, 12, parts).encode() for _ in range(600)] + [
        random_bytes(source, 12) for _ in range(200)
    ]
    assert_same(spec, [*texts, *OWN_TEXTS])
    assert_same(spec, texts[:100], plain_text=True)


@pytest.mark.parametrize("kind", ["Whitespace", "WhitespaceSplit"])
@pytest.mark.parametrize("steps", [(), ("Lowercase",), ("NFC",), ("NFD", "Lowercase", "StripAccents")])
def test_behind_white_space(kind: str, steps: tuple[str, ...]) -> None:
    """As the documentation of `tokenizers` trains it."""
    source = random_source()
    spec = read_word_piece_json(word_piece_json(steps) | {"pre_tokenizer": {"type": kind}})
    parts = (*TRICKY, *MARKS, *SMALL_VOCABULARY, " ", "[MASK]", "\t", "a-b", "...", "_", "#", "##", " ##")
    texts = [random_text(source, 12, parts).encode() for _ in range(600)]
    texts += [random_bytes(source, 12) for _ in range(100)] + [b"x" * 100, b"x" * 101]
    assert_same(spec, [*texts, *OWN_TEXTS])
    assert_same(spec, texts[:100], 5)


BEHAVIORS = ("Isolated", "Contiguous", "Removed", "MergedWithPrevious", "MergedWithNext")


def row(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "pretokenizers": list(parts)}


def rows(source: random.Random, behavior: str) -> dict[str, Any]:
    """Pre-tokenizers in any order, one of them Punctuation with this behavior and one that splits at white space."""
    parts = [{"type": source.choice(("Whitespace", "WhitespaceSplit"))}, {"type": "Punctuation", "behavior": behavior}]
    more = [{"type": "BertPreTokenizer"}, {"type": "Whitespace"}, *({**ISOLATED[1], "behavior": b} for b in BEHAVIORS)]
    parts += source.sample(more, source.choice((0, 0, 1, 2)))
    return row(*source.sample(parts, len(parts)))


@pytest.mark.parametrize("behavior", BEHAVIORS)
@pytest.mark.parametrize("words", [False, True])
def test_in_a_row(behavior: str, words: bool) -> None:
    source = random_source()
    parts = (*TRICKY, *MARKS, *SMALL_VOCABULARY, " ", "[MASK]", "\t", "a-b", "...", "_", "#", "'s", "!!", "\u3002", "$")
    for _ in range(3):
        segmenter = {"pre_tokenizer": rows(source, behavior)}
        print(segmenter)
        make, read = (word_level_json, read_word_level_json) if words else (word_piece_json, read_word_piece_json)
        spec = read(make(steps=source.choice(((), ("NFD", "Lowercase", "StripAccents")))) | segmenter)
        texts = [random_text(source, 12, parts).encode() for _ in range(300)]
        texts += [random_bytes(source, 12) for _ in range(50)]
        assert_same(spec, [*texts, *OWN_TEXTS])
        assert_same(spec, texts[:100], 5)


def test_special_tokens_that_words_are(tmp_path: Path) -> None:
    spec = folder(tmp_path, word_piece_json(()) | {"pre_tokenizer": {"type": "WhitespaceSplit"}})
    assert any("'[SEP]' is a piece of words" in note for note in spec.notes)
    spec = folder(tmp_path, word_piece_json(()) | {"pre_tokenizer": {"type": "Whitespace"}})
    assert not any("piece of words" in note for note in spec.notes)


def folder(path: Path, values: dict[str, Any], name: str = "PreTrainedTokenizerFast") -> TokenizerSpec:
    (path / "tokenizer.json").write_text(json.dumps(values))
    (path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": name}))
    return load_tokenizer(CheckpointFolder(path), 10_000)


def test_a_folder(tmp_path: Path) -> None:
    spec = folder(tmp_path, word_piece_json(("NFD", "Lowercase", "StripAccents"), isolated=True))
    assert spec.summary == "uncased WordPiece"
    assert spec.template.segments == 1


@pytest.mark.parametrize(
    ("changes", "name", "code"),
    [
        ({"pre_tokenizer": {"type": "UnicodeScripts"}}, "TokenizersBackend", "tokenizer-pre-tokenizer"),
        ({"pre_tokenizer": row(ISOLATED[0], {"type": "Digits"})}, "TokenizersBackend", "tokenizer-field"),
        ({"pre_tokenizer": row()}, "TokenizersBackend", "tokenizer-pre-tokenizer"),
        (
            {"pre_tokenizer": row(ISOLATED[0], {**ISOLATED[1], "behavior": "Kept"})},
            "TokenizersBackend",
            "tokenizer-type",
        ),
        ({"normalizer": {"type": "Prepend", "prepend": "x"}}, "TokenizersBackend", "tokenizer-normalizer"),
        ({}, "BertTokenizer", "tokenizer-normalizer"),
    ],
)
def test_refused(changes: dict[str, Any], name: str, code: str, tmp_path: Path) -> None:
    with pytest.raises(EtchError) as refused:
        folder(tmp_path, word_piece_json(("NFC",)) | changes, name)
    assert refused.value.code == code
