# SPDX-License-Identifier: Apache-2.0
"""tokenizer.json of a WordPiece whose normalizer or pre-tokenizer is not BERT's, as textbooks make them, or that puts
nothing around texts."""

from __future__ import annotations

import json
from typing import Any

from ....ir.tokenizer_spec import TokenizerSpec, WordPieceModel
from ...refusal import refusal
from .bert import read_word_piece_model
from .fields import FILE, added_tokens, check_top, notes_of
from .plain_normalizer import read_word_normalizer
from .template import read_post_processor
from .word_segmenters import read_word_segmenter


def is_word_piece_of_steps(described: dict[str, Any]) -> bool:
    """Whether a parsed tokenizer.json is of this kind."""
    model = described.get("model")
    parts = (described.get("normalizer"), "BertNormalizer"), (described.get("pre_tokenizer"), "BertPreTokenizer")
    is_bert = all(isinstance(part, dict) and part.get("type") == kind for part, kind in parts)
    is_bert = is_bert and described.get("post_processor") is not None
    return isinstance(model, dict) and model.get("type") == "WordPiece" and not is_bert


def read_word_piece_json(values: dict[str, Any]) -> TokenizerSpec:
    """The tokenizer of a parsed tokenizer.json."""
    check_top(values)
    segmenter = read_word_segmenter(values["pre_tokenizer"], whole_words=False)
    normalizer = read_word_normalizer(values["normalizer"], segmenter)
    model = read_word_piece_model(values["model"])
    vocab = model["vocab"]
    added = added_tokens(values["added_tokens"], vocab)
    post = read_post_processor(values["post_processor"], vocab | {token.content: token.id for token in added})
    if post.trimming:
        raise refusal("tokenizer-post-processor", "trim_offsets is not supported with WordPiece", file=FILE)
    return TokenizerSpec(
        normalizer=normalizer,
        segmenter=segmenter,
        model=WordPieceModel(
            pieces=tuple(piece or None for piece in sorted(vocab, key=vocab.__getitem__)),
            continuing_prefix=model["continuing_subword_prefix"],
            max_input_chars_per_word=model["max_input_chars_per_word"],
            unknown_id=vocab[model["unk_token"]],
        ),
        template=post.template,
        added_tokens=added,
        json=json.dumps({**values, "truncation": None, "padding": None}),
        notes=notes_of(values),
    )
