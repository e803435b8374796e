# SPDX-License-Identifier: Apache-2.0
"""The model of a tokenizer.json that is byte pair encoding, over bytes or over characters."""

from __future__ import annotations

from typing import Any

from ...refusal import refusal, shown
from .fields import FILE, check_vocab, only_fields, typed

Merges = tuple[tuple[int, int], ...]

_MODEL = {
    "type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk", "byte_fallback",
    "ignore_merges", "vocab", "merges",
}  # fmt: skip
_NEWER = {"type", "byte_fallback", "ignore_merges"}  # older files lack them


def is_bpe(model: object) -> bool:
    """Whether a tokenizer.json's model is one; files of 2020 do not name the type."""
    return isinstance(model, dict) and (model.get("type") == "BPE" or ("type" not in model and "merges" in model))


def read_bpe_model(
    value: object, byte_fallback: tuple[object, ...] = (None, False), suffixes: tuple[str, ...] = ()
) -> tuple[dict[str, Any], Merges]:
    """The checked model, and its merges as ids by rank; `byte_fallback` are the values that it may have, `suffixes`
    those of `end_of_word_suffix` beside none."""
    if isinstance(value, dict) and "type" not in value and is_bpe(value):
        value = {"type": "BPE", **value}
    model = typed(value, "model", "BPE")
    only_fields(model, "model", _MODEL, required=_MODEL - _NEWER)
    for key, allowed in (
        ("dropout", (None,)),
        ("continuing_subword_prefix", (None, "")),
        ("end_of_word_suffix", (None, "", *suffixes)),
        ("byte_fallback", byte_fallback),
        ("fuse_unk", (False, True)),
        ("ignore_merges", (None, False, True)),
    ):
        if not any(model.get(key) is one or (isinstance(one, str) and model.get(key) == one) for one in allowed):
            raise refusal("tokenizer-setting", f"model.{key}: {shown(model[key])} is not supported", file=FILE)
    unknown = model["unk_token"]
    if unknown is not None and not isinstance(unknown, str):
        raise refusal("tokenizer-type", f"model.unk_token must be a string or null, got {shown(unknown)}", file=FILE)
    check_vocab(model["vocab"], unknown)
    return model, _merges(model["merges"], model["vocab"])


def _merges(value: object, vocab: dict[str, int]) -> Merges:
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
