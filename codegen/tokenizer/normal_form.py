# SPDX-License-Identifier: Apache-2.0
"""The tables of one of Unicode's normal forms, as the wheel has it: what characters are decomposed to, in which order
marks come, which characters compose."""

from __future__ import annotations

from functools import cache
from typing import Literal

import numpy as np
from tokenizers import normalizers

from ..errors import EtchError
from .fields import Field, boolean, unsigned
from .unicode_probe import HANGUL, changed_by, combining_ranks, decomposed_scalars

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]

# As in etch::NormalForm.
MOST_RANK, IS_SECOND, TEXT_SHIFT = 63, 64, 8

_VOWELS_AND_TRAILING = range(0x1161, 0x11A7 + 28)
_OPEN_SYLLABLE, _LEADING = "\uac00", "\u1100"


@cache
def compile_normal_form(form: Form) -> tuple[tuple[Field, ...], tuple[tuple[str, np.ndarray], ...]]:
    """The initializer of an `etch::NormalForm`, and its arrays. Takes seconds."""
    composes = form in ("NFC", "NFKC")
    decompose = (normalizers.NFKD if "K" in form else normalizers.NFD)().normalize_str
    changed = changed_by(decompose) if "K" in form else decomposed_scalars()
    becomes = {c: decompose(chr(c)) for c in changed if c not in HANGUL}
    pairs = _pairs() if composes else {}
    seconds = {second for second, _ in pairs} | (_hangul_seconds() if composes else set())
    table = np.zeros(0x110000, np.uint32)
    for c, rank in combining_ranks().items():
        table[c] |= rank
    for c in seconds:
        table[c] |= IS_SECOND
    texts = bytearray(b"\0")
    places: dict[str, int] = {}
    for c, text in becomes.items():
        if text not in places:
            places[text] = len(texts)
            texts += text.encode() + b"\0"
        table[c] |= places[text] << TEXT_SHIFT
    entries, entry_of = np.unique(table, return_inverse=True)
    leaves, leaf_of = _unique_rows(entry_of.reshape(-1, 16).astype(np.uint16))
    middle, middle_of = _unique_rows(leaf_of.reshape(-1, 16).astype(np.uint16))
    if len(entries) > 1 << 16 or len(middle) > 256:
        raise EtchError("tokenizer-normalizer", "front-end", f"what {form} does to characters does not fit its tables")
    ordered = sorted((second, first, composed) for (second, first), composed in pairs.items())
    arrays = (
        ("form_top", middle_of.reshape(-1).astype(np.uint8)),
        ("form_middle", middle.reshape(-1)),
        ("form_leaves", leaves.reshape(-1)),
        ("form_entries", entries),
        ("form_texts", np.frombuffer(bytes(texts), np.uint8)),
        ("form_pairs", np.array(ordered or [(0, 0, 0)], np.uint32).reshape(-1)),
    )
    fields = (
        *(Field(name.removeprefix("form_"), array=name) for name, _ in arrays),
        unsigned("pair_count", len(ordered)),
        boolean("composes", composes),
    )
    return fields, arrays


def _unique_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of 16 bits each, ascending, and which one each row is: np.unique(axis=0), which takes a second for all of
    Unicode. Big-endian, rows are ordered as their bytes are."""
    width = 2 * rows.shape[1]
    _, first, which = np.unique(rows.astype(">u2").view(f"S{width}")[:, 0], return_index=True, return_inverse=True)
    return rows[first], which


def _pairs() -> dict[tuple[int, int], int]:
    """(a character, the one before it) to what they compose to, Hangul syllables left out."""
    compose, decompose = normalizers.NFC().normalize_str, normalizers.NFD().normalize_str
    pairs = {}
    for c in decomposed_scalars():
        text = decompose(chr(c))
        if c in HANGUL or len(text) < 2 or compose(text) != chr(c):
            continue
        first = compose(text[:-1])
        if len(first) != 1:
            raise EtchError("tokenizer-normalizer", "front-end", f"U+{c:04X} is not composed of two characters")
        pairs[ord(text[-1]), ord(first)] = c
    return pairs


def _hangul_seconds() -> set[int]:
    compose = normalizers.NFC().normalize_str
    return {
        c for c in _VOWELS_AND_TRAILING for first in (_LEADING, _OPEN_SYLLABLE) if len(compose(first + chr(c))) == 1
    }
