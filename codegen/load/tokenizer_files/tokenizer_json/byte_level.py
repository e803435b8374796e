# SPDX-License-Identifier: Apache-2.0
"""tokenizer.json of byte-level BPE, as RoBERTa and GPT-2 have it."""

from __future__ import annotations

import json
from typing import Any

from ....ir.byte_pieces import bytes_of, is_written_in_bytes
from ....ir.normalizer_spec import CharacterNormalizer, Folds, NoNormalizer, NormalFormNormalizer, SequenceNormalizer
from ....ir.split_spec import ExpressionSegmenter
from ....ir.tokenizer_spec import (
    END_OF_WORD,
    ByteLevelBpeModel,
    ByteLevelSegmenter,
    ClipSegmenter,
    SplitSegmenter,
    TokenizerSpec,
)
from ...refusal import refusal, shown
from .bpe import read_bpe_model
from .byte_level_segmenters import CLIP_SEGMENTERS, read_segmenter
from .fields import FILE, added_tokens, check_top, notes_of
from .plain_normalizer import moves_spaces, read_plain_normalizer
from .template import read_post_processor


def read_byte_level_json(values: dict[str, Any]) -> TokenizerSpec:
    """The tokenizer of a parsed tokenizer.json."""
    check_top(values)
    normalizer = read_plain_normalizer(values["normalizer"])
    segmenter = read_segmenter(values["pre_tokenizer"])
    if isinstance(normalizer, CharacterNormalizer) and not isinstance(segmenter, ByteLevelSegmenter):
        normalizer = SequenceNormalizer(first_folding=Folds(joins_quotes=False, steps=normalizer.steps))
    if isinstance(normalizer, NormalFormNormalizer) and isinstance(
        segmenter, SplitSegmenter | ClipSegmenter | ExpressionSegmenter
    ):
        normalizer = SequenceNormalizer(form=normalizer.form)
    if isinstance(normalizer, NoNormalizer) and isinstance(segmenter, ClipSegmenter):
        normalizer = SequenceNormalizer()
    model, merges = read_bpe_model(values["model"], suffixes=(END_OF_WORD,) if segmenter in CLIP_SEGMENTERS else ())
    added = added_tokens(values["added_tokens"], model["vocab"])
    ids = model["vocab"] | {token.content: token.id for token in added}
    post = read_post_processor(values["post_processor"], ids)
    if post.trimming and moves_spaces(normalizer):
        message = "NFKC, NFKD and StripAccents are not supported with trim_offsets: they move spaces"
        raise refusal("tokenizer-normalizer", message, file=FILE)
    described = {**values, "truncation": None, "padding": None}
    return TokenizerSpec(
        normalizer=normalizer,
        segmenter=segmenter,
        model=ByteLevelBpeModel(
            pieces=_pieces(model["vocab"], {token.content for token in added}),
            merges=merges,
            ignore_merges=model.get("ignore_merges", False),
            marks_ends=model["end_of_word_suffix"] == END_OF_WORD,
        ),
        template=post.template,
        added_tokens=added,
        trimming=post.trimming,
        json=json.dumps(described),
        notes=notes_of(values),
    )


def _pieces(vocab: dict[str, int], added: set[str]) -> tuple[bytes | None, ...]:
    """Added tokens that are not written in bytes are no pieces: no word is."""
    pieces: list[bytes | None] = [None] * len(vocab)
    spelled: set[bytes] = set()
    for piece, number in vocab.items():
        if piece in added and not is_written_in_bytes(piece):
            continue
        text = bytes_of(piece)
        if text in spelled:
            raise refusal("tokenizer-type", f"the piece {shown(piece)} spells the same bytes as another", file=FILE)
        spelled.add(text)
        pieces[number] = text or None
    return tuple(pieces)
