# SPDX-License-Identifier: Apache-2.0
"""Marian's tokenizer: source.spm, target.spm and vocab.json, against what MarianTokenizer made of texts and ids."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from public_data import data_folder
from tokenizer_harness import Decoding, assert_same

from codegen.errors import EtchError
from codegen.load.config import Config
from codegen.load.files import CheckpointFolder
from codegen.load.limits import Limits
from codegen.load.text_tokenizers import TextTokenizers, load_text_tokenizers
from codegen.prunable import keep_pieces
from codegen.vocabulary import Bound, prune

sys.path.insert(0, str(Path(__file__).parents[1] / "codegen" / "load"))
from sentencepiece_files import CONTROL, UNKNOWN, field, sentencepiece_file

RECORDED: dict[str, Any] = json.loads(
    (Path(__file__).resolve().parents[1] / "codegen" / "generation" / "marian_en_pt.json").read_text(encoding="utf-8")
)


def tokenizers(folder: Path, rows: int = 60_000) -> TextTokenizers:
    config = Config.from_json({"model_type": "marian"})
    return load_text_tokenizers(CheckpointFolder(folder), config, Limits(8, rows, 64, "positions"))


@pytest.fixture(scope="module")
def real() -> TextTokenizers:
    return tokenizers(data_folder() / "tokenizers" / "marian_en_pt")


def test_texts(real: TextTokenizers) -> None:
    """All but those with a language within, as the notes name it."""
    expected = [(text, ids) for text, ids in RECORDED["encoded"] if ">>po" not in text[1:]]
    assert len(expected) > 0.95 * len(RECORDED["encoded"])
    assert any("\u2014" in text or "\u2013" in text for text, _ in expected)  # pieces without an id
    results = assert_same(real.source, [text.encode() for text, _ in expected])
    assert [result.ids.tolist() for result in results] == [ids for _, ids in expected]


def test_ids(real: TextTokenizers) -> None:
    rows = [ids for ids, _ in RECORDED["decoded"]]
    parts = Decoding(real.target.spec, real.target.decoder).decode(rows, skip_special=True)
    assert [b"".join(row).decode() for row in parts] == [text for _, text in RECORDED["decoded"]]


def test_a_pruned_vocabulary(real: TextTokenizers) -> None:
    """Of the pieces that half of the texts use: the wheel's tokens, and the target's texts."""
    texts = [text for text, _ in RECORDED["encoded"]]
    pruning = prune(real.source, texts[::2], Bound(1))
    assert len(pruning.kept) < 20_000
    kept = np.union1d(pruning.kept, [token.id for token in real.target.spec.added_tokens])
    assert_same(keep_pieces(real.source, kept), [text.encode() for text in texts])
    decoded = [(ids, text) for ids, text in RECORDED["decoded"] if set(ids) <= set(kept.tolist())]
    assert len(decoded) > 3
    rows = [np.searchsorted(kept, ids).tolist() for ids, _ in decoded]
    parts = Decoding(keep_pieces(real.target.spec, kept), real.target.decoder).decode(rows, skip_special=True)
    assert [b"".join(row).decode() for row in parts] == [text for _, text in decoded]


def test_what_differs_is_noted(real: TextTokenizers) -> None:
    notes = "\n".join((*real.source.notes, *real.target.spec.notes))
    for words in ("sums of scores", ">>pob<<", "clean_up"):
        assert words in notes


FIRST = [("<unk>", UNKNOWN), ("<s>", CONTROL), ("</s>", CONTROL)]
PIECES = [("\u2581a", -1.0), ("\u2581b", -2.0), ("b", -3.0), ("\u2581", -4.0)]
VOCAB = {text: i for i, text in enumerate(["</s>", "\u2581a", "\u2581b", "b", "\u2581", "\u00e3", "<unk>", "<pad>"])}


def write(folder: Path, **files: Any) -> Path:
    """A small folder; a value of None leaves a file out, objects are JSON."""
    model = sentencepiece_file(FIRST, PIECES)
    usual = {"source.spm": model, "target.spm": model, "vocab.json": VOCAB, "tokenizer_config.json": {}}
    for name, content in (usual | {name.replace("__", "."): content for name, content in files.items()}).items():
        if content is not None:
            (folder / name).write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return folder


def test_a_small_folder(tmp_path: Path) -> None:
    both = tokenizers(write(tmp_path))
    texts = ["a b", "  ab  x a</s>b", "\u00e3 a\u00e3", "", " "]
    results = assert_same(both.source, [text.encode() for text in texts])
    assert [result.ids.tolist() for result in results] == [
        [1, 2, 0],
        [1, 3, 4, 6, 1, 0, 2, 0],
        [4, 5, 1, 5, 0],
        [0],
        [0],
    ]
    decode = Decoding(both.target.spec, both.target.decoder).decode
    parts = decode([[4, 4, 1, 4, 4, 2, 7, 3, 4, 0], [4, 4], [1, 6, 5, 99]], skip_special=True)
    assert [b"".join(row) for row in parts] == [b"a   bb", b"", b"a\xc3\xa3"]
    assert parts[0] == [b"", b"", b"a", b"", b"", b"   b", b"", b"b", b"", b"", b""]


def test_pieces_without_id_and_ids_without_piece(tmp_path: Path) -> None:
    """As MarianTokenizer: the former are unknown, each by itself; unknown text is looked up whole."""
    pieces = [*PIECES, ("\u2581-", -2.0), ("-", -2.0), ("\u2581y", -1.0), ("ab", -1.5)]
    more = ["\u4e2d", "\u4e2d\u56fd", "\u2581target", "q"]
    vocab = VOCAB | {text: len(VOCAB) + i for i, text in enumerate(more)}
    both = tokenizers(write(tmp_path, source__spm=sentencepiece_file(FIRST, pieces), vocab__json=vocab))
    texts = {
        "- b": [6, 2],
        "-- y-y": [6, 6, 6, 6, 6],
        "a--b": [1, 6, 6, 3],
        "-x-": [6, 6, 6],
        "\u4e2d": [4, 8],
        "b\u4e2d\u56fdb": [2, 9, 3],
        "\u56fd\u4e2d \u56fd": [4, 6, 4, 6],
        "q qq target": [4, 11, 4, 6, 4, 6],
        "bab": [2, 6],
    }
    for plain_text in (False, True):
        results = assert_same(both.source, [text.encode() for text in texts], plain_text=plain_text)
        assert [result.ids.tolist() for result in results] == [[*ids, 0] for ids in texts.values()]


BYTES = sentencepiece_file(FIRST, PIECES)
REFUSED = [
    ("tokenizer-missing", None, {"target__spm": None}),
    ("tokenizer-missing", None, {"vocab__json": None}),
    ("tokenizer-conflict", "tokenizer.json", {"tokenizer__json": {}}),
    (
        "tokenizer-conflict",
        "target.spm",
        {"target__spm": sentencepiece_file(FIRST, [(f"{i}", -1.0) for i in range(9)])},
    ),
    ("tokenizer-conflict", "source.spm", {"vocab__json": {"</s>": 0, "<unk>": 1, "<pad>": 2}}),
    ("tokenizer-class", "tokenizer_config.json", {"tokenizer_config__json": {"tokenizer_class": "T5Tokenizer"}}),
    (
        "tokenizer-class",
        "tokenizer_config.json",
        {"tokenizer_config__json": {"tokenizer_class": "PreTrainedTokenizer"}},
    ),
    ("tokenizer-setting", "tokenizer_config.json", {"tokenizer_config__json": {"separate_vocabs": True}}),
    ("tokenizer-setting", "tokenizer_config.json", {"tokenizer_config__json": {"sp_model_kwargs": {"alpha": 1}}}),
    ("missing-special-token", "vocab.json", {"tokenizer_config__json": {"eos_token": "<end>"}}),
    # Tokens that no key of the class names become pieces of every text that has them.
    ("tokenizer-conflict", "tokenizer_config.json", {"tokenizer_config__json": {"bos_token": "<s>"}}),
    ("tokenizer-conflict", "tokenizer_config.json", {"tokenizer_config__json": {"image_token": "the"}}),
    ("tokenizer-conflict", "special_tokens_map.json", {"special_tokens_map__json": {"sep_token": "<mask>"}}),
    (
        "tokenizer-conflict",
        "tokenizer_config.json",
        {"tokenizer_config__json": {"additional_special_tokens": ["<new>"]}},
    ),
    (
        "tokenizer-conflict",
        "tokenizer_config.json",
        {
            "tokenizer_config__json": {
                "added_tokens_decoder": {
                    "3": {
                        "content": "<pad>",
                        "lstrip": False,
                        "rstrip": False,
                        "normalized": False,
                        "single_word": False,
                        "special": True,
                    }
                }
            }
        },
    ),
    ("vocab-gap", "vocab.json", {"vocab__json": VOCAB | {"<pad>": 9}}),
    ("vocab-duplicate-id", "vocab.json", {"vocab__json": VOCAB | {"<pad>": 0}}),
    ("sentencepiece-type", "source.spm", {"source__spm": sentencepiece_file(FIRST, PIECES, model_type=2)}),
    ("sentencepiece-malformed", "source.spm", {"source__spm": BYTES[:-1]}),
    ("sentencepiece-setting", "source.spm", {"source__spm": BYTES + field(3, field(3, 0))}),
    ("sentencepiece-setting", "source.spm", {"source__spm": BYTES + field(2, field(35, 1))}),
    ("sentencepiece-setting", "source.spm", {"source__spm": sentencepiece_file([*FIRST, ("x", 4)], PIECES)}),
    ("sentencepiece-setting", "source.spm", {"source__spm": sentencepiece_file(FIRST, PIECES[:3])}),
    ("sentencepiece-setting", "target.spm", {"target__spm": sentencepiece_file(FIRST, [*PIECES, ("a\u2581b", -1.0)])}),
]


@pytest.mark.parametrize(("code", "file", "files"), REFUSED)
def test_what_is_refused(code: str, file: str | None, files: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(EtchError) as refused:
        tokenizers(write(tmp_path, **files))
    assert (refused.value.code, refused.value.file) == (code, file)


def test_more_pieces_than_rows(tmp_path: Path) -> None:
    with pytest.raises(EtchError) as refused:
        tokenizers(write(tmp_path), rows=7)
    assert refused.value.code == "token-id-out-of-range"
