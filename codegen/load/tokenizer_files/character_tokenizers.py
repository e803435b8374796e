# SPDX-License-Identifier: Apache-2.0
"""Tokenizers that config.json spells out, character by character: models that turn spelling into phonemes.

`grapheme_chars` are the characters of the source, `phoneme_chars` those of the target, the id of each is its place. The
first four places are reserved: pad, begin, end, unknown. A source is begin, the ids of its characters, end.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import Any

from ...ir.normalizer_spec import NoNormalizer
from ...ir.target_tokenizer import DecoderSpec
from ...ir.tokenizer_spec import AddedToken, SingleCharacterSegmenter, TokenizerSpec, WordLevelModel
from ..config import Config
from ..files import CheckpointFolder
from ..refusal import refusal, shown
from .tokenizer_json.decoder import read_decoder
from .tokenizer_json.fields import added_tokens
from .tokenizer_json.template import read_post_processor

SOURCE_KEY, TARGET_KEY = "grapheme_chars", "phoneme_chars"
PAD, BEGIN, END, UNKNOWN = range(4)
_RESERVED = ("<pad>", "<s>", "</s>", "<unk>")  # shown for them: of several characters, so that none is a text's
_PLACEHOLDER = "_"  # stands for each of them in the file
_IDS = {"pad_token_id": PAD, "bos_token_id": BEGIN, "eos_token_id": END, "unk_token_id": UNKNOWN}
_OTHER_FILES = ("tokenizer.json", "vocab.txt", "vocab.json", "source.spm", "spiece.model", "sentencepiece.bpe.model")


def has_characters(config: Config) -> bool:
    """Whether config.json says them."""
    return SOURCE_KEY in config or TARGET_KEY in config


def read_source(folder: CheckpointFolder, config: Config, vocab_size: int) -> TokenizerSpec:
    """Every character of a text becomes one token, unknown ones, white space and line ends too; a text is never read
    as a reserved token."""
    other = next((name for name in _OTHER_FILES if folder.has(name)), None)
    if other is not None:
        message = f"{config.file} has the characters of a tokenizer ({SOURCE_KEY}), this file is another one"
        raise refusal("tokenizer-conflict", message, file=other)
    return _spec(_pieces(config, SOURCE_KEY, vocab_size), special=(), notes=())


def read_target(config: Config, vocab_size: int) -> tuple[TokenizerSpec, DecoderSpec]:
    """Characters are joined as they are, reserved tokens are special ones."""
    pieces = _pieces(config, TARGET_KEY, vocab_size)
    spec = _spec(pieces, _RESERVED, _without_text(pieces, vocab_size))
    return spec, read_decoder(json.loads(spec.json)["decoder"])


def _pieces(config: Config, key: str, vocab_size: int) -> tuple[str, ...]:
    characters = config.text(key)
    first, rest = characters[: len(_RESERVED)], characters[len(_RESERVED) :]
    if first != _PLACEHOLDER * len(_RESERVED):
        message = f"'{key}' must begin with {len(_RESERVED)} times '{_PLACEHOLDER}', the reserved places"
        raise refusal("characters-reserved", f"{message}; it begins with {shown(first)}", file=config.file)
    if not rest:
        raise refusal("characters-missing", f"'{key}' has no character behind the reserved places", file=config.file)
    if len(set(rest)) != len(rest):
        twice = next(one for i, one in enumerate(rest) if one in rest[:i])
        raise refusal("characters-twice", f"'{key}' has {shown(twice)} at two places", file=config.file)
    if len(characters) > vocab_size:
        message = f"'{key}' has {len(characters)} places, the word embedding only {vocab_size} rows (vocab_size)"
        raise refusal("token-id-out-of-range", message, file=config.file)
    for name, expected in _IDS.items():
        found = config.values.get(name)
        if found is not None and (type(found) is not int or found != expected):
            message = f"'{name}' is {shown(found)}; of the reserved places of '{key}' it is {expected}"
            raise refusal("tokenizer-conflict", message, file=config.file)
    return (*_RESERVED, *rest)


def _without_text(pieces: tuple[str, ...], vocab_size: int) -> tuple[str, ...]:
    """Notes."""
    if len(pieces) == vocab_size:
        return ()
    return (f"the ids {len(pieces)} to {vocab_size - 1} have no character in {TARGET_KEY}: written, they add nothing",)


def _spec(pieces: tuple[str, ...], special: tuple[str, ...], notes: tuple[str, ...]) -> TokenizerSpec:
    begin, end, first, second = (
        *({"SpecialToken": {"id": _RESERVED[i], "type_id": 0}} for i in (BEGIN, END)),
        *({"Sequence": {"id": text, "type_id": 0}} for text in "AB"),
    )
    template = {
        "type": "TemplateProcessing",
        "single": [begin, first, end],
        "pair": [begin, first, end, second, end],
        "special_tokens": {_RESERVED[i]: {"id": _RESERVED[i], "ids": [i], "tokens": [_RESERVED[i]]} for i in (1, 2)},
    }
    return replace(character_spec(pieces, UNKNOWN, special, template, {"type": "Fuse"}), notes=notes)


def character_spec(
    pieces: tuple[str, ...],
    unknown_id: int,
    special: Iterable[str],
    post_processor: dict[str, Any] | None,
    decoder: dict[str, Any] | None,
    *,
    added: Iterable[AddedToken] = (),
) -> TokenizerSpec:
    """Each character of a text is looked up among `pieces`, by id; those of `special` are special tokens, to which
    `added` come with their flags."""
    vocab = {piece: i for i, piece in enumerate(pieces)}
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    tokens = [*({"id": vocab[text], "content": text, **flags} for text in special), *map(asdict, added)]
    described = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": tokens,
        "normalizer": None,
        "pre_tokenizer": {"type": "Split", "pattern": {"Regex": r"[\s\S]"}, "behavior": "Isolated", "invert": False},
        "post_processor": post_processor,
        "decoder": decoder,
        "model": {"type": "WordLevel", "vocab": vocab, "unk_token": pieces[unknown_id]},
    }
    return TokenizerSpec(
        normalizer=NoNormalizer(),
        segmenter=SingleCharacterSegmenter(),
        model=WordLevelModel(tuple(piece or None for piece in pieces), unknown_id),
        template=read_post_processor(post_processor, vocab).template,
        added_tokens=added_tokens(tokens, vocab),
        json=json.dumps(described),
        notes=(),
    )
