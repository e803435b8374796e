# SPDX-License-Identifier: Apache-2.0
"""Byte pair encoding over characters from tokenizer.json: SentencePiece's, whose words begin with U+2581, and of other
words.

U+2581 comes of Metaspace, or, where a text is one word, of a normalizer that ends with Prepend and Replace."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from ....ir.byte_pieces import BYTE_PIECES
from ....ir.normalizer_spec import BertNormalizer, CharsmapNormalizer, SequenceNormalizer
from ....ir.tokenizer_spec import (
    END_OF_WORD,
    METASPACE,
    AddedToken,
    CharacterBpeModel,
    MetaspaceSegmenter,
    SplitSegmenter,
    TokenizerSpec,
    WordSegmenter,
)
from ...refusal import refusal, shown
from .bert import read_bert_normalizer
from .bpe import is_bpe, read_bpe_model
from .character_splits import KINDS, last_kind
from .fields import FILE, added_tokens, check_top, notes_of
from .metaspace import read_character_segmenter
from .normalizer import STEPS, listed_steps
from .normalizer_sequence import STEPS as SEQUENCE_STEPS
from .plain_normalizer import read_character_bpe_normalizer
from .template import read_post_processor

PREPEND = {"type": "Prepend", "prepend": METASPACE}
REPLACE = {"type": "Replace", "pattern": {"String": " "}, "content": METASPACE}
# Gemma's files have it behind the normalizer's Replace, which leaves it nothing to do.
SPLIT = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}
_NEVER_IN_UTF8 = frozenset((0xC0, 0xC1, *range(0xF5, 0x100)))


def is_character_bpe(described: dict[str, Any]) -> bool:
    """Whether a parsed tokenizer.json is of this kind: not of bytes."""
    segmenter = described.get("pre_tokenizer")
    return is_bpe(described.get("model")) and (segmenter is None or last_kind(segmenter) in (*KINDS, "Metaspace"))


def read_character_bpe_json(values: dict[str, Any]) -> TokenizerSpec:
    """The tokenizer of a parsed tokenizer.json."""
    check_top(values)
    model, merges = read_bpe_model(values["model"], byte_fallback=(None, False, True), suffixes=(END_OF_WORD,))
    steps = listed_steps(values["normalizer"], *STEPS, *SEQUENCE_STEPS, "Prepend")
    rest = [step for step in steps if step not in (PREPEND, REPLACE)]
    ends = steps[len(rest) :]
    if any(step["type"] == "Prepend" for step in rest) or rest != steps[: len(rest)] or ends.count(PREPEND) > 1:
        message = "Prepend is supported of U+2581 only, once and, as Replace of a space, behind all other normalizers"
        raise refusal("tokenizer-normalizer", message, file=FILE)
    added = added_tokens(values["added_tokens"], model["vocab"])
    _check_added(added, ends)
    post = read_post_processor(values["post_processor"], model["vocab"] | {token.content: token.id for token in added})
    if post.trimming:
        message = "a post_processor with trim_offsets is supported with byte-level BPE only"
        raise refusal("tokenizer-post-processor", message, file=FILE)
    unknown = model["unk_token"]
    by_id = sorted(model["vocab"], key=model["vocab"].__getitem__)
    byte_fallback = bool(model.get("byte_fallback")) and _has_bytes(model["vocab"])
    if unknown is None and not byte_fallback:
        message = "model.unk_token is null, and there is no byte fallback: texts would lose characters"
        raise refusal("missing-special-token", message, file=FILE)
    _check_merges(merges, by_id, unknown, byte_fallback)
    segmenter = _segmenter(values["pre_tokenizer"], ends)
    of_words = isinstance(segmenter, SplitSegmenter) and isinstance(segmenter.inner, WordSegmenter)
    marks_ends = model["end_of_word_suffix"] == END_OF_WORD
    if marks_ends and (not of_words or byte_fallback or model.get("ignore_merges")):
        message = "end_of_word_suffix is supported without byte_fallback, ignore_merges and Metaspace only"
        raise refusal("tokenizer-setting", message, file=FILE)
    return TokenizerSpec(
        normalizer=_normalizer(rest, segmenter, of_words),
        segmenter=segmenter,
        model=CharacterBpeModel(
            pieces=tuple(piece or None for piece in by_id),
            merges=merges,
            ignore_merges=bool(model.get("ignore_merges")),
            unknown_id=None if unknown is None else model["vocab"][unknown],
            byte_fallback=byte_fallback,
            fuse_unknown=model["fuse_unk"],
            marks_ends=marks_ends,
        ),
        template=post.template,
        added_tokens=added,
        json=json.dumps({**values, "truncation": None, "padding": None}),
        notes=notes_of(values),
    )


def _normalizer(
    steps: list[dict[str, Any]], segmenter: MetaspaceSegmenter | SplitSegmenter, of_words: bool
) -> BertNormalizer | CharsmapNormalizer | SequenceNormalizer:
    if of_words and len(steps) == 1 and steps[0]["type"] == "BertNormalizer":
        return read_bert_normalizer(steps[0])
    return read_character_bpe_normalizer(steps, beside_splits=isinstance(segmenter, SplitSegmenter))


def _segmenter(value: object, ends: list[dict[str, Any]]) -> MetaspaceSegmenter | SplitSegmenter:
    """`ends` are the steps of the normalizer that do a part of it."""
    if value is None and REPLACE not in ends:
        message = "pre_tokenizer null is supported behind a Replace of spaces by U+2581 only: Metaspace makes words"
        raise refusal("tokenizer-pre-tokenizer", message, file=FILE)
    is_done = value is None or (value == SPLIT and REPLACE in ends)
    found = MetaspaceSegmenter("never", False, False) if is_done else read_character_segmenter(value)
    if not ends:
        return found
    if isinstance(found, SplitSegmenter) or found.split_whitespace:
        message = "behind a normalizer that writes U+2581 only Metaspace is supported, alone"
        raise refusal("tokenizer-pre-tokenizer", message, file=FILE)
    return replace(found, prepend="doubled") if PREPEND in ends else found


def _check_added(added: tuple[AddedToken, ...], ends: list[dict[str, Any]]) -> None:
    """Here U+2581 is written behind the place where tokens are looked for in normalized text."""
    for token in added:
        if token.normalized and ends and (PREPEND in ends or {" ", METASPACE} & set(token.content)):
            message = f"added token {shown(token.content)} is normalized, by a normalizer that writes U+2581"
            raise refusal("added-token-unsupported", message, file=FILE)


def _has_bytes(vocab: dict[str, int]) -> bool:
    """Whether it has a piece for each byte that is no piece as a character; without any the setting does nothing."""
    needless = _NEVER_IN_UTF8 | {byte for byte in range(0x80) if chr(byte) in vocab}
    missing = [byte for byte, piece in enumerate(BYTE_PIECES) if piece not in vocab and byte not in needless]
    if missing and any(piece in vocab for piece in BYTE_PIECES):
        message = f"byte fallback with pieces for some bytes only, not for {missing[0]:#04x}, is not supported"
        raise refusal("tokenizer-bytes", message, file=FILE)
    return not missing


def _check_merges(
    merges: tuple[tuple[int, int], ...], by_id: list[str], unknown: str | None, byte_fallback: bool
) -> None:
    """What unknown text becomes must merge with nothing."""
    unmerged = {unknown, *(BYTE_PIECES if byte_fallback else ())}
    for rank, pair in enumerate(merges):
        for half in pair:
            if by_id[half] in unmerged:
                message = f"merge {rank} is of {shown(by_id[half])}, which unknown text becomes: not supported"
                raise refusal("tokenizer-merges", message, file=FILE)
