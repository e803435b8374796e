# SPDX-License-Identifier: Apache-2.0
"""Small folders with HerBERT's tokenizer, and with GPT's: their two files, and the tokenizer.json that `transformers`
saves of them."""

from __future__ import annotations

from typing import Any

_FIRST = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
_LETTERS = "abcdefghiklmnoprstuwxyzTBC.,!_'12\u00e9\u4e2d"
_MERGES = (
    *("t h", "th e</w>", "T h", "Th e</w>", "a t</w>", "c at</w>", "s at</w>", "o n</w>", "a a", "aa aa", "x y</w>"),
    *("i n", "B er", "e r", "l in</w>", "Ber lin</w>", "o r", "w or", "wor k"),
)


def herbert_folders() -> dict[str, dict[str, Any]]:
    """By name; each has a config.json that says its family."""
    pieces = (
        *_LETTERS,
        "in</w>",
        *(f"{letter}</w>" for letter in _LETTERS),
        *(pair.replace(" ", "") for pair in _MERGES),
    )
    vocab = {piece: i for i, piece in enumerate(dict.fromkeys((*_FIRST, *pieces)))}
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False) | {"special": True}
    described: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": i, "content": text, **flags} for i, text in enumerate(_FIRST)],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": False,
            "lowercase": False,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0]},
        "decoder": {"type": "BPEDecoder", "suffix": "</w>"},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": "<unk>",
            "continuing_subword_prefix": None,
            "end_of_word_suffix": "</w>",
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": vocab,
            "merges": [pair.split(" ") for pair in _MERGES],
        },
    }
    merges = "\n".join(("#version: 0.2", *_MERGES, ""))
    named = {"tokenizer_config.json": {"tokenizer_class": "HerbertTokenizer"}, "config.json": {"model_type": "bert"}}
    plain = named | {"tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast"}}
    return {
        "herbert": {"tokenizer.json": described, **named},
        "herbert, merges.txt": {"vocab.json": vocab, "merges.txt": merges, **named},
        "herbert, as in json": {"tokenizer.json": described | {"post_processor": None}, **plain},
    }


def gpt_folders() -> dict[str, dict[str, Any]]:
    """The same pieces with GPT's class, which has no template, and reads in lower case."""
    herbert = herbert_folders()
    described = herbert["herbert"]["tokenizer.json"]
    lower = {"normalizer": described["normalizer"] | {"strip_accents": None, "lowercase": True}, "post_processor": None}
    named = {
        "tokenizer_config.json": {"tokenizer_class": "OpenAIGPTTokenizer"},
        "config.json": {"model_type": "openai-gpt"},
    }
    return {
        "gpt": {"tokenizer.json": described | lower, **named},
        "gpt, merges.txt": herbert["herbert, merges.txt"] | named,
    }
