# SPDX-License-Identifier: Apache-2.0
"""ByT5Tokenizer (Xue et al., 2021, arXiv:2105.13626), which has no vocabulary: a text is its bytes. As `transformers`
5.23 has it.

Three special tokens come first, then the 256 bytes, then more special tokens: the class's sentinels, or others that
files name.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from ....ir.byte_pieces import BYTE_OF
from ....ir.character_models import BytesModel
from ....ir.normalizer_spec import NoNormalizer
from ....ir.target_tokenizer import DecoderSpec
from ....ir.tokenizer_spec import AddedToken, SingleCharacterSegmenter, TokenizerSpec
from ...files import CheckpointFolder
from ...refusal import refusal, shown
from ..folder_tokens import FolderTokens, read_tokens
from ..token_search import check_found_alike
from ..tokenizer_config import FILE as CONFIG_FILE
from ..tokenizer_config import (
    SPECIAL_TOKENS_FILE,
    check_unsupported,
    content_of,
    has_segments,
    read_config,
    read_special_map,
)
from ..tokenizer_json.fields import FILE as JSON_FILE
from ..tokenizer_json.template import read_post_processor, template_of

TOKENIZER_CLASS = "ByT5Tokenizer"
DECODER = DecoderSpec(bytes=True, drops_malformed=True)
# In the order of their ids. Unless an object says otherwise, white space at both sides of them is dropped.
_TOKENS = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
_FIRST_BYTE = len(_TOKENS)
_FIRST_EXTRA = _FIRST_BYTE + 256
_SENTINELS, _MARK = 125, "extra_id"
_LISTS = ("additional_special_tokens", "extra_special_tokens")


def read_byt5_folder(folder: CheckpointFolder) -> TokenizerSpec:
    """The checked tokenizer."""
    config = read_config(folder)
    check_unsupported(config, has_template=True)
    if folder.has(JSON_FILE):
        raise refusal("tokenizer-conflict", f"{TOKENIZER_CLASS} is made without this file", file=JSON_FILE)
    if has_segments(config, usual=False):
        message = f"'model_input_names': {TOKENIZER_CLASS} tells the model of no segments here"
        raise refusal("tokenizer-setting", message, file=CONFIG_FILE)
    tokens = read_tokens(folder, _stripping(config), None, _stripping(_TOKENS), rebuilds=True)
    added = _added_tokens(folder, config, tokens)
    ids = {token.content: token.id for token in added}
    end = tokens.special["eos_token"]
    template = template_of(f"$A {end}", f"$A {end} $B {end}", ids)
    return TokenizerSpec(
        normalizer=NoNormalizer(),
        segmenter=SingleCharacterSegmenter(),
        model=BytesModel(_FIRST_BYTE),
        template=read_post_processor(template, ids).template,
        added_tokens=added,
        json=json.dumps(_described(added, template)),
        notes=(*tokens.notes, *_notes(added, end)),
    )


def _stripping(values: dict[str, Any]) -> dict[str, Any]:
    """With the three tokens as objects, where they are texts."""
    flags = {"lstrip": True, "rstrip": True, "single_word": False, "normalized": True}
    return {
        key: {"content": value, **flags} if key in _TOKENS and isinstance(value, str) else value
        for key, value in values.items()
    }


def _added_tokens(folder: CheckpointFolder, config: dict[str, Any], tokens: FolderTokens) -> tuple[AddedToken, ...]:
    special_map = read_special_map(folder)
    first = _first_ids(tokens, special_map)
    added = tokens.of(first)
    behind = [token.id for token in added if token.content not in first]
    if behind != [*range(_FIRST_EXTRA, _FIRST_EXTRA + len(behind))]:
        message = f"added tokens behind the bytes have the ids {shown(behind)}, not those from {_FIRST_EXTRA} on"
        raise refusal("tokenizer-conflict", message, file=CONFIG_FILE)
    odd = next((token for token in added if token.id != first.get(token.content, token.id)), None)
    if odd is not None:
        message = f"{shown(odd.content)} has the id {odd.id}, for {TOKENIZER_CLASS} it is {first[odd.content]}"
        raise refusal("tokenizer-conflict", message, file=CONFIG_FILE)
    named = _extra(config, special_map, tokens)
    known = {token.content for token in added}
    more = [text for text in dict.fromkeys(named) if text not in known]
    added += (AddedToken(text, _FIRST_EXTRA + len(behind) + i, special=True) for i, text in enumerate(more))
    _check_found(added)
    return tuple(replace(t, special=t.special or t.content in named, normalized=False) for t in added)


def _first_ids(tokens: FolderTokens, special_map: dict[str, Any]) -> dict[str, int]:
    """Of the three tokens, by their texts."""
    of_map = {text for text in special_map.values() if isinstance(text, str)}
    bare = next((token.content for token in tokens.named if token.content in of_map), None)
    if bare is not None:
        message = f"{shown(bare)} is a text here: say it in {CONFIG_FILE}, or as an object with flags"
        raise refusal("tokenizer-setting", message, file=SPECIAL_TOKENS_FILE)
    first = {tokens.special[key]: i for i, key in enumerate(_TOKENS)}
    if len(first) != len(_TOKENS):
        raise refusal("tokenizer-conflict", f"two of {', '.join(_TOKENS)} are one token", file=CONFIG_FILE)
    return first


def _extra(config: dict[str, Any], special_map: dict[str, Any], tokens: FolderTokens) -> list[str]:
    """Special tokens behind the bytes: those that a file lists, or the class's sentinels."""
    for key, value, file in tokens.extra:
        is_in_object = isinstance((config if file == CONFIG_FILE else special_map).get(key), dict)
        if key not in _LISTS or is_in_object or not isinstance(value, str):
            message = f"'{key}': {shown(value)} beside the tokens of {TOKENIZER_CLASS} is not supported"
            raise refusal("tokenizer-setting", message, file=file)
    count = config.get("extra_ids", _SENTINELS)
    if type(count) is not int or count < 0:
        raise refusal("config-type", f"'extra_ids' must be an integer from 0, got {shown(count)}", file=CONFIG_FILE)
    lists = [of[key] for of in (config, special_map) for key in _LISTS if of.get(key)]
    if any(of != lists[0] for of in lists):
        message = f"{' and '.join(_LISTS)} of the folder's files are not the same"
        raise refusal("tokenizer-conflict", message, file=CONFIG_FILE)
    named = [content_of(value, key, file) for key, value, file in tokens.extra]
    if not tokens.lists_extra:
        return [f"<{_MARK}_{i}>" for i in range(count)]
    marked = len({text for text in named if _MARK in text})
    if named and count not in (0, marked):
        message = f"'extra_ids' is {count}, the files list {marked} tokens with '{_MARK}'"
        raise refusal("tokenizer-conflict", message, file=CONFIG_FILE)
    return named


