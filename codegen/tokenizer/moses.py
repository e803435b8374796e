# SPDX-License-Identifier: Apache-2.0
"""The tables of Moses' rules, in the order of `etch::MosesSegmenter`: `sacremoses` is asked for kinds of characters and
for abbreviations."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from ..load.tokenizer_files.moses_library import ENGLISH, moses_tokenizer
from .character_sets import class_tables
from .fields import Field, Part, byte_array
from .unicode_probe import scalars

# As in etch::MosesSegmenter.
_ALPHANUMERIC, _LETTER, _NUMBER, _LOWERCASE, _WHITE_SPACE, _ALONE, _POSSESSIVE = (1 << bit for bit in range(7))
_MOST_BYTES = 32
_ANYWHERE, _BEFORE_NUMBER = 1, 2
_STACK_BYTES = 1536  # of what the stages hold, and of each calling the next
_HAS_RULES = ".'`,-"  # which are no words of their own wherever they stand


def compile_moses() -> Part:
    """The tables."""
    classes, arrays = class_tables(moses_kinds())
    fields = (classes, Field("abbreviations", array="abbreviations"))
    array = ("abbreviations", abbreviations(ENGLISH))
    return Part("MosesSegmenter", fields, (*arrays, array), stack_bytes=_STACK_BYTES)


def moses_kinds() -> np.ndarray:
    """Of each scalar its bits, which are the same in the languages that are supported."""
    library = moses_tokenizer()
    kinds = np.zeros(0x110000, np.uint32)
    of = {
        _ALPHANUMERIC: library.IsAlnum,
        _LETTER: library.IsAlpha,
        _NUMBER: library.IsN,
        _LOWERCASE: library.IsLower,
        _POSSESSIVE: "s",
    }
    for bit, characters in of.items():
        kinds[numbers(set(characters))] |= bit
    every = np.array(scalars())
    spaces = numbers({chr(scalar) for scalar in scalars() if chr(scalar).isspace()})
    alone = np.setdiff1d(every, [*spaces, *numbers(_HAS_RULES), *numbers(set(library.IsAlnum))])
    kinds[alone] |= _ALONE
    kinds[spaces] = _WHITE_SPACE
    return kinds


def numbers(characters: Collection[str]) -> list[int]:
    """Scalars of characters."""
    return [ord(character) for character in characters]


def abbreviations(language: str) -> np.ndarray:
    """Each once, and a zero; words that `sacremoses` lists with spaces never are one."""
    library = moses_tokenizer(language)
    before_number = set(library.NUMERIC_ONLY_PREFIXES)
    found = bytearray()
    for word in dict.fromkeys((*library.NONBREAKING_PREFIXES, *library.NUMERIC_ONLY_PREFIXES)):
        text = word.encode()
        if len(word.split()) == 1 and len(text) <= _MOST_BYTES:
            found += bytes((_BEFORE_NUMBER if word in before_number else _ANYWHERE, *text, 0))
    return byte_array(bytes(found) + b"\0")
