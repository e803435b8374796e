# SPDX-License-Identifier: Apache-2.0
"""Sets of characters, found by asking the wheel, and the tables of classes of them: `etch::CharacterClasses`."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
from tokenizers import pre_tokenizers

from .fields import Field
from .folding import normalizer_of
from .unicode_probe import SURROGATES, scalars

CLASS_BITS = 8  # as in etch::CharacterClasses
_CHUNK = 4096

Arrays = tuple[tuple[str, np.ndarray], ...]


def class_tables(class_of: np.ndarray) -> tuple[Field, Arrays]:
    """Of the class of each scalar, below 256: the initializer, and the arrays behind it."""
    changes = np.flatnonzero(np.diff(class_of)) + 1
    begins = np.array([0, *changes.tolist()], np.uint32)
    ranges = begins << CLASS_BITS | class_of[begins]
    beyond = ranges[np.searchsorted(begins, 0x80, "right") - 1 :]
    arrays = (
        ("ascii_classes", class_of[:0x80].astype(np.uint8)),
        ("class_ranges", beyond.astype(np.uint32)),
    )
    group = (*(Field(name, array=name) for name, _ in arrays), Field("range_count", literal=f"{len(beyond)}u"))
    return Field("classes", group=group), arrays


@cache
def members(of: str) -> np.ndarray:
    """bool [0x110000]: the characters that a `CharacterSplit` is of."""
    if of.startswith("{"):
        step = json.dumps({"type": "Replace", "pattern": json.loads(of), "content": ""})
        normalizer = normalizer_of((step,))
        members = np.ones(0x110000, bool)
        members[SURROGATES] = False
        for text in _chunks():
            members[_numbers(normalizer.normalize_str(text))] = False
        return members
    members = np.zeros(0x110000, bool)
    for text in _chunks():
        members[_numbers(text)[_found(of, text)]] = True
    return members


@cache
def _chunks() -> tuple[str, ...]:
    """All scalars."""
    every = "".join(map(chr, scalars()))
    return tuple(every[first : first + _CHUNK] for first in range(0, len(every), _CHUNK))


def _numbers(text: str) -> np.ndarray:
    return np.frombuffer(text.encode("utf-32-le"), np.uint32)


def _found(of: str, text: str) -> np.ndarray:
    """bool [characters]: which of a text. Those of one piece are alike: its first is put between letters, which no
    pre-tokenizer drops or isolates, and makes one word with them, or is one by itself."""
    makers = {"Digits": lambda: pre_tokenizers.Digits(individual_digits=True), "words": pre_tokenizers.Whitespace}
    splitter = (makers[of] if of in makers else getattr(pre_tokenizers, of))()
    dropped = np.ones(len(text), bool)
    found = np.zeros(len(text), bool)
    for _, (begin, end) in splitter.pre_tokenize_str(text):
        dropped[begin:end] = False
        words = splitter.pre_tokenize_str(f"x{text[begin]}x")
        found[begin:end] = len(words) == (1 if of == "words" else 3)
    return dropped if of.startswith("Whitespace") else found
