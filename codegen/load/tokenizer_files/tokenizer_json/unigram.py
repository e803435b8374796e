# SPDX-License-Identifier: Apache-2.0
"""SentencePiece's Unigram, as XLM-R, CamemBERT, ALBERT and T5 have it, from tokenizer.json."""

from __future__ import annotations

import json
import math
from typing import Any

from ....ir.tokenizer_spec import SplitSegmenter, TokenizerSpec, UnigramModel
from ...refusal import kind, refusal, shown
from .fields import FILE, added_tokens, check_top, notes_of, only_fields, wheel_of
from .metaspace import read_character_segmenter
from .plain_normalizer import read_unigram_normalizer
from .template import read_post_processor

_MODEL = {"type", "unk_id", "vocab", "byte_fallback"}


def is_unigram(model: object) -> bool:
    """Whether a tokenizer.json's model is one; files of 2020 do not name the type."""
    return isinstance(model, dict) and model.get("type", "Unigram" if "unk_id" in model else None) == "Unigram"


def read_unigram_json(values: dict[str, Any], scores: tuple[float, ...] | None = None) -> TokenizerSpec:
    """The tokenizer of a parsed tokenizer.json; `scores` where those are meant that the wheel does not round."""
    check_top(values)
    segmenter = read_character_segmenter(values["pre_tokenizer"])
    normalizer = read_unigram_normalizer(values["normalizer"], beside_splits=isinstance(segmenter, SplitSegmenter))
    pieces, unknown_id, byte_fallback = _model(values["model"])
    vocab = {piece: i for i, piece in enumerate(pieces)}
    added = added_tokens(values["added_tokens"], vocab)
    post = read_post_processor(values["post_processor"], vocab | {token.content: token.id for token in added})
    if post.trimming:
        message = "a post_processor with trim_offsets is supported with byte-level BPE only"
        raise refusal("tokenizer-post-processor", message, file=FILE)
    described = json.dumps({**values, "truncation": None, "padding": None})
    return TokenizerSpec(
        normalizer=normalizer,
        segmenter=segmenter,
        model=UnigramModel(
            pieces=tuple(piece or None for piece in pieces),
            scores=_scores(described) if scores is None else scores,
            unknown_id=unknown_id,
            byte_fallback=byte_fallback,
        ),
        template=post.template,
        added_tokens=added,
        json=described,
        notes=notes_of(values),
    )


def _model(value: dict[str, Any]) -> tuple[list[str], int, bool]:
    only_fields(value, "model", _MODEL, required={"unk_id", "vocab"})
    vocab = value["vocab"]
    if not isinstance(vocab, list):
        raise refusal("tokenizer-type", f"model.vocab must be a list, got {kind(vocab)}", file=FILE)
    seen: dict[str, int] = {}
    for i, item in enumerate(vocab):
        if not (
            isinstance(item, list) and len(item) == 2 and isinstance(item[0], str) and type(item[1]) in (int, float)
        ):
            raise refusal("tokenizer-type", f"model.vocab[{i}] must be a piece and a score", file=FILE)
        if not math.isfinite(item[1]):
            raise refusal("tokenizer-type", f"the score of {shown(item[0])} is not finite", file=FILE)
        if item[0] in seen:
            message = f"{shown(item[0])} has the ids {seen[item[0]]} and {i}"
            raise refusal("vocab-duplicate-piece", message, file=FILE)
        seen[item[0]] = i
    unknown = value["unk_id"]
    if type(unknown) is not int or not 0 <= unknown < len(vocab):
        message = f"model.unk_id must be one of {len(vocab)} ids, got {shown(unknown)}"
        raise refusal("missing-special-token", message, file=FILE)
    fallback = value.get("byte_fallback", False)
    if not isinstance(fallback, bool):
        raise refusal("tokenizer-type", f"model.byte_fallback must be true/false, got {shown(fallback)}", file=FILE)
    return list(seen), unknown, fallback


def _scores(text: str) -> tuple[float, ...]:
    """As `tokenizers` reads them, which rounds some decimal numbers to the neighbour of the nearest double."""
    return tuple(float(score) for _, score in json.loads(wheel_of(text).to_str())["model"]["vocab"])
