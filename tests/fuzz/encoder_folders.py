# SPDX-License-Identifier: Apache-2.0
"""Small folders with tokenizers that one family of encoders has: CANINE's without a vocabulary, Splinter's with a token
where an answer is to stand."""

from __future__ import annotations

from typing import Any

from folder_edits import Files
from tiny_checkpoint import DEFAULT_VOCAB, SPECIAL_TOKENS, tokenizer_json

_QUESTION = "[QUESTION]"
_MASK = {"content": "\ue003", "lstrip": True, "rstrip": False, "normalized": True, "single_word": False}
_THE = {"__type": "AddedToken", **_MASK, "content": "the", "lstrip": False, "normalized": False}
_PLAIN = {**_MASK, "content": "t", "lstrip": False, "rstrip": True}


def encoder_folders() -> dict[str, Files]:
    """By name; each has a config.json that says its family."""
    pieces = [*SPECIAL_TOKENS, _QUESTION, *DEFAULT_VOCAB[len(SPECIAL_TOKENS) :]]
    splinter = {"tokenizer_class": "SplinterTokenizer", "question_token": _QUESTION}
    vocabulary = "\n".join([*pieces, ""])
    canine = {"tokenizer_class": "CanineTokenizer", "model_max_length": 2048}
    folders: dict[str, Files] = {
        "splinter": {"tokenizer.json": tokenizer_json(pieces), "tokenizer_config.json": dict(splinter)},
        "splinter, vocab.txt": {"vocab.txt": vocabulary, "tokenizer_config.json": dict(splinter)},
        "splinter, another question": {
            "vocab.txt": vocabulary,
            "tokenizer_config.json": {**splinter, "question_token": _THE, "do_lower_case": False},
        },
        "canine": {"tokenizer_config.json": dict(canine)},
        "canine, as saved": {"tokenizer_config.json": {**canine, "added_tokens_decoder": _listed(_MASK)}},
        "canine, other tokens": {
            "tokenizer_config.json": {**canine, "cls_token": "x", "mask_token": _MASK, "pad_token": "\ue000"},
            "special_tokens_map.json": {"additional_special_tokens": ["\u4e2d"]},
        },
        "canine, a plain token": {
            "tokenizer_config.json": {**canine, "added_tokens_decoder": _listed(_PLAIN, special=False)}
        },
    }
    return {name: {**files, "config.json": {"model_type": name.split(",")[0]}} for name, files in folders.items()}


def _listed(token: dict[str, Any], *, special: bool = True) -> dict[str, Any]:
    return {str(ord(token["content"])): {**token, "special": special}}
