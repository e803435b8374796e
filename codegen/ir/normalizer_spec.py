# SPDX-License-Identifier: Apache-2.0
"""What is done to a text's characters before its words are found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class BertNormalizer:
    """What is done to the characters of a text, in this order."""

    clean_text: bool
    handle_chinese_chars: bool
    strip_accents: bool  # `null` resolved to the value of `lowercase`
    lowercase: bool


@dataclass(frozen=True)
class NoNormalizer:
    """Texts stay as they are."""


@dataclass(frozen=True)
class NormalFormNormalizer:
    """One of Unicode's normal forms."""

    form: Literal["NFC", "NFD", "NFKC", "NFKD"]


@dataclass(frozen=True)
class CharsmapNormalizer:
    """SentencePiece's normalization, in the order of the fields; `strip_`: of white space at the left and right end."""

    strip_before: tuple[bool, bool]
    charsmap: bytes | None  # as SentencePiece compiled it
    strip_after: tuple[bool, bool]
    run_content: str | None  # the character that two spaces or more become; None: they stay


@dataclass(frozen=True)
class SentencePieceNormalizer:
    """As the `sentencepiece` library has it: the longest key of the compiled map at each place, no spaces at the ends,
    one between words. Before that `>>` to the first `<<` at the beginning may be a token, as of Marian's languages."""

    charsmap: bytes | None
    codes: tuple[tuple[str, int], ...] = ()  # their texts and ids
    unknown_code: int | None = None  # the id of others; None: there are no such tokens


@dataclass(frozen=True)
class FoldingNormalizer:
    """Each character by itself, then as SentencePiece does it."""

    joins_quotes: bool  # two grave accents, or two apostrophes, become a quotation mark, before that
    steps: tuple[str, ...]  # types of the wheel's normalizers: what is decomposed loses its accents
    rest: CharsmapNormalizer
    joins_spaces: bool = False  # two spaces or more become one, before all else


@dataclass(frozen=True)
class CharacterNormalizer:
    """Each character by itself."""

    steps: tuple[str, ...]  # types of the wheel's normalizers: what is decomposed loses its accents


@dataclass(frozen=True)
class Folds:
    """What becomes of single characters."""

    joins_quotes: bool  # as in FoldingNormalizer
    steps: tuple[str, ...]  # the wheel's normalizers, by type or as JSON


@dataclass(frozen=True)
class RunRule:
    """A run becomes one character, or none."""

    of: str | None  # that character; None: white space
    least: Literal[1, 2]  # characters
    content: str


@dataclass(frozen=True)
class SequenceNormalizer:
    """Steps in the order of the fields, of which any may be missing; `_strip`: of white space at the left and right
    end."""

    first_strip: tuple[bool, bool] = (False, False)
    first_folding: Folds | None = None
    first_run: RunRule | None = None
    second_folding: Folds | None = None
    form: Literal["NFC", "NFD", "NFKC", "NFKD"] | None = None
    third_folding: Folds | None = None
    second_strip: tuple[bool, bool] = (False, False)
    second_run: RunRule | None = None
    last_folding: Folds | None = None
    last_strip: tuple[bool, bool] = (False, False)

    @property
    def folds(self) -> tuple[str, ...]:
        """All that becomes of single characters."""
        every = (self.first_folding, self.second_folding, self.third_folding, self.last_folding)
        return tuple(step for folds in every if folds is not None for step in folds.steps)


@dataclass(frozen=True)
class FormCharsmapNormalizer:
    """A normal form, what becomes of each character of it, then SentencePiece's normalization."""

    form: Literal["NFC", "NFD", "NFKC", "NFKD"]
    folding: Folds | None
    rest: CharsmapNormalizer


Normalizer = (
    BertNormalizer
    | NoNormalizer
    | NormalFormNormalizer
    | CharacterNormalizer
    | CharsmapNormalizer
    | SentencePieceNormalizer
    | FoldingNormalizer
    | SequenceNormalizer
    | FormCharsmapNormalizer
)
