# SPDX-License-Identifier: Apache-2.0
"""Writes tests/runtime/tokenizer/test_vocabulary.hpp: small tokenizers, compiled, for the C++ tests.

python3 tests/codegen/tokenizer/make_test_vocabulary.py
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT), str(Path(__file__).resolve().parents[2] / "end_to_end" / "tokenizer")]

from character_bpe import PREPEND, REPLACE, character_bpe_json  # noqa: E402
from unigram import METASPACE, RULES, RUNS, compiled, specials, strip, unigram_json  # noqa: E402

from codegen.ir.byte_pieces import BYTE_OF, BYTE_PIECES  # noqa: E402
from codegen.ir.normalizer_spec import BertNormalizer  # noqa: E402
from codegen.ir.target_tokenizer import DecoderSpec  # noqa: E402
from codegen.ir.template_spec import bert_template  # noqa: E402
from codegen.ir.tokenizer_spec import (  # noqa: E402
    AddedToken,
    BertSegmenter,
    TokenizerSpec,
    UnigramModel,
    WhitespaceSegmenter,
    WordLevelModel,
    WordPieceModel,
)
from codegen.load.files import CheckpointFolder  # noqa: E402
from codegen.load.tokenizer_files.folders.byt5 import DECODER as BYTES_DECODER  # noqa: E402
from codegen.load.tokenizer_files.folders.byt5 import read_byt5_folder  # noqa: E402
from codegen.load.tokenizer_files.tokenizer_json.byte_level import read_byte_level_json  # noqa: E402
from codegen.load.tokenizer_files.tokenizer_json.character_bpe import read_character_bpe_json  # noqa: E402
from codegen.load.tokenizer_files.tokenizer_json.decoder import read_decoder  # noqa: E402
from codegen.load.tokenizer_files.tokenizer_json.unigram import read_unigram_json  # noqa: E402
from codegen.tokenizer import Field, TokenizerTables, compile_decoder, compile_tokenizer  # noqa: E402

PATH = ROOT / "tests" / "runtime" / "tokenizer" / "test_vocabulary.hpp"

_SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_WORDS = (
    *(
        "istanbul",
        "οδοσ",
        "οδος",
        "xy",
        "x",
        "y",
        "ab",
        "hi",
        "\U0001f469\U0001f469\U0001f467",
        "\U0002b820x",
        "\u0378",
    ),
    *("ß", "\uab70", "ﬁ", "ｶﾅ", "\u0939\u093f\u0928\u0926\u0940", "a\u2e43b", "a\u0c77b", "아", "▁", "a▁b", "한국어"),
    *("\u1112\u1161\u11ab\u1100\u116e\u11a8\u110b\u1165", "\u110b\u1161", "##\u314b"),
    *("foo", "bar", "the", "hello", "world", "un", "##aff", "##able", "İstanbul", "café", "cafe", "Ab"),
    *("$", "5", "+", "3", "^", "2", "~", "`", "[", "]", "sep", ",", "!", ".", "?", "#", ";"),
    *(
        "a",
        "##a",
        "aaaa",
        "##aaaa",
        "é",
        "e",
        "中",
        "文",
        "##中",
        "i\u0307",
        "\u1100",
        "q\u1b44\U0001e000",
        "b",
        "\U00011099",
    ),
    "{a",  # its first character is none
    *(f"z{letter}" for letter in "abcdefghijklmnopqrstuvwxy"),  # so many that a list of children is continued
)
PIECES = tuple(dict.fromkeys((*_SPECIALS, *_WORDS)))
_ADDED = (
    AddedToken("<l>", len(PIECES), False, False, False, True, False),
    AddedToken("<r>", len(PIECES) + 1, False, False, False, False, True),
    AddedToken("New York", len(PIECES) + 2, False, True, False, False, False),
    AddedToken("<w>", len(PIECES) + 3, True, True, True, False, False),
    AddedToken("<s>", len(PIECES) + 4, False, False, True, False, False),
    AddedToken("<n>", len(PIECES) + 5, False, True, False, True, True),
)

# Of byte-level BPE: what is merged, by rank. Some need what a lower rank leaves, some meet in the middle of a word.
_MERGES = tuple(
    tuple(merge.split("|"))
    for merge in (
        *("t|h", "i|n", "th|e", "e|r", "a|a", "r|e", "in|g", "a|n", "aa|aa", " |the", " |in", " | ", "  |  ", "'|s"),
        *(
            "'|re",
            "an|d",
            " |and",
            "\n|\n",
            "1|0",
            "10|0",
            "!|!",
            "o|n",
            "h|er",
            "th|er",
            "ing|er",
            "z|y",
            "x|z",
            "xz|y",
        ),
    )
)
_MERGES_OF_BYTES = ("c3|a9", "20|c3a9", "e4b8|ad", "e4|b8", "ef|bf", "efbf|bd", "bf|bd")
_BYTE_SPECIALS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
_BYTE_ADDED = (
    AddedToken("<l>", 0, False, False, False, True, False),
    AddedToken("<r>", 0, True, False, False, False, True),
    AddedToken("<w>", 0, False, False, True, False, False),
    AddedToken("<unk> <l>", 0, False, False, False, False, False),
)


def byte_level_spec(added: tuple[AddedToken, ...] = (), **options: bool) -> TokenizerSpec:
    """`options`: add_prefix_space, trim_offsets, ignore_merges."""
    written = {byte: character for character, byte in BYTE_OF.items()}

    def piece(text: bytes) -> str:
        return "".join(written[byte] for byte in text)

    merges = [[piece(half.encode()) for half in merge] for merge in _MERGES]
    merges += [[piece(bytes.fromhex(half)) for half in merge.split("|")] for merge in _MERGES_OF_BYTES]
    pieces = dict.fromkeys((*_BYTE_SPECIALS, *(written[byte] for byte in range(256)), *map("".join, merges)))
    specials = [AddedToken(text, i, True, False, False, text == "<mask>", False) for i, text in enumerate(pieces)][:5]
    settings = {key: options.get(key, False) for key in ("add_prefix_space", "trim_offsets")}
    return read_byte_level_json(
        {
            "version": "1.0",
            "added_tokens": [
                *map(vars, specials),
                *({**vars(token), "id": len(pieces) + i} for i, token in enumerate(added)),
            ],
            "normalizer": None,
            "pre_tokenizer": {"type": "ByteLevel", "use_regex": True, **settings},
            "post_processor": {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0], **settings},
            "model": {
                "type": "BPE",
                "dropout": None,
                "unk_token": None,
                "continuing_subword_prefix": None,
                "end_of_word_suffix": None,
                "fuse_unk": False,
                "byte_fallback": False,
                "ignore_merges": options.get("ignore_merges", False),
                "vocab": {text: i for i, text in enumerate(pieces)},
                "merges": merges,
            },
        }
    )


# Of Unigram: two pieces are better than one, or as good; letters that only longer pieces have; bytes.
_SCORED = (
    *((METASPACE, -2.0), ("a", -2.0), ("b", -3.0), ("aa", -3.0), ("ab", -5.0), ("bc", -4.0), ("abc", -6.0)),
    *(("\u00e9", -2.5), ("c\u00e9", -4.0), ("\u4e2d", -3.5), (METASPACE + "the", -1.0), ("the", -1.5), ("he", -0.5)),
    *((METASPACE + METASPACE, -2.5), ("e", -1.0), ("(", -6.0), ("1", -6.0), ("2", -6.0), ("xx", -9.0)),
    *(("thea", -1.6), (METASPACE + "b", -9.0)),
)

_MAP = compiled({key: text for key, text in RULES.items() if len(text) < 5})
_AFTER = (strip(False, True), RUNS)


def unigram_spec(added: tuple[AddedToken, ...] = (), *, byte_fallback: bool = False, **options: Any) -> TokenizerSpec:
    """`options` are those of unigram_json."""
    vocab = [[token.content, 0.0] for token in specials()]
    vocab += [[piece, -8.0] for piece in BYTE_PIECES if byte_fallback]
    vocab += [list(one) for one in _SCORED]
    numbered = (replace(token, id=len(vocab) + i) for i, token in enumerate(added))
    values = unigram_json(vocab, byte_fallback=byte_fallback, added=[*specials(), *numbered], **options)
    return read_unigram_json(values)


def unigram_spec_without_ids() -> TokenizerSpec:
    """A piece that has none, and a special token's id for a text that has no piece."""
    found = unigram_spec(_BYTE_ADDED, scheme="first", split=False)
    assert isinstance(found.model, UnigramModel)
    model = replace(found.model, without_id=(("zz", -1.0),), named=(("\u4e0d\u4e0e", 0),))
    return replace(found, model=model)


