# SPDX-License-Identifier: Apache-2.0
"""What becomes of each character by itself under some of the wheel's normalizers, found by asking it.

Decomposition puts marks into canonical order, which depends on their neighbours; but whatever is decomposed loses its
marks here, so that what is left of a text is what is left of its characters.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np
from tokenizers import Tokenizer, normalizers

from ..errors import EtchError
from .unicode_probe import HANGUL, changed_by


@dataclass(frozen=True)
class FoldingTables:
    """In the order of `etch::Folding`'s fields."""

    top: np.ndarray  # uint8
    middle: np.ndarray  # uint16
    leaves: np.ndarray  # uint16
    folded: np.ndarray  # uint8
    decomposes_hangul: bool
    ascii: dict[int, str]  # what ASCII becomes


@cache
def compile_folding(steps: tuple[str, ...]) -> FoldingTables:
    """`steps` are the wheel's normalizers, by type or as JSON, each of which changes a character by itself."""
    normalize = normalizer_of(steps).normalize_str
    return folding_tables({c: normalize(chr(c)) for c in changed_by(normalize)})


def folding_tables(becomes: dict[int, str]) -> FoldingTables:
    """`becomes` has what the characters become that do not stay."""
    syllables = [becomes.get(c) for c in HANGUL]
    decomposes = all(text == _letters(c) for c, text in zip(HANGUL, syllables, strict=True))
    if not decomposes and any(text is not None for text in syllables):
        message = "Hangul syllables become something else than their letters"
        raise EtchError("tokenizer-normalizer", "front-end", message)
    places = {"": 1}
    folded = bytearray(b"\0\0")
    table = np.zeros(0x110000, np.uint32)
    for c, text in becomes.items():
        if c in HANGUL:
            continue
        if text not in places:
            places[text] = len(folded)
            folded += text.encode() + b"\0"
        table[c] = places[text]
    if len(folded) > 1 << 16:
        raise EtchError("tokenizer-normalizer", "front-end", "what characters become does not fit its tables")
    leaves, leaf_of = np.unique(table.astype(np.uint16).reshape(-1, 16), axis=0, return_inverse=True)
    middle, middle_of = np.unique(leaf_of.reshape(-1, 16).astype(np.uint16), axis=0, return_inverse=True)
    return FoldingTables(
        top=middle_of.reshape(-1).astype(np.uint8),
        middle=middle.reshape(-1),
        leaves=leaves.reshape(-1),
        folded=np.frombuffer(bytes(folded), np.uint8),
        decomposes_hangul=decomposes,
        ascii={c: becomes.get(c, chr(c)) for c in range(0x80)},
    )


def normalizer_of(steps: Iterable[str]) -> normalizers.Normalizer:
    """The wheel's, of steps one after the other."""
    described = [json.loads(step) if step[0] == "{" else {"type": step} for step in steps]
    tokenizer = {
        "version": "1.0",
        "normalizer": {"type": "Sequence", "normalizers": described},
        "model": {"type": "WordLevel", "vocab": {}, "unk_token": ""},
    }
    return Tokenizer.from_str(json.dumps(tokenizer)).normalizer


def _letters(c: int) -> str:
    """Of a Hangul syllable, by the arithmetic of the Unicode standard, chapter 3.12."""
    index = c - HANGUL[0]
    trailing = chr(0x11A7 + index % 28) if index % 28 else ""
    return chr(0x1100 + index // 588) + chr(0x1161 + index // 28 % 21) + trailing
