# SPDX-License-Identifier: Apache-2.0
"""tokenizer.json of byte-level BPE, as RoBERTa and GPT-2 have it."""

from __future__ import annotations

import json
from typing import Any

from .byte_level_segmenters import read_segmenter
from .plain_normalizer_json import moves_spaces, read_plain_normalizer
from .refusal import refusal, shown
from .template_json import read_post_processor
from .tokenizer_json import FILE, added_tokens, check_top, check_vocab, notes_of, only_fields, typed
from .tokenizer_spec import AddedToken, ByteLevelBpeModel, ByteLevelSegmenter, CharacterNormalizer, TokenizerSpec

_MODEL = {
    "type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk", "byte_fallback",
    "ignore_merges", "vocab", "merges",
}  # fmt: skip
_NEWER = {"type", "byte_fallback", "ignore_merges"}  # older files lack them


def read_byte_level_json(values: dict[str, Any]) -> TokenizerSpec:
    """The tokenizer of a parsed tokenizer.json."""
    check_top(values)
    normalizer = read_plain_normalizer(values["normalizer"])
    segmenter = read_segmenter(values["pre_tokenizer"])
    if isinstance(normalizer, CharacterNormalizer) and not isinstance(segmenter, ByteLevelSegmenter):
        message = f"normalizers {', '.join(normalizer.steps)} are supported with GPT-2's expression only"
        raise refusal("tokenizer-normalizer", message, file=FILE)
    model, pieces, merges = _model(values["model"])
    added = added_tokens(values["added_tokens"], model["vocab"])
    ids = model["vocab"] | {token.content: token.id for token in added}
    post = read_post_processor(values["post_processor"], ids)
    if post.trim_offsets:
        _check_trimmed(added)
        if moves_spaces(normalizer):
            message = "NFKC, NFKD and StripAccents are not supported with trim_offsets: they move spaces"
            raise refusal("tokenizer-normalizer", message, file=FILE)
    described = {**values, "truncation": None, "padding": None}
    return TokenizerSpec(
        normalizer=normalizer,
        segmenter=segmenter,
        model=ByteLevelBpeModel(
            pieces=pieces,
            merges=merges,
            ignore_merges=model.get("ignore_merges", False),
            trim_offsets=post.trim_offsets,
            keep_first_space=post.keep_first_space,
        ),
        template=post.template,
        added_tokens=added,
        json=json.dumps(described),
        notes=notes_of(values),
    )


def _model(value: object) -> tuple[dict[str, Any], tuple[bytes | None, ...], tuple[tuple[int, int], ...]]:
    if isinstance(value, dict) and "type" not in value and "merges" in value:  # files of 2020 do not name the type
        value = {"type": "BPE", **value}
    model = typed(value, "model", "BPE")
    only_fields(model, "model", _MODEL, required=_MODEL - _NEWER)
    for key, allowed in (
        ("dropout", (None,)),
        ("continuing_subword_prefix", (None, "")),
        ("end_of_word_suffix", (None, "")),
        ("byte_fallback", (None, False)),
        ("fuse_unk", (False, True)),
        ("ignore_merges", (None, False, True)),
    ):
        if not any(model.get(key) is one or (one == "" and model.get(key) == "") for one in allowed):
            raise refusal("tokenizer-setting", f"model.{key}: {shown(model[key])} is not supported", file=FILE)
    vocab = model["vocab"]
    unknown = model["unk_token"]
    if unknown is not None and not isinstance(unknown, str):
        raise refusal("tokenizer-type", f"model.unk_token must be a string or null, got {shown(unknown)}", file=FILE)
    check_vocab(vocab, unknown)
    pieces: list[bytes | None] = [None] * len(vocab)
    spelled: set[bytes] = set()
    for piece, number in vocab.items():
        text = bytes_of(piece)
        if text in spelled:
            raise refusal("tokenizer-type", f"the piece {shown(piece)} spells the same bytes as another", file=FILE)
        spelled.add(text)
        pieces[number] = text or None
    return model, tuple(pieces), _merges(model["merges"], vocab)


def _merges(value: object, vocab: dict[str, int]) -> tuple[tuple[int, int], ...]:
    if not isinstance(value, list):
        raise refusal("tokenizer-type", "model.merges must be a list", file=FILE)
    merges = []
    for rank, item in enumerate(value):
        pair = item.split(" ") if isinstance(item, str) else item
        if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(half, str) and half for half in pair):
            raise refusal("tokenizer-merges", f"merge {rank} is {shown(item)}, not two pieces", file=FILE)
        for piece in (*pair, "".join(pair)):
            if piece not in vocab:
                message = f"merge {rank} needs {shown(piece)}, which the vocabulary does not have"
                raise refusal("tokenizer-merges", message, file=FILE)
        merges.append((vocab[pair[0]], vocab[pair[1]]))
    return tuple(merges)


def _check_trimmed(added: tuple[AddedToken, ...]) -> None:
    for token in added:
        if token.content != token.content.strip().strip("\u0120"):
            message = f"added token {shown(token.content)} begins or ends with white space while offsets are trimmed"
            raise refusal("added-token-unsupported", message, file=FILE)


def _byte_alphabet() -> dict[str, int]:
    """The character that each byte is written as: itself where it is printable, else one from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(0x100) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(0x100 + i): byte for i, byte in enumerate(others)}


BYTE_OF = _byte_alphabet()


def bytes_of(piece: str) -> bytes:
    """What a piece spells; text that is not written in bytes, as of a special token, stays UTF-8."""
    if all(character in BYTE_OF for character in piece):
        return bytes(BYTE_OF[character] for character in piece)
    return piece.encode()
