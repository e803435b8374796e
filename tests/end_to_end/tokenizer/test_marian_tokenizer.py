# SPDX-License-Identifier: Apache-2.0
"""Marian's tokenizer: source.spm, target.spm and vocab.json, against what MarianTokenizer made of texts and ids, and
against the `sentencepiece` library as it is driven there."""

from __future__ import annotations

import json
import random
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from public_data import data_folder
from tokenizer_harness import Decoding, Result, Runtime, random_source
from tokenizer_texts import corpus_lines, random_bytes, scalar_texts

from codegen.errors import EtchError
from codegen.ir.tokenizer_spec import TokenizerSpec
from codegen.library_tokenizer.decoded import decoded
from codegen.library_tokenizer.sentencepiece_tokenizer import SentencePieceTokenizer
from codegen.library_tokenizer.wheel_tokenizer import wheel_tokenizer
from codegen.load.config import Config
from codegen.load.files import CheckpointFolder
from codegen.load.limits import Limits
from codegen.load.tokenizer_files.text_tokenizers import TextTokenizers, load_text_tokenizers
from codegen.vocabulary.prunable import keep_pieces
from codegen.vocabulary.pruning import Bound, prune

sys.path.insert(0, str(Path(__file__).parents[2] / "codegen" / "load"))
from sentencepiece_files import CONTROL, UNKNOWN, field, sentencepiece_file

RECORDED: dict[str, Any] = json.loads(
    (Path(__file__).resolve().parents[2] / "codegen" / "generation" / "marian_en_pt.json").read_text(encoding="utf-8")
)


def tokenizers(folder: Path, rows: int = 60_000) -> TextTokenizers:
    config = Config.from_json({"model_type": "marian"})
    return load_text_tokenizers(CheckpointFolder(folder), config, Limits(8, rows, 64, "positions"))


@pytest.fixture(scope="module")
def real() -> TextTokenizers:
    return tokenizers(data_folder() / "tokenizers" / "marian_en_pt")


def assert_same(spec: TokenizerSpec, texts: Sequence[str | bytes], plain_text: bool = False) -> list[Result]:
    """The ids of the library. Of ASCII offsets too: else the library counts characters that vanish to the piece before
    them, and of those that become several some to none."""
    given = [text.encode() if isinstance(text, str) else text for text in texts]
    ours, library = Runtime(spec).encode(given, plain_text=plain_text), wheel_tokenizer(spec)
    assert isinstance(library, SentencePieceTokenizer)
    library.encode_special_tokens = plain_text
    first = [part.content for part in spec.template.single].index("A")
    for raw, our in zip(given, ours, strict=True):
        if our.cut_word:
            assert len(raw) > 300
            continue
        text, _ = decoded(raw)
        their = library.encode(text)
        assert our.ids.tolist() == their.ids, text
        if text.isascii() and text.isprintable():
            for (begin, end), (their_begin, their_end) in zip(
                our.offsets.tolist()[first:-1], their.offsets[first:-1], strict=True
            ):
                # To U+2581 before a text the library counts nothing, here it has the place of the first character.
                assert (begin, end) == (their_begin, max(their_end, their_begin + 1)), text
    return ours


def vocabulary_of(spec: TokenizerSpec) -> Mapping[str, int]:
    assert spec.sentencepiece is not None
    return spec.sentencepiece.ids


def test_texts(real: TextTokenizers) -> None:
    """What MarianTokenizer itself made of them."""
    texts = [text for text, _ in RECORDED["encoded"]]
    assert any("\u2014" in text or "\u2013" in text for text in texts)  # pieces without an id
    assert any(">>po" in text[1:] for text in texts) and any(
        text != unicodedata.normalize("NFC", text) for text in texts
    )
    results = assert_same(real.source, texts)
    assert [result.ids.tolist() for result in results] == [ids for _, ids in RECORDED["encoded"]]


LANGUAGES = ("tokenizer_text", "multi30k", "unicode")
INSERTED = [
    " ",
    "  ",
    "\u2581",
    ">>",
    "<<",
    ">>por<<",
    ">>x<<",
    "</s>",
    "<pad>",
    "\u0301",
    "\ufb01",
    "\u00a8",
    "\u3000",
]
INSERTED += ["\ufe0f", "\u200b", "\x00", "\t", "\n", "\ufdfa", "\u1f82", "\u0345", "\ud55c", "\u1112"]