_ONE_WORD: dict[str, Any] = {"metaspace": False, "after": [PREPEND, REPLACE]}
_LLAMA = {
    "type": "Sequence",
    "decoders": [
        {"type": "Replace", "pattern": {"String": METASPACE}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0},
    ],
}
_PAIRS = (
    *("t|h", "th|e", "h|e", "t|he", f"{METASPACE}|the", "a|a", "aa|a", "aa|aa", "a|b", "b|c", "ab|c", "a|bc"),
    *(f"{METASPACE}|{METASPACE}", "<|s", "s|>", "<s|>", "<|s>", "<s>|a", "c|\u00e9"),
)


def character_bpe_spec(
    added: tuple[AddedToken, ...] = (), *, byte_fallback: bool = False, **options: Any
) -> TokenizerSpec:
    """Several pairs make one piece, one a special token. `options` are those of character_bpe_json."""
    merges = [pair.split("|") for pair in _PAIRS]
    letters = "".join(dict.fromkeys("".join("".join(pair) for pair in merges)))
    pieces = [token.content for token in specials()] + list(BYTE_PIECES if byte_fallback else ())
    vocab = {text: i for i, text in enumerate(dict.fromkeys((*pieces, *letters, *map("".join, merges))))}
    numbered = (replace(token, id=len(vocab) + i) for i, token in enumerate(added))
    settings = {"dropout": None, "unk_token": "<unk>", "continuing_subword_prefix": None, "end_of_word_suffix": None}
    model = {"type": "BPE", **settings, "fuse_unk": not byte_fallback, "byte_fallback": byte_fallback, "merges": merges}
    return read_character_bpe_json(
        character_bpe_json({**model, "vocab": vocab}, added=[*specials(), *numbered], **options)
    )


