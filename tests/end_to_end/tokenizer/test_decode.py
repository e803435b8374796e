# SPDX-License-Identifier: Apache-2.0
"""Ids to text, part by part, against `tokenizer.decode` of the wheel: what texts were encoded to, and random ids."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from byte_level import small_spec
from test_herbert_tokenizer import random_spec as marked_spec
from tokenizer_harness import Decoding, make_spec, random_source
from tokenizer_texts import HARD_TEXTS, SMALL_VOCABULARY, TRICKY, random_text
from tokenizers import Tokenizer
from unigram import random_spec as unigram_spec

from codegen.errors import EtchError
from codegen.ir.target_tokenizer import DecoderSpec
from codegen.ir.tokenizer_spec import AddedToken, TokenizerSpec
from codegen.load.tokenizer_files.tokenizer_json.decoder import read_decoder

WORD_PIECE = {"type": "WordPiece", "prefix": "##", "cleanup": False}
CLEANED = {**WORD_PIECE, "cleanup": True}
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
REPLACE = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
STRIP = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
LLAMA = {"type": "Sequence", "decoders": [REPLACE, {"type": "ByteFallback"}, {"type": "Fuse"}, STRIP]}
DECODERS = {
    "wordpiece": WORD_PIECE,
    "cleaned": CLEANED,
    "none": None,
    "metaspace": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
    "metaspace-never": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never", "split": False},
    "metaspace-old": {"type": "Metaspace", "replacement": "▁", "str_rep": "▁", "add_prefix_space": True},
    "llama": LLAMA,
    "replace": {"type": "Sequence", "decoders": [REPLACE, {"type": "Fuse"}]},
    "fallback": {"type": "ByteFallback"},
    "strip": {"type": "Sequence", "decoders": [{"type": "Fuse"}, {**STRIP, "start": 3}]},
}
_MORE = (
    ".",
    "?",
    "!",
    ",",
    "'",
    "n't",
    "'m",
    "'s",
    "'ve",
    "'re",
    "'search",
    ".5",
    "▁",
    "▁the",
    "a▁b",
    "▁▁",
    "##▁",
    " ",
)
_BYTES = (*(f"<0x{byte:02X}>" for byte in range(256)), "<0xff>", "<0xG0>", "<0x1>", "<0x000>")
_SIGNED = ("<0x+0>", "<0x+A>", "<0x+f>")
_NO_BYTES = (
    "<0x+g>",
    "<0x++>",
    "<0x-1>",
    "<0x 1>",
    "<0x1+>",
    "<0x0G>",
    "<0x/0>",
    "<0x0:>",
    "<0x@1>",
    "<0x1`>",
    "<0xg1>",
    "<0x00)",
    "<1x00>",
)
PIECES = tuple(dict.fromkeys((*SMALL_VOCABULARY, *_MORE, *_BYTES, *_SIGNED, *_NO_BYTES)))


def with_decoder(spec: TokenizerSpec, decoder: object) -> tuple[TokenizerSpec, DecoderSpec]:
    return replace(spec, json=json.dumps({**json.loads(spec.json), "decoder": decoder})), read_decoder(decoder)


@cache
def pieces_spec() -> TokenizerSpec:
    count = len(PIECES)
    added = [
        AddedToken("<new york>", count, False, False, False, False, False),
        AddedToken("\u00e9<x>", count + 1, True, False, False, False, False),
    ]
    return make_spec(PIECES, added)


def assert_decodes(spec: TokenizerSpec, decoder: DecoderSpec, sequences: Sequence[Sequence[int]]) -> None:
    wheel = Tokenizer.from_str(spec.json)
    ours = Decoding(spec, decoder)
    for skip in (False, True):
        expected = wheel.decode_batch([[i for i in ids if i >= 0] for ids in sequences], skip_special_tokens=skip)
        for ids, parts, text in zip(sequences, ours.decode(sequences, skip), expected, strict=True):
            assert b"".join(parts).decode() == text, (ids, skip)
            for part in parts:
                part.decode()  # whole characters


def random_ids(source: random.Random, spec: TokenizerSpec, count: int) -> list[list[int]]:
    last = max([len(spec.model.pieces), *(token.id + 1 for token in spec.added_tokens)]) + 1  # one that is no token
    near = [i for i, piece in enumerate(spec.model.pieces) if piece and len(piece) <= 6] or [0]
    rows = [[source.choice(near) for _ in range(source.randint(1, 12))] for _ in range(count // 2)]
    return rows + [[source.randint(-1, last) for _ in range(source.randint(1, 12))] for _ in range(count // 2)]


def encoded(spec: TokenizerSpec, texts: Sequence[str]) -> list[list[int]]:
    return [encoding.ids for encoding in Tokenizer.from_str(spec.json).encode_batch(list(texts))]


@pytest.mark.parametrize("name", DECODERS)
def test_pieces(name: str) -> None:
    source = random_source()
    spec, decoder = with_decoder(pieces_spec(), DECODERS[name])
    texts = [*HARD_TEXTS, *(random_text(source, 20) for _ in range(400))]
    bytes_only = range(PIECES.index("<0x00>"), PIECES.index("<0x00>") + len((*_BYTES, *_SIGNED, *_NO_BYTES)))
    runs = [[source.choice(bytes_only) for _ in range(source.randint(1, 20))] for _ in range(500)]
    spelled = [[bytes_only[byte] for byte in random_text(source, 6).encode()] for _ in range(500)]
    again = [[*run, source.choice(bytes_only), *run] for run in spelled]
    assert_decodes(spec, decoder, [*encoded(spec, texts), *runs, *spelled, *again, *random_ids(source, spec, 4000)])


@pytest.mark.parametrize("special", [False, True])
def test_byte_level(special: bool) -> None:
    source = random_source()
    added = [
        AddedToken("café Ġ", 700, special, False, False, False, False),  # not all of ByteLevel's characters
        AddedToken("Ġé", 701, special, False, False, False, False),
    ]
    spec, decoder = with_decoder(small_spec(added=added, trim_offsets=False), BYTE_LEVEL)
    texts = [*HARD_TEXTS, *(random_text(source, 20, (*TRICKY, "Ġé", "café Ġ")) for _ in range(400))]
    one_byte = [i for i, piece in enumerate(spec.model.pieces) if piece is not None and len(piece) == 1]
    edges = [one_byte[[spec.model.pieces[i] for i in one_byte].index(bytes((b,)))] for b in EDGES]
    malformed = [[source.choice(edges) for _ in range(source.randint(1, 9))] for _ in range(5000)]
    assert_decodes(spec, decoder, [*encoded(spec, texts), *malformed, *random_ids(source, spec, 3000)])


EDGES = b"\x00a\x7f\x80\x8f\x90\x9f\xa0\xbf\xc0\xc1\xc2\xdf\xe0\xe1\xec\xed\xee\xef\xf0\xf1\xf3\xf4\xf5\xff"


@pytest.mark.parametrize("name", ["metaspace", "metaspace-never", "llama"])
def test_unigram(name: str) -> None:
    source = random_source()
    spec, decoder = with_decoder(unigram_spec(source, byte_fallback=name == "llama"), DECODERS[name])
    texts = [*HARD_TEXTS, *(random_text(source, 20) for _ in range(200))]
    assert_decodes(spec, decoder, [*encoded(spec, texts), *random_ids(source, spec, 2000)])


@pytest.mark.parametrize("form", ["herbert", "nothing"])
def test_pieces_that_end_words(form: str) -> None:
    """Of the last one the end reads as nothing."""
    source = random_source()
    for _ in range(3):
        spec = marked_spec(source, form, whole_end=False)
        spec, decoder = with_decoder(spec, {"type": "BPEDecoder", "suffix": "</w>"})
        texts = [*HARD_TEXTS, *(random_text(source, 20, (*TRICKY, "<mask>", " ab")) for _ in range(200))]
        assert_decodes(spec, decoder, [*encoded(spec, texts), *random_ids(source, spec, 2000)])


@pytest.mark.parametrize("token", ["</w>", "a</w>b", "a</w></w>", "a ", "a </w>"])
def test_ends_of_words_that_cannot_be_decoded_exactly(token: str) -> None:
    spec, read = with_decoder(make_spec((*SMALL_VOCABULARY, token)), {"type": "BPEDecoder", "suffix": "</w>"})
    with pytest.raises(EtchError, match="cannot be decoded exactly"):
        Decoding(spec, read)


def test_a_character_of_several_tokens_comes_whole() -> None:
    spec, decoder = with_decoder(small_spec(), BYTE_LEVEL)
    ids = [spec.model.pieces.index(bytes((byte,))) for byte in "a😀b".encode()]
    assert Decoding(spec, decoder).decode([ids, ids[:3]]) == [
        [b"a", b"", b"", b"", "😀".encode(), b"b", b""],
        [b"a", b"", b"", "\ufffd".encode()],
    ]


def test_a_long_run_of_byte_tokens_is_judged_in_parts() -> None:
    """Up to 64 of them as the wheel does it; of a longer one the valid beginning is not taken back."""
    spec, decoder = with_decoder(pieces_spec(), LLAMA)
    ids = [PIECES.index(f"<0x{byte:02X}>") for byte in ("é" * 100).encode()]
    broken = [*ids, PIECES.index("<0xFF>")]
    decode = Decoding(spec, decoder).decode
    assert b"".join(decode([ids])[0]).decode() == "é" * 100
    assert b"".join(decode([broken[137:]])[0]).decode() == "\ufffd" * 64
    long = b"".join(decode([broken])[0]).decode()
    assert long.startswith("é" * 32)
    assert long.endswith("\ufffd")
    early = [broken[-1], *ids]
    assert b"".join(decode([early])[0]).decode() == "\ufffd" * len(early)


def _changed(decoder: dict[str, Any], **changes: object) -> dict[str, Any]:
    return {**decoder, **changes}


@pytest.mark.parametrize(
    "decoder",
    [
        {"type": "CTC"},
        {"type": "BPEDecoder", "suffix": ""},
        {"type": "BPEDecoder"},
        {"type": "BPEDecoder", "suffix": None},
        {"type": "BPEDecoder", "suffix": "</w>", "prefix": "##"},
        {"type": "Sequence", "decoders": [{"type": "BPEDecoder", "suffix": "</w>"}, {"type": "Fuse"}]},
        _changed(WORD_PIECE, prefix=""),
        _changed(WORD_PIECE, cleanup=None),
        _changed(WORD_PIECE, other=1),
        _changed(BYTE_LEVEL, other=1),
        {"type": "Metaspace", "replacement": "▁▁", "prepend_scheme": "always"},
        {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "sometimes"},
        {"type": "Metaspace", "replacement": "▁", "prepend_scheme": ["always"]},
        {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never", "add_prefix_space": True},
        {"type": "Metaspace", "replacement": "▁"},
        {"type": "Sequence", "decoders": []},
        {"type": "Sequence", "decoders": [{"type": "Fuse"}, REPLACE]},
        {"type": "Sequence", "decoders": [REPLACE, STRIP]},
        {"type": "Sequence", "decoders": [WORD_PIECE, {"type": "Fuse"}]},
        {"type": "Sequence", "decoders": [_changed(REPLACE, pattern={"Regex": "▁"}), {"type": "Fuse"}]},
        {"type": "Sequence", "decoders": [_changed(REPLACE, content="_"), {"type": "Fuse"}]},
        {"type": "Sequence", "decoders": [{"type": "Fuse"}, _changed(STRIP, stop=1)]},
        {"type": "Sequence", "decoders": [{"type": "Fuse"}, _changed(STRIP, start=-1)]},
    ],
)
def test_decoders_that_are_refused(decoder: dict[str, Any]) -> None:
    with pytest.raises(EtchError) as refused:
        read_decoder(decoder)
    assert refused.value.code in ("tokenizer-decoder", "tokenizer-type", "tokenizer-field", "tokenizer-setting")


@pytest.mark.parametrize(("token", "decoder"), [("a .b", CLEANED), ("I do not", CLEANED), ("##x ,", CLEANED)])
def test_tokens_that_cannot_be_decoded_exactly_are_refused(token: str, decoder: dict[str, Any]) -> None:
    spec, read = with_decoder(make_spec((*SMALL_VOCABULARY, token)), decoder)
    with pytest.raises(EtchError, match="cannot be decoded exactly"):
        Decoding(spec, read)


def test_bytes_need_their_decoder() -> None:
    for spec, decoder in ((pieces_spec(), BYTE_LEVEL), (small_spec(), WORD_PIECE)):
        with pytest.raises(EtchError, match="must be"):
            Decoding(*with_decoder(spec, decoder))
