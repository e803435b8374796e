# SPDX-License-Identifier: Apache-2.0
"""tokenizer.json of a word-level tokenizer: whole words between white space, lower-cased or not, as in textbooks."""

from __future__ import annotations

import json
from typing import Any

from ....ir.tokenizer_spec import TokenizerSpec, WordLevelModel
from ...refusal import refusal, shown
from .fields import FILE, added_tokens, check_top, check_vocab, notes_of, only_fields
from .plain_normalizer import read_word_normalizer
from .template import read_post_processor
from .word_segmenters import read_word_segmenter


def is_word_level(described: dict[str, Any]) -> bool:
    """Whether a parsed tokenizer.json is of this kind."""
    model = described.get("model")
    return isinstance(model, dict) and model.get("type") == "WordLevel"


def read_word_level_json(values: dict[str, Any]) -> TokenizerSpec:
    """The tokenizer of a parsed tokenizer.json."""
    check_top(values)
    segmenter = read_word_segmenter(values["pre_tokenizer"], whole_words=True)
    normalizer = read_word_normalizer(values["normalizer"], segmenter)
    model = values["model"]
    only_fields(model, "model", {"type", "vocab", "unk_token"}, required={"vocab", "unk_token"})
    unknown = model["unk_token"]
    if not isinstance(unknown, str):
        raise refusal("tokenizer-type", f"model.unk_token must be a string, got {shown(unknown)}", file=FILE)
    check_vocab(model["vocab"], unknown)
    added = added_tokens(values["added_tokens"], model["vocab"])
    post = read_post_processor(values["post_processor"], model["vocab"] | {token.content: token.id for token in added})
    if post.trimming:
        raise refusal("tokenizer-post-processor", "trim_offsets is not supported with words", file=FILE)
    by_id = sorted(model["vocab"], key=model["vocab"].__getitem__)
    return TokenizerSpec(
        normalizer=normalizer,
        segmenter=segmenter,
        model=WordLevelModel(tuple(piece or None for piece in by_id), model["vocab"][unknown]),
        template=post.template,
        added_tokens=added,
        json=json.dumps({**values, "truncation": None, "padding": None}),
        notes=notes_of(values),
    )
