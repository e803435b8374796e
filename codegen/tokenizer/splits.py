# SPDX-License-Identifier: Apache-2.0
"""The tables of pre-tokenizers that part a text at single characters, in the order of `etch::SplitSegmenter`.

Scalars of which all the pre-tokenizers think the same are a class. A row of them is one table, of the classes between
whose characters a text is parted; which characters they find is found by asking the wheel.
"""

from __future__ import annotations

import string
from itertools import product

import numpy as np

from ..errors import EtchError
from ..ir.split_spec import CharacterSplit, Cut
from .character_sets import Arrays, class_tables, members
from .fields import Field

MOST_CLASSES = 32  # a bit for each in an entry of `parted`
_REMOVED = 0
_MOST_SPLITS = 24


def compile_splits(splits: tuple[CharacterSplit, ...]) -> tuple[tuple[Field, ...], Arrays]:
    """The fields of `etch::SplitSegmenter` but the last, and the arrays behind them."""
    class_of, parts = classes(splits)
    of_classes, arrays = class_tables(class_of)
    letter_class = Field("letter_class", literal=f"{_letter_class(class_of, parts)}u")
    return (of_classes, Field("parted", array="parted"), letter_class), (*arrays, ("parted", parts))


def classes(splits: tuple[CharacterSplit, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The class of each scalar, 0 for those that are dropped, and for each class a bit for each behind whose characters
    those of it begin another word: uint32 [classes]."""
    if len(splits) > _MOST_SPLITS:
        message = f"{len(splits)} pre-tokenizers part the text, at most {_MOST_SPLITS} are supported"
        raise EtchError("tokenizer-pre-tokenizer", "front-end", message)
    found = np.zeros((len(splits), 0x110000), bool)
    for row, split in enumerate(splits):
        found[row] = members(split.of)
    removed = np.zeros(0x110000, bool)
    for split, those in zip(splits, found, strict=True):
        if split.cut == "removed":
            removed |= those
        elif split.cut == "others_removed":
            removed |= ~those
    found[:, removed] = False
    codes = np.left_shift(1, np.arange(len(splits)), dtype=np.int64) @ found
    codes[removed] = -1  # those that are dropped are one class, the first
    kinds, class_of = np.unique(codes, return_inverse=True)
    has_removed = bool(kinds[0] == -1)
    class_of += not has_removed
    count = len(kinds) + (not has_removed)
    if count > MOST_CLASSES:
        message = (
            f"these pre-tokenizers make {count - 1} classes of characters, at most {MOST_CLASSES - 1} are supported"
        )
        raise EtchError("tokenizer-pre-tokenizer", "front-end", message)
    parted = np.zeros(count, np.uint32)
    for before, behind in product(range(count - 1), repeat=2):
        one, other = (int(kinds[kind + has_removed]) for kind in (before, behind))
        if any(_parts(split.cut, one >> i & 1, other >> i & 1) for i, split in enumerate(splits)):
            parted[behind + 1] |= np.uint32(1 << (before + 1))
    return class_of, parted


def _parts(cut: Cut, before: int, behind: int) -> bool:
    """Whether a text is parted between two characters that are such ones, or are none."""
    return {
        "isolated": bool(before or behind),
        "contiguous": before != behind,
        "with_previous": bool(before),
        "with_next": bool(behind),
        "run_with_previous": before > behind,
        "run_with_next": behind > before,
        "removed": False,
        "others_removed": False,
    }[cut]


def _letter_class(class_of: np.ndarray, parted: np.ndarray) -> int:
    """That of all ASCII letters, if they are of one and stay together; else 0."""
    of_letters = {int(class_of[ord(letter)]) for letter in string.ascii_letters}
    one = of_letters.pop()
    return 0 if of_letters or one == _REMOVED or parted[one] >> one & 1 else one
