# SPDX-License-Identifier: Apache-2.0
"""The normalizer of a tokenizer.json that does not come from SentencePiece: nothing, one of Unicode's normal forms, or
what becomes of each character by itself."""

from __future__ import annotations

from .normalizer_json import FOLDS, listed_in, listed_steps, read_folds
from .refusal import refusal
from .tokenizer_json import FILE, only_fields
from .tokenizer_spec import BertNormalizer, CharacterNormalizer, NoNormalizer, NormalFormNormalizer

_FORMS = ("NFC", "NFD", "NFKC", "NFKD")


def read_plain_normalizer(value: object) -> NoNormalizer | NormalFormNormalizer | CharacterNormalizer:
    """The value of `normalizer`; a Sequence is its steps."""
    steps = listed_steps(value, *dict.fromkeys((*_FORMS, *FOLDS)))
    for step in steps:
        only_fields(step, "normalizer", {"type"})
    kinds = [step["type"] for step in steps]
    if len(kinds) == 1 and kinds[0] in _FORMS:
        return NormalFormNormalizer(kinds[0])
    other = next((kind for kind in kinds if kind not in FOLDS), None)
    if other is not None:
        message = f"normalizer '{other}' is supported alone only, this is one of {len(kinds)}"
        raise refusal("tokenizer-normalizer", message, file=FILE)
    return CharacterNormalizer(read_folds(steps)) if kinds else NoNormalizer()


def read_word_normalizer(value: object) -> BertNormalizer | NormalFormNormalizer | CharacterNormalizer:
    """The same in front of words: nothing, or lower case alone, is a part of what BERT's does."""
    normalizer = read_plain_normalizer(value)
    if isinstance(normalizer, NormalFormNormalizer):
        return normalizer
    if isinstance(normalizer, CharacterNormalizer) and normalizer.steps != ("Lowercase",):
        return normalizer
    return BertNormalizer(False, False, False, isinstance(normalizer, CharacterNormalizer))


def read_normal_form(value: object) -> NormalFormNormalizer | None:
    """The value of `normalizer` where it is one of them and nothing else."""
    while isinstance(value, dict) and value.get("type") == "Sequence" and len(steps := listed_in(value)) == 1:
        value = steps[0]
    if not isinstance(value, dict) or value.get("type") not in _FORMS:
        return None
    only_fields(value, "normalizer", {"type"})
    return NormalFormNormalizer(value["type"])


def moves_spaces(normalizer: object) -> bool:
    """Whether spaces may come of other characters, or a character vanish between two: then the place of the one that
    follows is not so many bytes behind the first."""
    forms = (normalizer.form,) if isinstance(normalizer, NormalFormNormalizer) else ()
    steps = normalizer.steps if isinstance(normalizer, CharacterNormalizer) else forms
    return any(step in ("NFKC", "NFKD", "StripAccents") for step in steps)
