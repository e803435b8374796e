# SPDX-License-Identifier: Apache-2.0
"""Small folders whose tokenizer.json has steps of other kinds than BERT's and RoBERTa's: whole words, WordPiece as
textbooks make it, normalizers and pre-tokenizers in a row."""

from __future__ import annotations

from typing import Any

from byte_level import small_json
from folder_edits import Files
from tiny_checkpoint import DEFAULT_VOCAB, SPECIAL_TOKENS

_AS_IN_JSON = {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "[UNK]"}
_WHITESPACE, _WHITESPACE_SPLIT, _BERT = (
    {"type": f"{name}"} for name in ("Whitespace", "WhitespaceSplit", "BertPreTokenizer")
)
_PUNCTUATION = {"type": "Punctuation", "behavior": "Isolated"}
_DIGITS = {"type": "Digits", "individual_digits": True}
_FOLDS = [{"type": "NFD"}, {"type": "Lowercase"}, {"type": "StripAccents"}]
_WORDS = (
    *SPECIAL_TOKENS,
    *(word for word in DEFAULT_VOCAB if word.isalnum()),
    "The",
    "Café",
    "12",
    ".",
    "new_token",
    "dog's",
)


def step_folders() -> dict[str, Files]:
    """By name; each has a config.json that says its family."""
    words = {word: i for i, word in enumerate(dict.fromkeys(_WORDS))}
    pieces = {piece: i for i, piece in enumerate(DEFAULT_VOCAB)}
    word_level = {"type": "WordLevel", "vocab": words, "unk_token": "[UNK]"}
    word_piece = {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
        "vocab": pieces,
    }
    described = {
        "words": _described(word_level, None, _WHITESPACE_SPLIT),
        "words, uncased": _described(word_level, {"type": "Lowercase"}, _WHITESPACE),
        "words, no accents": _described(
            word_level, _row("normalizers", *_FOLDS), _row("pretokenizers", _BERT, _DIGITS)
        ),
        "pieces": _described(word_piece, {"type": "Lowercase"}, _WHITESPACE),
        "pieces, no accents": _described(
            word_piece, _row("normalizers", *_FOLDS), _row("pretokenizers", _WHITESPACE_SPLIT, _PUNCTUATION)
        ),
        "pieces, other characters": _described(
            word_piece,
            _row(
                "normalizers",
                {"type": "NFKC"},
                _replaced(r"\s+", " "),
                {"type": "Strip", "strip_left": True, "strip_right": True},
            ),
            _row("pretokenizers", _WHITESPACE, _split("[aeiou]")),
        ),
    }
    folders: dict[str, Files] = {
        name: {
            "tokenizer.json": values,
            "tokenizer_config.json": dict(_AS_IN_JSON),
            "config.json": {"model_type": "bert"},
        }
        for name, values in described.items()
    }
    byte_level = {
        "bytes, normalizers": small_json(processor="TemplateProcessing", steps=("NFC", "Lowercase")),
        "bytes, digits": small_json(segmenter="digit", processor="ByteLevel"),
        "bytes, qwen": small_json(segmenter="qwen2", processor="ByteLevel", steps=("NFC",)),
    }
    parts = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    byte_level["bytes, splits"] = {
        **small_json(processor="ByteLevel"),
        "pre_tokenizer": _row("pretokenizers", _WHITESPACE_SPLIT, _PUNCTUATION, _split("[0-9]+"), parts),
    }
    folders |= {
        name: {
            "tokenizer.json": values,
            "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast"},
            "config.json": {"model_type": "roberta"},
        }
        for name, values in byte_level.items()
    }
    return folders


def _row(key: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", key: list(parts)}


def _replaced(expression: str, content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"Regex": expression}, "content": content}


def _split(expression: str) -> dict[str, Any]:
    return {"type": "Split", "pattern": {"Regex": expression}, "behavior": "Isolated", "invert": False}


def _described(model: dict[str, Any], normalizer: object, pre_tokenizer: object) -> dict[str, Any]:
    """The tokenizer.json of a model whose first pieces are BERT's special tokens."""
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    first, second = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")
    begin, end = ({"SpecialToken": {"id": name, "type_id": 0}} for name in ("[CLS]", "[SEP]"))
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": i, "content": text, **flags} for i, text in enumerate(SPECIAL_TOKENS)],
        "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [begin, first, end],
            "pair": [begin, first, end, second, end],
            "special_tokens": {
                text: {"id": text, "ids": [model["vocab"][text]], "tokens": [text]} for text in ("[CLS]", "[SEP]")
            },
        },
        "decoder": None,
        "model": model,
    }
