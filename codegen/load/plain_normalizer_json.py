# SPDX-License-Identifier: Apache-2.0
"""The normalizer of a tokenizer.json that does not come from SentencePiece: nothing, one of Unicode's normal forms, or
what becomes of each character by itself."""

from __future__ import annotations

from .normalizer_json import FOLDS, listed_steps, read_folds
from .refusal import refusal
from .tokenizer_json import FILE, only_fields
from .tokenizer_spec import CharacterNormalizer, NoNormalizer, NormalFormNormalizer

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


def moves_spaces(normalizer: object) -> bool:
    """Whether spaces may come of other characters, or a character vanish between two: then the place of the one that
    follows is not so many bytes behind the first."""
    forms = (normalizer.form,) if isinstance(normalizer, NormalFormNormalizer) else ()
    steps = normalizer.steps if isinstance(normalizer, CharacterNormalizer) else forms
    return any(step in ("NFKC", "NFKD", "StripAccents") for step in steps)
