# SPDX-License-Identifier: Apache-2.0
"""EsmTokenizer, of proteins and genomes: vocab.txt alone, at whose every token a text is parted, the longest one first.
What lies between is unknown, each word of it once.

Tokens of one character are the words of a tokenizer.json, longer ones are added tokens: so `tokenizers` does the same.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from ....ir.tokenizer_spec import AddedToken, TokenizerSpec
from ...files import CheckpointFolder
from ...refusal import refusal, shown
from ..folder_tokens import FolderTokens, read_tokens
from ..token_search import check_found_alike
from ..tokenizer_config import FILE as CONFIG_FILE
from ..tokenizer_config import check_are_added, check_unsupported, has_segments, read_config
from ..tokenizer_json.template import template_of
from ..tokenizer_json.word_level import read_word_level_json
from ..vocab_text import FILE, MAX_BYTES, text_of

TOKENIZER_CLASS = "EsmTokenizer"
# With their defaults, in the order in which `transformers` adds them.
_TOKENS: dict[str, object] = {
    "eos_token": "<eos>",
    "unk_token": "<unk>",
    "pad_token": "<pad>",
    "cls_token": "<cls>",
    "mask_token": "<mask>",
}
_NO_SEGMENT = 255
# White space of Python's `split`, which that of `tokenizers` is not.
_SEPARATORS = "".join(map(chr, range(0x1C, 0x20)))


def read_esm_folder(folder: CheckpointFolder) -> TokenizerSpec:
    """The checked tokenizer."""
    config = read_config(folder)
    check_unsupported(config, has_template=True)
    if has_segments(config, usual=False):
        message = "'model_input_names': EsmTokenizer tells the model of no segments here"
        raise refusal("tokenizer-setting", message, file=CONFIG_FILE)
    if not folder.has(FILE):
        raise refusal("tokenizer-missing", f"{TOKENIZER_CLASS} needs {FILE}", file=FILE)
    pieces = [line.strip() for line in text_of(folder.read(FILE, MAX_BYTES)).splitlines()]
    vocab = {piece: i for i, piece in enumerate(pieces)}
    usual = _TOKENS
    if "eos_token" in config and config["eos_token"] is None:  # then a text has no end
        usual, config = ({key: of[key] for key in of if key != "eos_token"} for of in (usual, config))
    tokens = read_tokens(folder, config, None, usual, rebuilds=True)
    named = _named(vocab, tokens)
    found = [*vocab, *(token.content for token in named if token.content not in vocab)]
    check_found_alike(found, FILE)
    spec = read_word_level_json(_described(vocab, named, tokens.special))
    added = {token.content: token for token in named if token.special}
    check_are_added(tokens.extra, added, FILE)
    return replace(spec, notes=tokens.notes)


def _named(vocab: dict[str, int], tokens: FolderTokens) -> list[AddedToken]:
    """Those that files name. Texts are parted at white space anyway, so it does not matter who strips it."""
    named = tokens.of(vocab)
    alone = next((token.content for token in named if token.single_word), None)
    if alone is not None:
        message = f"{shown(alone)} is a token only where it is a word (single_word): not supported here"
        raise refusal("added-token-unsupported", message, file=CONFIG_FILE)
    return [replace(token, lstrip=False, rstrip=False, normalized=False) for token in named]


def _described(vocab: dict[str, int], named: Sequence[AddedToken], special: dict[str, str]) -> dict[str, Any]:
    """As a tokenizer.json."""
    begin, end = special["cls_token"], special.get("eos_token")
    ids = vocab | {token.content: token.id for token in named}
    longer = (
        AddedToken(piece, i, special=False)
        for piece, i in vocab.items()
        if len(piece) > 1 and all(token.content != piece for token in named)
    )
    classes = (("Removed", _SEPARATORS), ("Isolated", "".join(map(_escaped, filter(_is_character, vocab)))))
    splits = [
        {"type": "Split", "pattern": {"Regex": f"[{those}]"}, "behavior": behavior, "invert": False}
        for behavior, those in classes
        if those
    ]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [asdict(token) for token in sorted((*named, *longer), key=lambda token: token.id)],
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, *splits]},
        "post_processor": _template(begin, end, ids),
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": vocab, "unk_token": special["unk_token"]},
    }


def _template(begin: str, end: str | None, ids: dict[str, int]) -> dict[str, Any]:
    """Without an end the class takes no two texts: the second one has a segment here that no model has."""
    if end is None:
        return template_of(f"{begin} $A", f"{begin} $A $B", ids, _NO_SEGMENT)
    return template_of(f"{begin} $A {end}", f"{begin} $A {end} $B {end}", ids)


def _is_character(piece: str) -> bool:
    return len(piece) == 1


def _escaped(character: str) -> str:
    """As a class of characters has it."""
    return f"\\{character}" if character in string.punctuation else character
