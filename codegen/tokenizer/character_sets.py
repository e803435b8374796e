# SPDX-License-Identifier: Apache-2.0
"""Sets of characters, found by asking the wheel, and the tables of classes of them: `etch::CharacterClasses`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache

import numpy as np
from tokenizers import pre_tokenizers

from .fields import Field
from .folding import normalizer_of
from .unicode_probe import scalars

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
    """bool [0x110000]: the characters that a `CharacterSplit` is of. Takes a good part of a second."""
    members = np.zeros(0x110000, bool)
    if of.startswith("{"):
        step = json.dumps({"type": "Replace", "pattern": json.loads(of), "content": ""})
        members[list(scalars())] = True
        for text in _chunks():
            members[[ord(c) for c in normalizer_of((step,)).normalize_str(text)]] = False
        return members
    for text in _chunks():
        members[[ord(c) for c in _found(of, text)]] = True
    return members


def _chunks() -> Iterator[str]:
    every = scalars()
    for first in range(0, len(every), _CHUNK):
        yield "".join(map(chr, every[first : first + _CHUNK]))


def _found(of: str, text: str) -> Iterator[str]:
    """Those of a text. Each is put between letters, which no pre-tokenizer drops or isolates."""
    makers = {"Digits": lambda: pre_tokenizers.Digits(individual_digits=True), "words": pre_tokenizers.Whitespace}
    splitter = makers.get(of, getattr(pre_tokenizers, of, None))()
    words = splitter.pre_tokenize_str("x" + "".join(f"{c}x" for c in text))
    pieces = {begin: end for _, (begin, end) in words}
    covered = np.zeros(2 * len(text) + 1, np.uint8)
    for begin, end in pieces.items():
        covered[begin:end] = 1 if end - begin == 1 else 2
    wanted = {"words": 2, "Whitespace": 0, "WhitespaceSplit": 0}.get(of, 1)
    return (c for i, c in enumerate(text) if covered[2 * i + 1] == wanted)
