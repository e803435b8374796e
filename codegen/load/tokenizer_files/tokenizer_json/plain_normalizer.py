# SPDX-License-Identifier: Apache-2.0
"""The normalizer of a tokenizer.json that does not come from SentencePiece: nothing, one of Unicode's normal forms,
what becomes of each character by itself, or several steps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ....ir.normalizer_spec import (
    BertNormalizer,
    CharacterNormalizer,
    CharsmapNormalizer,
    FoldingNormalizer,
    Folds,
    FormCharsmapNormalizer,
    NoNormalizer,
    NormalFormNormalizer,
    RunRule,
    SequenceNormalizer,
)
from ....ir.tokenizer_spec import BertSegmenter, SplitSegmenter, WhitespaceSegmenter
from ...refusal import refusal
from .bert import read_bert_normalizer
from .fields import FILE, only_fields
from .normalizer import (
    FOLDS,
    before_charsmap,
    charsmap_of,
    folds_alone,
    is_sentencepiece,
    listed_steps,
    read_folds,
    read_sentencepiece_steps,
)
from .normalizer import STEPS as SENTENCEPIECE_STEPS
from .normalizer_sequence import FORMS, STEPS, read_sequence

_SPACES = RunRule(" ", 2, " ")
Plain = NoNormalizer | NormalFormNormalizer | CharacterNormalizer | SequenceNormalizer


def read_plain_normalizer(value: object) -> Plain:
    """The value of `normalizer`; a Sequence is its steps."""
    steps = listed_steps(value, *STEPS)
    if all(step["type"] in FOLDS for step in steps) and folds_alone(steps):
        return CharacterNormalizer(read_folds(steps)) if steps else NoNormalizer()
    if len(steps) == 1 and steps[0]["type"] in FORMS:
        only_fields(steps[0], "normalizer", {"type"})
        return NormalFormNormalizer(steps[0]["type"])
    return read_sequence(steps)


def read_word_normalizer(
    value: object, segmenter: BertSegmenter | WhitespaceSegmenter | SplitSegmenter
) -> BertNormalizer | NormalFormNormalizer | CharacterNormalizer | SequenceNormalizer:
    """The same in front of words: BERT's alone; nothing, or lower case alone, is a part of what that does. What is more
    is steps in a row, but before the segmenters that have a composition with it."""
    if isinstance(value, dict) and value.get("type") == "BertNormalizer":
        return read_bert_normalizer(value)
    normalizer = read_plain_normalizer(value)
    if isinstance(normalizer, NoNormalizer):
        return BertNormalizer(False, False, False, False)
    if normalizer == CharacterNormalizer(("Lowercase",)):
        return BertNormalizer(False, False, False, True)
    if isinstance(normalizer, NormalFormNormalizer) and not isinstance(segmenter, BertSegmenter):
        return SequenceNormalizer(form=normalizer.form)
    if isinstance(normalizer, CharacterNormalizer) and isinstance(segmenter, SplitSegmenter):
        return SequenceNormalizer(first_folding=Folds(joins_quotes=False, steps=normalizer.steps))
    return normalizer


def read_unigram_normalizer(
    value: object, *, beside_splits: bool = False
) -> CharsmapNormalizer | FoldingNormalizer | NormalFormNormalizer | SequenceNormalizer | FormCharsmapNormalizer:
    """The same in front of Unigram: also what SentencePiece does."""
    steps = listed_steps(value, *SENTENCEPIECE_STEPS, *STEPS)
    if beside_splits:
        return _beside_splits(steps)
    front = steps[: before_charsmap(steps)]
    if front:
        return _before_charsmap(read_sequence(front), charsmap_of(steps[len(front) :]))
    if is_sentencepiece(steps):
        return read_sentencepiece_steps(steps)
    if len(steps) == 1 and steps[0]["type"] in FORMS:
        only_fields(steps[0], "normalizer", {"type"})
        return NormalFormNormalizer(steps[0]["type"])
    return read_sequence(steps)


def read_character_bpe_normalizer(
    steps: list[dict[str, Any]], *, beside_splits: bool
) -> CharsmapNormalizer | SequenceNormalizer:
    """The same of steps in front of BPE over characters."""
    if beside_splits:
        normalizer = _beside_splits(steps)
        if isinstance(normalizer, CharsmapNormalizer):
            message = "Precompiled before BPE is supported with Metaspace alone"
            raise refusal("tokenizer-normalizer", message, file=FILE)
        return normalizer
    read = read_sentencepiece_steps(steps) if is_sentencepiece(steps) else None
    return read_sequence(steps) if read is None or isinstance(read, FoldingNormalizer) else read


def moves_spaces(normalizer: object) -> bool:
    """Whether spaces may come of other characters, or a character vanish between two: then the place of the one that
    follows is not so many bytes behind the first."""
    if isinstance(normalizer, SequenceNormalizer):
        stays = replace(normalizer, form=None, first_folding=None, third_folding=None) == SequenceNormalizer()
        return not stays or normalizer.form not in (None, "NFC", "NFD") or bool(set(normalizer.folds) - {"Lowercase"})
    forms = (normalizer.form,) if isinstance(normalizer, NormalFormNormalizer) else ()
    steps = normalizer.steps if isinstance(normalizer, CharacterNormalizer) else forms
    return any(step in ("NFKC", "NFKD", "StripAccents") for step in steps)


def _beside_splits(steps: list[dict[str, Any]]) -> CharsmapNormalizer | SequenceNormalizer:
    """Of steps in front of words that are parted at single characters."""
    if not any(step["type"] == "Precompiled" for step in steps):
        return read_sequence(steps)
    normalizer = read_sentencepiece_steps(steps)
    if isinstance(normalizer, FoldingNormalizer):
        message = "normalizers before Precompiled are not supported with pre-tokenizers beside Metaspace"
        raise refusal("tokenizer-normalizer", message, file=FILE)
    return normalizer


def _before_charsmap(first: SequenceNormalizer, rest: CharsmapNormalizer) -> FoldingNormalizer | FormCharsmapNormalizer:
    """What stands before a compiled map. Spaces may be joined before quotation marks are: neither makes the other."""
    folds, behind = first.first_folding, first.second_folding
    in_order = first == SequenceNormalizer(first_folding=folds, first_run=_SPACES, second_folding=behind)
    if in_order and (folds is None or not folds.steps):
        joins_quotes = any(one is not None and one.joins_quotes for one in (folds, behind))
        return FoldingNormalizer(joins_quotes, () if behind is None else behind.steps, rest, joins_spaces=True)
    if folds is not None and first == SequenceNormalizer(first_folding=folds):
        return FoldingNormalizer(folds.joins_quotes, folds.steps, rest)
    form, behind = first.form, first.third_folding
    if form is not None and first == SequenceNormalizer(form=form, third_folding=behind):
        return FormCharsmapNormalizer(form, behind, rest)
    front = "one normal form or Replace of ' {2,}' by a space, then what becomes of single characters"
    raise refusal("tokenizer-normalizer", f"before Precompiled {front}, are supported only", file=FILE)
