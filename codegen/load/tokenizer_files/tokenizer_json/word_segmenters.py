# SPDX-License-Identifier: Apache-2.0
"""The pre-tokenizers of tokenizer.json in front of WordPiece and whole words: any row of those that part a text at
single characters."""

from __future__ import annotations

from typing import cast

from ....ir.split_spec import Cut
from ....ir.tokenizer_spec import BertSegmenter, PunctuationRule, SplitSegmenter, WhitespaceSegmenter, WordSegmenter
from ...refusal import refusal
from .character_splits import KINDS, listed_parts, read_behavior, read_splits
from .fields import FILE

_WHITE_SPACE = {"BertPreTokenizer", "Whitespace", "WhitespaceSplit"}
WordSegmenters = BertSegmenter | WhitespaceSegmenter | SplitSegmenter


def read_word_segmenter(value: object, *, whole_words: bool) -> WordSegmenters:
    """The value of `pre_tokenizer`; `whole_words` are never taken apart by the model."""
    parts = listed_parts(value, *KINDS)
    kinds = {part["type"] for part in parts}
    splits = read_splits(parts)
    if not parts:
        raise refusal("tokenizer-pre-tokenizer", "no pre-tokenizer makes words: WhitespaceSplit would", file=FILE)
    if not kinds & _WHITE_SPACE or kinds - _WHITE_SPACE - {"Punctuation"}:
        return SplitSegmenter(splits, WordSegmenter(add_prefix_space=False, whole_words=whole_words))
    behaviors: set[Cut] = {read_behavior(part) for part in parts if part["type"] == "Punctuation"}
    if "BertPreTokenizer" in kinds:
        behaviors.add("isolated")
    rule = _joined(behaviors)
    if rule == "isolated" and "Whitespace" not in kinds and not whole_words:
        return BertSegmenter()
    return WhitespaceSegmenter("Whitespace" in kinds, whole_words, rule)


def _joined(rules: set[Cut]) -> PunctuationRule:
    """Of several in a row: what is removed is gone, and any two of the others isolate."""
    if len(rules) == 1:
        return cast(PunctuationRule, next(iter(rules)))
    return "removed" if "removed" in rules else "isolated" if rules else "kept"