def byte_spec() -> TokenizerSpec:
    """ByT5's, with two sentinels."""
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "tokenizer_config.json").write_text(json.dumps({"extra_ids": 2}))
        return read_byt5_folder(CheckpointFolder(Path(name)))


def spec(added: tuple[AddedToken, ...] = (), **flags: bool) -> TokenizerSpec:
    tokens = (*(AddedToken(text, i, True, False, False, False, False) for i, text in enumerate(_SPECIALS)), *added)
    on = {"clean_text": True, "handle_chinese_chars": True, "strip_accents": True, "lowercase": True, **flags}
    wheel = {
        "version": "1.0",
        "added_tokens": [vars(token) for token in tokens],
        "normalizer": {"type": "BertNormalizer", **on},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {piece: i for i, piece in enumerate(PIECES)},
        },
    }
    return TokenizerSpec(
        normalizer=BertNormalizer(**on),
        segmenter=BertSegmenter(),
        model=WordPieceModel(PIECES, "##", 100, 1),
        template=bert_template(2, 3),
        added_tokens=tokens,
        json=json.dumps(wheel),
        notes=(),
    )


def word_level_spec() -> TokenizerSpec:
    words = WordLevelModel(PIECES, 1)
    return replace(
        spec(), normalizer=BertNormalizer(False, False, False, False), segmenter=WhitespaceSegmenter(False), model=words
    )


_ALIASES = {
    "Tokenizer<BertNormalizer, BertSegmenter, WordPiece>": "BertTokenizer",
    "Tokenizer<BertNormalizer, WhitespaceSegmenter, WordPiece>": "WordLevelTokenizer",
    "Tokenizer<NoNormalizer, ByteLevelSegmenter, ByteLevelBpe>": "ByteLevelBpeTokenizer",
    "Tokenizer<NoNormalizer, SingleCharacterSegmenter, Bytes>": "ByteTokenizer",
    "Tokenizer<CharsmapNormalizer, MetaspaceSegmenter, CharacterBpe>": "CharacterBpeTokenizer",
    "Tokenizer<CharsmapNormalizer, MetaspaceSegmenter, Unigram>": "UnigramTokenizer",
}


