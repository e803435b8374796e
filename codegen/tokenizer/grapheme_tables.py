# SPDX-License-Identifier: Apache-2.0
"""Writes runtime/src/tokenizer/unicode/grapheme_tables.cpp: what the wheel's grapheme clusters make of each scalar.

    python3 -m codegen.tokenizer.grapheme_tables [--check]

With --check nothing is written; the exit status says whether the file is current.

The wheel shows its clusters only in Precompiled, and only those of less than six bytes: it looks these up as a whole,
the characters of longer ones one by one. With a map that knows every byte, the length of what comes out is the number
of short clusters and of the characters of long ones. What cannot be seen that way cannot matter either.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from tokenizers.normalizers import Precompiled

from .letter_tables import table_text, write_or_check
from .unicode_probe import scalars

PATH = Path(__file__).resolve().parents[2] / "runtime" / "src" / "tokenizer" / "unicode" / "grapheme_tables.cpp"

# As in runtime/src/tokenizer/unicode/graphemes.hpp.
JOINS, CONTROL, PREPEND, PICTOGRAPHIC, EXTENDS_PICTURE, JOINER = (1 << bit for bit in range(6))
CONSONANT, LINKER, EXTENDS_CONJUNCT = 64, 128, 256
LEADING, VOWEL, TRAILING, AFTER_LEADING, AFTER_VOWEL, AFTER_TRAILING = (512 << bit for bit in range(6))
LEAF_BITS, MIDDLE_BITS = 4, 4

_MARK = "\u0301"  # of two bytes: with a character of three a short cluster, if that one begins it
_PICTURE, _JOINER = "\u00a9", "\u200d"
_KA, _VIRAMA = "\u0915", "\u094d"
_L, _V, _T = "\u1100", "\u1161", "\u11a8"


def byte_map() -> bytes:
    """A compiled map in which every byte but zero is a key."""
    units = np.zeros(1024, np.uint32)
    units[0] = 256 << 10
    labels = np.arange(1, 256, dtype=np.uint32)
    units[256 + labels] = 512 << 10 | 1 << 8 | labels
    return struct.pack("<I", units.nbytes) + units.astype("<u4").tobytes() + b"Z\0"


def probe() -> np.ndarray:
    """The flags of each scalar. Takes about a quarter of a minute."""
    normalize = Precompiled(byte_map()).normalize_str

    def seen(text: str) -> int:
        return len(normalize(text))

    found = np.zeros(0x110000, np.uint16)
    for number in scalars():
        c = chr(number)
        if seen("x" + c) == 1:
            flags = JOINS
            if seen(_PICTURE + c + _PICTURE + _MARK) == 4:
                flags |= JOINER
            elif seen(_PICTURE + c + _JOINER + _PICTURE + _MARK) == 5:
                flags |= EXTENDS_PICTURE
            if seen(_KA + c + _KA + _MARK) == 4:
                flags |= LINKER
            elif seen(_KA + c + _VIRAMA + _KA + _MARK) == 5:
                flags |= EXTENDS_CONJUNCT
        elif seen(c + _MARK + _MARK) == 2:
            flags = CONTROL
        elif seen(c + "x") == 1:
            flags = PREPEND
        elif seen(_PICTURE + _JOINER + c + _MARK) == 4:
            flags = PICTOGRAPHIC
        else:
            flags = CONSONANT * (seen(c + _VIRAMA + _KA + _MARK) == 4) | _hangul(c, seen)
        found[number] = flags
    return found


def _hangul(c: str, seen: Callable[[str], int]) -> int:
    before_leading, before_vowel, before_trailing = (seen(c + other + _MARK) == 3 for other in (_L, _V, _T))
    flags = LEADING * before_leading | VOWEL * (before_vowel and not before_leading)
    flags |= TRAILING * (before_trailing and not before_vowel)
    if len(c.encode()) == 4:  # what it follows cannot be seen: only vowels are as long
        return flags | (AFTER_LEADING | AFTER_VOWEL if flags & VOWEL else 0)
    after = ((AFTER_LEADING, _L), (AFTER_VOWEL, _V), (AFTER_TRAILING, _T))
    return flags | sum(flag for flag, other in after if seen(other + c + _MARK) == 3)


def render(flags: np.ndarray) -> str:
    """The text of grapheme_tables.cpp."""
    classes, class_of = np.unique(flags, return_inverse=True)
    leaves, leaf_of = np.unique(class_of.reshape(-1, 1 << LEAF_BITS), axis=0, return_inverse=True)
    middle, middle_of = np.unique(leaf_of.reshape(-1, 1 << MIDDLE_BITS), axis=0, return_inverse=True)
    if len(middle) > 256 or len(classes) > 256:
        raise AssertionError("the tables do not fit their indices")
    return table_text(
        "grapheme_tables.py",
        "graphemes.hpp",
        (
            ("std::uint8_t", "kGraphemeTop", middle_of.reshape(-1)),
            ("std::uint16_t", "kGraphemeMiddle", middle.reshape(-1)),
            ("std::uint8_t", "kGraphemeLeaves", leaves.reshape(-1)),
            ("std::uint16_t", "kGraphemeFlags", classes),
        ),
    )


if __name__ == "__main__":
    sys.exit(write_or_check(PATH, render(probe()), sys.argv[1:]))
