# SPDX-License-Identifier: Apache-2.0
"""Tokenizers whose characters config.json spells out, against a plain reading of it."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tokenizer_harness import Decoding, Runtime, assert_same, random_source
from tokenizer_texts import HARD_TEXTS, INVALID_TEXTS, random_bytes, random_text

from codegen.errors import EtchError
from codegen.library_tokenizer.decoded import decoded
from codegen.load.config import Config
from codegen.load.files import CheckpointFolder
from codegen.load.limits import Limits
from codegen.load.tokenizer_files.text_tokenizers import TextTokenizers, load_text_tokenizers

BEGIN, END, UNKNOWN, RESERVED = 1, 2, 3, 4
ROWS = 40
CONFIG = {
    "grapheme_chars": "____abcxyzAB'-_ \n\u00e9e\u0301\u1d7b\U0001f600\ufffd",
    "phoneme_chars": "____\u00e6\u014b\u0251\u02c8\u02ccab \u1d4a\U0001f600\u0301",
    "bos_token_id": BEGIN,
    "pad_token_id": 0,
}


def tokenizers(folder: Path, config: dict[str, Any], rows: int = ROWS) -> TextTokenizers:
    return load_text_tokenizers(CheckpointFolder(folder), Config.from_json(config), Limits(8, rows, 64, "positions"))


def plain_ids(config: dict[str, Any], text: str) -> list[int]:
    ids = {character: i for i, character in enumerate(config["grapheme_chars"]) if i >= RESERVED}
    return [BEGIN, *(ids.get(character, UNKNOWN) for character in text), END]


def plain_text(config: dict[str, Any], ids: Sequence[int]) -> str:
    characters = config["phoneme_chars"]
    return "".join(characters[i] for i in ids if RESERVED <= i < len(characters))


def assert_decodes(config: dict[str, Any], both: TextTokenizers, sequences: Sequence[Sequence[int]]) -> None:
    written = Decoding(both.target.spec, both.target.decoder).decode(sequences, skip_special=True)
    for ids, parts in zip(sequences, written, strict=True):
        assert [part.decode() for part in parts] == [*(plain_text(config, [i]) for i in ids), ""]  # each at once


@pytest.fixture(scope="module")
def trained() -> tuple[TextTokenizers, dict[str, Any], dict[str, Any]]:
    """Of bart_g2p_us: the tokenizers, its configuration and its lexicon."""
    models = os.environ.get("ETCH_MODELS")
    if models is None:
        pytest.skip("ETCH_MODELS is not set")
    folder = Path(models) / "bart_g2p_us"
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    with gzip.open(folder / "us_gold.json.gz", "rt", encoding="utf-8") as file:
        return tokenizers(folder, config, config["vocab_size"]), config, json.load(file)


def assert_spells(trained: tuple[TextTokenizers, dict[str, Any], dict[str, Any]], every: int) -> None:
    """Of every such entry of the lexicon the word's ids, and the pronunciation of its ids."""
    both, config, lexicon = trained
    words = list(lexicon)[::every]
    for word, result in zip(words, Runtime(both.source).encode([word.encode() for word in words]), strict=True):
        assert result.ids.tolist() == plain_ids(config, word)
    ids = {character: i for i, character in enumerate(config["phoneme_chars"]) if i >= RESERVED}
    spoken = [one for word in words for one in _pronunciations(lexicon[word]) if set(one) <= set(ids)]
    assert len(words) > 90_000 // every
    assert len(spoken) > len(words) * 9 // 10
    sequences = [[BEGIN, *(ids[character] for character in text), END] for text in spoken]
    decode = Decoding(both.target.spec, both.target.decoder).decode
    assert [b"".join(parts).decode() for parts in decode(sequences, skip_special=True)] == spoken


def _pronunciations(value: str | dict[str, str | None]) -> list[str]:
    return [one for one in (value.values() if isinstance(value, dict) else [value]) if one]


def test_words_of_a_lexicon(trained: tuple[TextTokenizers, dict[str, Any], dict[str, Any]]) -> None:
    assert_spells(trained, 16)


@pytest.mark.sweep
def test_a_whole_lexicon(trained: tuple[TextTokenizers, dict[str, Any], dict[str, Any]]) -> None:
    assert_spells(trained, 1)


def test_texts(tmp_path: Path) -> None:
    source = random_source()
    both = tokenizers(tmp_path, CONFIG)
    alphabet = (*CONFIG["grapheme_chars"], "\r\n", "\0", "<s>", "</s>", "<unk>", "<pad>", "Q", "\u3000")
    texts = [*(text.encode() for text in HARD_TEXTS), *INVALID_TEXTS, b"", b"<s>a</s>", b"a" * 3000]
    texts += [random_text(source, 30, alphabet).encode() for _ in range(800)]
    texts += [random_bytes(source, 12) for _ in range(300)]
    for text, result in zip(texts, assert_same(both.source, texts), strict=True):
        assert result.ids.tolist() == plain_ids(CONFIG, decoded(text)[0])
    assert_same(both.source, texts, 7)
    assert_same(both.source, texts, plain_text=True)
    assert Runtime(both.source).pieces()[:5] == [b"<pad>", b"<s>", b"</s>", b"<unk>", b"a"]


def test_ids(tmp_path: Path) -> None:
    source = random_source()
    both = tokenizers(tmp_path, CONFIG)
    assert_decodes(
        CONFIG, both, [[source.randint(-1, ROWS) for _ in range(source.randint(0, 12))] for _ in range(3000)]
    )
    assert both.target.spec.notes == ("the ids 15 to 39 have no character in phoneme_chars: written, they add nothing",)


REFUSED = [
    ("characters-reserved", {"grapheme_chars": "abcdefgh"}),
    ("characters-reserved", {"phoneme_chars": "___abc"}),
    ("characters-missing", {"phoneme_chars": "____"}),
    ("characters-twice", {"grapheme_chars": "____abca"}),
    ("token-id-out-of-range", {"phoneme_chars": "____" + "".join(map(chr, range(0x100, 0x130)))}),
    ("tokenizer-conflict", {"bos_token_id": 2}),
    ("tokenizer-conflict", {"pad_token_id": False}),
    ("tokenizer-conflict", {"unk_token_id": 0}),
    ("config-type", {"grapheme_chars": ["_", "_", "_", "_", "a"]}),
    ("config-missing", {"phoneme_chars": None}),
]


@pytest.mark.parametrize(("code", "changes"), REFUSED)
def test_what_is_refused(code: str, changes: dict[str, Any], tmp_path: Path) -> None:
    changed = {key: value for key, value in {**CONFIG, **changes}.items() if value is not None}
    with pytest.raises(EtchError) as refused:
        tokenizers(tmp_path, changed)
    assert (refused.value.code, refused.value.file) == (code, "config.json")


def test_another_tokenizer_beside_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "vocab.json").write_text("{}")
    with pytest.raises(EtchError) as refused:
        tokenizers(tmp_path, CONFIG)
    assert (refused.value.code, refused.value.file) == ("tokenizer-conflict", "vocab.json")
