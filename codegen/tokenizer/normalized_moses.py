# SPDX-License-Identifier: Apache-2.0
"""The tables of Moses' rules behind a normalization of punctuation, in the order of `etch::NormalizedMosesSegmenter`:
`sacremoses` is asked as of Moses' rules alone, Python's own `unicodedata` and `str.lower` for the rest."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from ..ir.tokenizer_spec import NormalizedMosesSegmenter
from ..load.tokenizer_files.moses_library import folded, is_control
from .character_sets import Arrays, class_tables
from .fields import Field, Part
from .folding import FoldingTables, folding_tables
from .moses import abbreviations, moses_kinds, numbers
from .sequence import tables_field
from .unicode_probe import assigned, scalars

# As in etch::NormalizedMosesSegmenter.
_DIGIT, _CONTROL, _CASED, _IGNORABLE = (1 << bit for bit in range(7, 11))
_STACK_BYTES = 6144  # of what the stages hold, and of each calling the next
_FINAL = "\u03c2"


def compile_normalized_moses(spec: NormalizedMosesSegmenter) -> Part:
    """The tables."""
    kinds, classes, arrays = _classes()
    fold = folded if spec.folds_words else str.lower
    folding, folding_arrays = tables_field("folding", _tables(fold) if spec.lowers else None, "folding_")
    fields = (
        classes,
        *(Field(name, array=name) for name in ("kinds", "abbreviations")),
        folding,
    )
    own = (("kinds", kinds), ("abbreviations", abbreviations(spec.language)))
    every = (*arrays, *own, *folding_arrays)
    kind = f"MosesLanguage::{spec.language}{', true' if spec.escapes else ''}"
    return Part(f"NormalizedMosesSegmenter<{kind}>", fields, every, stack_bytes=_STACK_BYTES)


@cache
def _classes() -> tuple[np.ndarray, Field, Arrays]:
    """The bits of each class, and the classes of all scalars: the same for every model. Not to be written to."""
    kinds, class_of = np.unique(_kinds(), return_inverse=True)
    return kinds.astype(np.uint16), *class_tables(class_of.reshape(-1).astype(np.uint32))


def _tables(fold: Callable[[str], str]) -> FoldingTables:
    return folding_tables({ord(one): text for one in assigned() if (text := fold(one)) != one})


def _kinds() -> np.ndarray:
    """Of each scalar its bits. What case ignores is told by the sigma that ends a word."""
    kinds = moses_kinds()
    every = assigned()
    cased = {c for c in every if f"{c}\u03a3".lower()[-1] == _FINAL}
    of = {
        _DIGIT: [c for c in every if c.isdecimal()],
        _CONTROL: [c for c in every if is_control(c)],
        _CASED: cased,
        _IGNORABLE: [c for c in every if c not in cased and f"A{c}\u03a3".lower()[-1] == _FINAL],
    }
    kinds[np.setdiff1d(scalars(), numbers(every))] |= _CONTROL
    for bit, characters in of.items():
        kinds[numbers(characters)] |= bit
    return kinds
