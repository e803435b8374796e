# SPDX-License-Identifier: Apache-2.0
"""The tables of Moses' rules that join words, in the order of `etch::MosesDecoder`: `sacremoses` is asked for kinds of
characters."""

from __future__ import annotations

from functools import cache

import numpy as np

from ..load.tokenizer_files.moses_library import ENGLISH, is_east_asian, moses_detokenizer
from .character_sets import class_tables
from .fields import Field, Part, boolean
from .moses import numbers
from .unicode_probe import assigned, scalars

# As in etch::MosesDecoder.
_WHITE_SPACE, _OPENS, _PUNCTUATION, _QUOTES, _LETTER, _EAST_ASIAN = (1 << bit for bit in range(6))


def joined_words(pieces: Part, language: str) -> Part:
    """`pieces` are the tables of the texts of ids."""
    english = language == ENGLISH
    classes, arrays = class_tables(_kinds(english=english))
    fields = (Field("pieces", group=pieces.fields), classes, boolean("english", english))
    return Part("MosesDecoder", fields, (*pieces.arrays, *arrays))


@cache
def _kinds(*, english: bool) -> np.ndarray:
    """Of each scalar its bits: the rules of other languages ask for no letters."""
    library = moses_detokenizer(ENGLISH)
    of = {
        _WHITE_SPACE: str.isspace,
        _OPENS: library.IS_CURRENCY_SYMBOL.search,
        _PUNCTUATION: library.IS_PUNCT.search,
        _QUOTES: library.IS_OPEN_QUOTE.search,
        _LETTER: frozenset(library.IsAlpha if english else "").__contains__,
    }
    kinds = np.zeros(0x110000, np.uint32)
    for bit, asked in of.items():
        kinds[numbers([one for one in assigned() if asked(one)])] |= bit
    kinds[[scalar for scalar in scalars() if is_east_asian(chr(scalar))]] |= _EAST_ASIAN
    kinds[kinds & _WHITE_SPACE != 0] = _WHITE_SPACE
    return kinds