def drawn_texts(source: random.Random, lines: Sequence[str], pieces: Sequence[str], count: int) -> list[str]:
    """Decomposed lines, without spaces, of pieces, of any character, long, with odd places."""

    def drawn(kind: int) -> str:
        line = source.choice(lines)
        if kind == 0:
            return unicodedata.normalize("NFD", line)
        if kind == 1:
            return "".join(source.choices(pieces, k=source.randint(1, 30))).replace("\u2581", " ")
        if kind == 2:
            return "".join(
                chr(source.choice((0x20, source.randrange(0xD800), source.randrange(0x250)))) for _ in "x" * 20
            )
        if kind == 3:
            return source.choice(["", " "]).join(source.choice(lines) for _ in range(source.randint(1, 60)))
        if kind == 4:
            return line.replace(" ", "")
        letters = list(line)
        for _ in range(3):
            letters.insert(source.randint(0, len(letters)), source.choice(INSERTED))
        return ">>" * source.randint(0, 1) + "".join(letters)

    return [drawn(source.randrange(7)) for _ in range(count)]


def corpus_texts() -> list[str]:
    """Lines in many languages."""
    data = data_folder()
    return [decoded(line)[0] for name in LANGUAGES for _, lines in corpus_lines(data, name) for line in lines if line]


def test_drawn_texts(real: TextTokenizers) -> None:
    """Of other languages than the model's."""
    source = random_source()
    texts: list[str | bytes] = [*drawn_texts(source, corpus_texts(), list(vocabulary_of(real.source)), 4000)]
    texts += [random_bytes(source, 40) for _ in range(400)]
    for plain_text in (False, True):
        assert_same(real.source, texts, plain_text)
        assert_same(real.target.reader() if real.target.reader else real.source, texts[:1000], plain_text)


@pytest.mark.sweep
def test_every_character(real: TextTokenizers) -> None:
    assert_same(real.source, [line for text in scalar_texts(64) for line in (text, text.replace(b"\n", b" \xcc\x81"))])


def test_sums_are_of_floats_over_the_whole_text(tmp_path: Path) -> None:
    """Models whose ways to write a text are near each other, and texts whose sums begin anew from 0."""
    source = random_source()
    for number in range(20):
        letters = "abc"[: source.randint(1, 3)] + "\u00e9\u65e5"[: source.randint(0, 2)]
        step, base = source.choice([1.0, 0.1, 0.001, 1e-4, 3.7]), source.choice([0, 5, 100])
        drawn = {"".join(source.choices(letters, k=source.randint(1, 6))) for _ in range(source.randint(3, 40))}
        texts = ["\u2581", *(("\u2581" if source.random() < 0.4 else "") + text for text in sorted(drawn))]
        pieces = [(text, -base - step * source.randint(1, 30) * source.choice((1, source.random()))) for text in texts]
        model = sentencepiece_file(FIRST, pieces)
        vocab = {text: i for i, text in enumerate(["</s>", "<unk>", "<pad>", *texts])}
        folder = tmp_path / str(number)
        folder.mkdir()
        spec = tokenizers(write(folder, source__spm=model, target__spm=model, vocab__json=vocab)).source
        read = []
        for words in (3000, *source.choices([5, 20, 200], k=12)):
            longest = source.choice([3, 10, 60])
            some = letters + source.choice(["", "xz"])
            read.append(" ".join("".join(source.choices(some, k=source.randint(1, longest))) for _ in range(words)))
        assert_same(spec, read)


def test_a_longer_word_without_agreement_is_cut_and_said_so(tmp_path: Path) -> None:
    """Of equal letters two are better than one: where the pairs begin shows at the word's end only. Sums go on."""
    pieces = [("\u2581", -1.0), ("a", -2.0), ("aa", -3.0)]
    vocab = {text: i for i, text in enumerate(["</s>", "<unk>", "<pad>", *(text for text, _ in pieces)])}
    model = sentencepiece_file(FIRST, pieces)
    spec = tokenizers(write(tmp_path, source__spm=model, target__spm=model, vocab__json=vocab)).source
    held = 1274  # behind U+2581, which is three bytes more
    whole, longer = Runtime(spec).encode([b"a" * held, b"a" * (held + 1)])
    assert [whole.cut_word, longer.cut_word] == [False, True]
    assert whole.ids.tolist() == wheel_tokenizer(spec).encode("a" * held).ids
    assert longer.ids.tolist() == [*whole.ids.tolist()[:-1], 4, 0]


def test_ids(real: TextTokenizers) -> None:
    rows = [ids for ids, _ in RECORDED["decoded"]]
    parts = Decoding(real.target.spec, real.target.decoder).decode(rows, skip_special=True)
    assert [b"".join(row).decode() for row in parts] == [text for _, text in RECORDED["decoded"]]