def _check_found(added: Sequence[AddedToken]) -> None:
    """Refuses tokens that `transformers` finds otherwise in a text."""
    for token in added:
        if token.single_word:
            message = f"{shown(token.content)} is a token only where it is a word (single_word): not supported here"
            raise refusal("added-token-unsupported", message, file=CONFIG_FILE)
        if len(token.content) == 1:
            message = f"{shown(token.content)} is one character, which a text has as its bytes"
            raise refusal("added-token-unsupported", message, file=CONFIG_FILE)
    check_found_alike([token.content for token in added], CONFIG_FILE)


def _described(added: tuple[AddedToken, ...], template: dict[str, Any]) -> dict[str, Any]:
    """As a tokenizer.json: byte pair encoding without a pair."""
    vocab = {character: _FIRST_BYTE + byte for character, byte in BYTE_OF.items()}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [asdict(token) for token in added],
        "normalizer": None,
        "pre_tokenizer": byte_level,
        "post_processor": template,
        "decoder": byte_level,
        "model": {"type": "BPE", "vocab": vocab | {t.content: t.id for t in added}, "merges": []},
    }


def _notes(added: tuple[AddedToken, ...], end: str) -> tuple[str, ...]:
    """What `transformers` makes otherwise of special tokens that a text has."""
    notes: tuple[str, ...] = (f"a text that ends with {end} gets another one, {TOKENIZER_CLASS} adds none",)
    if any(token.lstrip or token.rstrip for token in added):
        notes += (f"U+001C to U+001F beside special tokens stay, {TOKENIZER_CLASS} takes them for white space",)
    return notes