def render() -> str:
    parts = [
        "// SPDX-License-Identifier: Apache-2.0",
        "// Generated by tests/codegen/tokenizer/make_test_vocabulary.py. Do not edit.",
        "#pragma once",
        "",
        '#include "compositions.hpp"',
        "",
        "// clang-format off",
        "namespace test_vocabulary {",
        "",
        "using etch::PrependScheme;",
        "using etch::PunctuationRule;",
        "using etch::TemplatePart;",
        "",
        *_tokenizer("kUncased", compile_tokenizer(spec())),
        *_decoder("kUncased", spec(), {"type": "WordPiece", "prefix": "##", "cleanup": False}),
        *_tokenizer("kCased", compile_tokenizer(spec(lowercase=False, strip_accents=False))),
        *_tokenizer("kWithTokens", compile_tokenizer(spec(_ADDED))),
        *_tokenizer("kLowercaseOnly", compile_tokenizer(spec(strip_accents=False))),
        *_tokenizer("kWords", compile_tokenizer(word_level_spec())),
        *_tokenizer("kBytes", compile_tokenizer(byte_level_spec(trim_offsets=True))),
        *_decoder("kBytes", byte_level_spec(trim_offsets=True), {"type": "ByteLevel"}),
        *_tokenizer("kBytesWithTokens", compile_tokenizer(byte_level_spec(_BYTE_ADDED, add_prefix_space=True))),
        *_tokenizer("kBytesWhole", compile_tokenizer(byte_level_spec(ignore_merges=True))),
        *_tokenizer("kBytesAlone", compile_tokenizer(byte_spec())),
        *_decoder("kBytesAlone", byte_spec(), BYTES_DECODER),
        *_tokenizer("kMerged", compile_tokenizer(character_bpe_spec(_BYTE_ADDED, charsmap=_MAP))),
        *_tokenizer("kMergedText", compile_tokenizer(character_bpe_spec(byte_fallback=True, **_ONE_WORD))),
        *_decoder("kMergedText", character_bpe_spec(byte_fallback=True, **_ONE_WORD), _LLAMA),
        *_tokenizer("kPieces", compile_tokenizer(unigram_spec(charsmap=_MAP, split_whitespace=True))),
        *_tokenizer("kPiecesOfBytes", compile_tokenizer(unigram_spec(byte_fallback=True, charsmap=_MAP, after=_AFTER))),
        *_decoder("kPiecesOfBytes", unigram_spec(byte_fallback=True, charsmap=_MAP, after=_AFTER), _LLAMA),
        *_tokenizer("kPiecesWithTokens", compile_tokenizer(unigram_spec_without_ids())),
        "}  // namespace test_vocabulary",
    ]
    return "\n".join(parts) + "\n"


def _tokenizer(name: str, tables: TokenizerTables) -> list[str]:
    value = f"inline constexpr etch::{_ALIASES[tables.cpp_type]} {name}{_group(name, tables.fields)};"
    return [*_arrays(name, tables.arrays), value, ""]


def _decoder(name: str, of: TokenizerSpec, described: dict[str, Any] | DecoderSpec) -> list[str]:
    decoder = described if isinstance(described, DecoderSpec) else read_decoder(described)
    part = compile_decoder(of, decoder, compile_tokenizer(of))
    prefix = f"{name}_decoder"
    value = f"inline constexpr etch::Decoder {prefix}{_group(prefix, part.fields)};"
    return [*_arrays(prefix, part.arrays), value, ""]


def _arrays(name: str, arrays: Iterable[tuple[str, np.ndarray]]) -> list[str]:
    return [
        f"inline constexpr std::{_type(array)} {name}_{array_name}[] = {{{','.join(map(str, array.tolist()))}}};"
        for array_name, array in arrays
    ]


def _type(array: np.ndarray) -> str:
    return f"{array.dtype.name}_t"


def _group(name: str, fields: tuple[Field, ...]) -> str:
    values = (
        _group(name, field.group)
        if field.group is not None
        else f"{name}_{field.array}"
        if field.array
        else field.literal
        for field in fields
    )
    return "{" + ", ".join(map(str, values)) + "}"


if __name__ == "__main__":
    PATH.write_text(render(), encoding="utf-8")