def test_a_pruned_vocabulary(real: TextTokenizers) -> None:
    """Of the pieces that half of the texts use: the wheel's tokens, and the target's texts."""
    texts = [text for text, _ in RECORDED["encoded"]]
    pruning = prune(real.source, texts[::2], Bound(1))
    assert len(pruning.kept) < 20_000
    codes = [
        number for text, number in vocabulary_of(real.source).items() if text.startswith(">>") and text.endswith("<<")
    ]
    assert codes and set(codes) <= set(pruning.kept)
    kept = np.union1d(pruning.kept, [token.id for token in real.target.spec.added_tokens])
    assert_same(keep_pieces(real.source, kept), texts)
    decoded = [(ids, text) for ids, text in RECORDED["decoded"] if set(ids) <= set(kept.tolist())]
    assert len(decoded) > 3
    rows = [np.searchsorted(kept, ids).tolist() for ids, _ in decoded]
    parts = Decoding(keep_pieces(real.target.spec, kept), real.target.decoder).decode(rows, skip_special=True)
    assert [b"".join(row).decode() for row in parts] == [text for _, text in decoded]


def test_what_differs_is_noted(real: TextTokenizers) -> None:
    assert "clean_up" in "\n".join(real.target.spec.notes)


def test_a_piece_is_passed_over_only_where_rounding_does_not_matter(tmp_path: Path) -> None:
    """Alone "ab" is best written as one piece; behind a sum of -20,000 floats round in favour of two."""
    pieces = [("\u2581", -50.0), ("\u2581c", -100.0), ("\u2581ab", -1.001), ("\u2581a", -0.5009), ("b", -0.5009)]
    vocab = {text: i for i, text in enumerate(["</s>", "<unk>", "<pad>", *(text for text, _ in pieces)])}
    model = sentencepiece_file(FIRST, pieces)
    spec = tokenizers(write(tmp_path, source__spm=model, target__spm=model, vocab__json=vocab)).source
    alone, behind = assert_same(spec, ["ab", "c " * 200 + "ab"])
    assert (alone.ids.tolist(), behind.ids[200:].tolist()) == ([5, 0], [6, 7, 0])


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
    texts = ["a b", "  ab  x a</s>b", "\u00e3 a\u00e3", "", " ", ">>x<< a"]  # there are no codes
    results = assert_same(both.source, texts)
    assert [result.ids.tolist() for result in results] == [
        [1, 2, 0],
        [1, 3, 4, 6, 1, 0, 2, 0],
        [4, 5, 1, 5, 0],
        [0],
        [0],
        [6, 1, 0],
    ]
    decode = Decoding(both.target.spec, both.target.decoder).decode
    parts = decode([[4, 4, 1, 4, 4, 2, 7, 3, 4, 0], [4, 4], [1, 6, 5, 99]], skip_special=True)
    assert [b"".join(row) for row in parts] == [b"a   bb", b"", b"a\xc3\xa3"]
    assert parts[0] == [b"", b"", b"a", b"", b"", b"   b", b"", b"b", b"", b"", b""]


def test_spaces_and_what_looks_like_them(tmp_path: Path) -> None:
    """Runs of both are passed over by turns; without a charsmap U+2581 comes to where spaces are taken away."""
    spec = tokenizers(write(tmp_path)).source
    assert_same(spec, ["".join(letters) for length in range(7) for letters in product(" a\u2581", repeat=length)])


def test_codes_and_tokens_that_swallow_spaces(tmp_path: Path) -> None:
    """What is a code is looked at behind the spaces that a token swallows, and not in front of those that stay."""
    end = {"content": "</s>", "special": True, "normalized": False, "single_word": False}
    vocab = VOCAB | {">>x<<": len(VOCAB), ">>z<<b<<": len(VOCAB) + 1}
    texts = {
        ">>z<< a": [6, 1],  # what another code begins with
        ">>x<<a": [8, 1],
        " >>x<<a": [4, 6],
        ">>y<< a": [6, 1],
        "a</s> >>x<< b": [1, 0, 8, 2],
        ">>x<<>>x<<": [8, 4, 8],  # unknown text is looked up, too
        ">>a</s><< b": [4, 6, 0, 4, 6, 2],
    }
    for strips, changed in ((True, {}), (False, {"a</s> >>x<< b": [1, 0, 4, 8, 2]})):
        folder = tmp_path / str(strips)
        folder.mkdir()
        config = {"added_tokens_decoder": {"0": end | {"lstrip": strips, "rstrip": strips}}}
        spec = tokenizers(write(folder, vocab__json=vocab, tokenizer_config__json=config)).source
        results = assert_same(spec, list(texts))
        assert [result.ids.tolist() for result in results] == [[*ids, 0] for ids in (texts | changed).values()]


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
        results = assert_same(both.source, list(texts), plain_text)
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
    ("sentencepiece-setting", "source.spm", {"source__spm": sentencepiece_file(FIRST, [*PIECES, ("ab", 0.5)])}),
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
