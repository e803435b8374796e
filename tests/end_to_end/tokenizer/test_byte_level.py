# SPDX-License-Identifier: Apache-2.0
"""Byte-level BPE against the wheel, on texts of our own: needs no data, takes seconds."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from byte_level import SPECIALS, small_json, small_spec, texts_of_pieces
from sampling import one_in
from test_tokenizer import ADDED, PARTS, numbered, token
from tokenizer_harness import Runtime, Wheel, assert_same, assert_same_however_short, random_source
from tokenizer_texts import HARD_TEXTS, INVALID_TEXTS, TRICKY, random_bytes, random_text

from codegen.errors import EtchError
from codegen.ir.tokenizer_spec import AddedToken, TokenizerSpec
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.folders.byte_level import read_byte_level_folder
from codegen.load.tokenizer_files.tokenizer_json.byte_level import read_byte_level_json

# Where words end: contractions and what looks like them, white space of every kind before every kind of character.
CONTRACTIONS = (
    "'s",
    "'t",
    "'re",
    "'ve",
    "'m",
    "'ll",
    "'d",
    "'S",
    "'r",
    "'v",
    "'l",
    "'lr",
    "'rx",
    "''s",
    " 's",
    "\n's",
    "1's",
    "'\u017f",
    "'Re",
    "'lL",
    "'VE",
    "'l\u017f",
)
SPACES = (
    " ",
    "  ",
    "   ",
    "\n",
    " \n",
    "\n ",
    "\t\t ",
    "\u3000",
    " \u3000",
    "\u3000 ",
    "\u00a0",
    "\x85",
    "\x1c",
    "\u180e",
    "\r\n",
    " \n \r ",
    "\n\n\t",
    "!\n",
    "12345",
    "\U00011de0",
)
# First and last of two runs, and what lies beside them.
DIGITS_OF_LATER_UNICODE = (0x11DDF, 0x11DE0, 0x11DE9, 0x11DEA, 0x16FF3, 0x16FF4, 0x16FF6, 0x16FF7)
OWN_TEXTS = [
    *(text.encode() for text in (*HARD_TEXTS, *CONTRACTIONS, *SPACES, *TRICKY)),
    *INVALID_TEXTS,
    *(f"{a}{s}{b}".encode() for a, s, b in product(("", "a", "1", "!", "é"), SPACES, ("", "a", "1", "!", "é", "'s"))),
    *(f"{a}{c}{b}".encode() for a, c, b in product(("", "a", " ", "!"), CONTRACTIONS, ("", "a", "1", "!", " b", "'"))),
    *(f"a{c}b{c}1{c}".encode() for c in map(chr, DIGITS_OF_LATER_UNICODE)),
]
OPTIONS = [
    pytest.param({}, id="roberta"),
    pytest.param({"add_prefix_space": True}, id="prefix"),
    pytest.param({"add_prefix_space": True, "trim_offsets": False}, id="prefix-untrimmed"),
    pytest.param({"processor": "ByteLevel", "add_prefix_space": True}, id="gpt2"),
    pytest.param({"processor": "TemplateProcessing"}, id="template"),
    pytest.param({"processor": "Sequence", "add_prefix_space": True}, id="sequence"),
    pytest.param({"processor": "none", "ignore_merges": True}, id="none-ignore-merges"),
    pytest.param({"segmenter": "gpt2"}, id="gpt2-split"),
    pytest.param({"segmenter": "llama3", "ignore_merges": True, "processor": "Sequence"}, id="llama3"),
    pytest.param({"segmenter": "qwen2", "trim_offsets": False}, id="qwen2"),
    pytest.param({"steps": ("NFC",)}, id="nfc"),
    pytest.param({"steps": ("NFC",), "add_prefix_space": True, "segmenter": "digit"}, id="nfc-digit-prefix"),
    pytest.param({"steps": ("NFC",), "segmenter": "qwen2"}, id="nfc-qwen2"),
    pytest.param({"steps": ("NFD",), "add_prefix_space": True}, id="nfd"),
    pytest.param({"steps": ("NFKC",), "processor": "none"}, id="nfkc"),
    pytest.param({"steps": ("NFKD",), "segmenter": "llama3", "trim_offsets": False}, id="nfkd"),
    pytest.param({"steps": ("Lowercase",), "add_prefix_space": True}, id="lower"),
    pytest.param({"steps": ("NFD", "Lowercase", "StripAccents"), "processor": "none"}, id="lower-accents"),
    pytest.param(
        {"steps": ("NFKD", "StripAccents", "Lowercase"), "trim_offsets": False, "add_prefix_space": True},
        id="nfkd-accents-lower",
    ),
    pytest.param({"segmenter": "digits", "trim_offsets": False}, id="digits"),
    pytest.param({"segmenter": "digit", "add_prefix_space": True}, id="digit-prefix"),
]


@pytest.mark.parametrize("options", OPTIONS)
def test_own_texts(options: dict[str, object]) -> None:
    assert_same(small_spec(**options), OWN_TEXTS)


@pytest.mark.parametrize("options", one_in(3, OPTIONS))
def test_random_texts(options: dict[str, object]) -> None:
    source = random_source()
    spec = small_spec(**options)
    pieces = texts_of_pieces(spec)
    texts = [random_text(source, 24, (*TRICKY, *SPACES, *CONTRACTIONS)).encode() for _ in range(1500)]
    texts += [random_bytes(source, 12) for _ in range(500)]
    texts += [b"".join(source.choices(pieces, k=source.randint(1, 12))) for _ in range(1500)]
    assert_same(spec, texts)


def test_words_longer_than_a_block_of_ranks() -> None:
    source = random_source()
    spec = small_spec()
    letters = [piece for piece in texts_of_pieces(spec) if piece.isalpha()]
    texts = [b"".join(source.choices(letters, k=source.randint(20, 200)))[:1000] for _ in range(300)]
    assert_same(spec, [*texts, b"a" * 1000, b"th" * 500, "é".encode() * 500, b" " * 1000, b"!" * 33, b"!" * 32])


def test_special_tokens_that_are_not_written_in_bytes_are_no_words() -> None:
    """Words are, where each is a piece that stays whole."""
    values = small_json(processor="none", ignore_merges=True)
    vocab = values["model"]["vocab"]
    token = AddedToken("\u65e5\u672c", len(vocab), True, False, False, False, False)
    vocab[token.content] = token.id
    spec = read_byte_level_json(values | {"added_tokens": [*values["added_tokens"], vars(token)]})
    texts = [text.encode() for text in ("\u65e5\u672c", "a\u65e5\u672c b", " \u65e5\u672c", "\u65e5")]
    for plain_text in (False, True):
        first, *_ = assert_same(spec, texts, plain_text=plain_text)
        assert (first.ids.tolist() == [token.id]) != plain_text


def test_a_longer_word_is_cut_and_said_so() -> None:
    """Behind the last whole character within 1,024 bytes: the two parts are as words of their own."""
    spec = small_spec(processor="none")
    runtime, wheel = Runtime(spec), Wheel(spec)
    for word, cut in (
        (b"the" * 400, 1021),
        ("é".encode() * 700, 1022),
        (b"a" * 1022, 1021),
        (b"x" + "中".encode() * 400, 1021),
    ):
        whole, *parts = runtime.encode([word, word[:cut], word[cut : 2 * cut], b"a" * 1021])
        assert whole.cut_word
        assert not any(part.cut_word for part in parts)
        expected = [result.ids.tolist() for result in wheel.encode([word[:cut], word[cut : 2 * cut]])]
        assert whole.ids.tolist() == expected[0] + expected[1]


def test_a_word_that_is_cut_in_a_pair_is_said_to_be() -> None:
    runtime, long = Runtime(small_spec()), b"the" * 400
    for pair, cut in (((long, b"a"), True), ((b"a", long), True), ((b"a", b"a"), False)):
        (result,) = runtime.encode_pairs([pair])
        assert result.cut_word == cut


def test_pieces_that_merging_does_not_make() -> None:
    """`QZJ` is what a rank behind makes of QZ and J, but Z and J come first; `Qa` is not made at all."""
    values = small_json(processor="none")
    vocab, merges = values["model"]["vocab"], values["model"]["merges"]
    for pair in (["Z", "J"], ["Q", "Z"], ["QZ", "J"]):
        merges.append(pair)
        vocab["".join(pair)] = len(vocab)
    vocab["Qa"] = len(vocab)
    spec = read_byte_level_json(values)
    texts = [b"QZJ", b"QZ", b"QZQZJ", b"Qa", b"QZJJ"]
    assert [len(result.ids) for result in assert_same(spec, texts)] == [2, 1, 3, 2, 3]


@pytest.mark.parametrize("options", one_in(3, OPTIONS))
def test_every_truncation(options: dict[str, object]) -> None:
    spec = small_spec(**options)
    texts = [b"", b"the", b" the fox's tail", "caf\u00e9 中 <mask> </s> waiting".encode(), b"\xff", b"   "]
    single, pair = len(spec.template.single) - 1, len(spec.template.pair) - 2  # special tokens
    assert_same_however_short(spec, texts, range(single + (single == 0), 16), range(pair + (pair == 0), 24))


def added_spec(tokens: list[AddedToken], **options: bool) -> TokenizerSpec:
    vocab = small_json()["model"]["vocab"]
    ordered = tuple(sorted(vocab, key=vocab.__getitem__))
    return small_spec(added=numbered(tokens, ordered), **options)


@pytest.mark.parametrize("name", ADDED)
@pytest.mark.parametrize("prefix", [False, True])
def test_added_tokens(name: str, prefix: bool) -> None:
    source = random_source()
    tokens = [replace(token, normalized=False) for token in ADDED[name]]
    spec = added_spec(tokens, add_prefix_space=prefix, trim_offsets="spaces" not in name)
    parts = (*PARTS, *SPECIALS, " <mask>", "'s")
    texts = [random_text(source, 10, parts).encode() for _ in range(400)] + [text.encode() for text in parts]
    assert_same(spec, texts)
    assert_same(spec, texts, plain_text=True)
    assert_same(spec, texts, 5)


@pytest.mark.parametrize("name", ["both", "spaces", "spaces after rstrip"])
def test_added_tokens_of_both_kinds_that_can_meet_are_refused(name: str) -> None:
    with pytest.raises(EtchError, match="can meet") as refused:
        Runtime(added_spec(ADDED[name], trim_offsets=False))
    assert refused.value.code == "added-token-unsupported"


def test_added_tokens_of_both_kinds_that_cannot_meet() -> None:
    source = random_source()
    tokens = [token("<l>", lstrip=True), token("<n>"), token("[X]", normalized=False, lstrip=True, single_word=True)]
    texts = [random_text(source, 8, ("<l>", "<n>", "[X]", " ", "  ", "\t", "a", "the")).encode() for _ in range(600)]
    for options in ({}, {"add_prefix_space": True}, {"trim_offsets": False}):
        assert_same(added_spec(tokens, **options), texts)


def test_text_of_pieces() -> None:
    spec = small_spec()
    expected = [b"" if piece is None or b"\xff" in piece else piece for piece in spec.model.pieces]
    assert Runtime(spec).pieces() == expected


def test_vocab_json_with_merges_txt_is_the_same_tokenizer(tmp_path: Path) -> None:
    values = small_json()
    (tmp_path / "vocab.json").write_text(json.dumps(values["model"]["vocab"]))
    merges = [item if isinstance(item, str) else " ".join(item) for item in values["model"]["merges"]]
    (tmp_path / "merges.txt").write_text("\n".join(["#version: 0.2", *merges, ""]))
    spec = read_byte_level_folder(CheckpointFolder(tmp_path))
    assert spec.model == small_spec().model
    assert spec.template == small_spec().template
    assert_same(spec, OWN_TEXTS)
