# SPDX-License-Identifier: Apache-2.0
"""Sizes and numbers as users write them."""

from __future__ import annotations

import re

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20}


def parse_size(text: str) -> int:
    """Bytes: `512K` is 512 * 1024, `1M` 1024 * 1024. ValueError for anything else than a number above 0 with K, M or
    nothing behind it."""
    found = re.fullmatch(r"([0-9]{1,12})([KM]?)", text)
    if found is None or int(found[1]) == 0:
        raise ValueError(text)
    return int(found[1]) * _UNITS[found[2]]


def number_from_1(text: str, most: int) -> int:
    """A number from 1 to `most`, in at most ten digits. ValueError for anything else."""
    if re.fullmatch(r"[0-9]{1,10}", text) is None or not 0 < int(text) <= most:
        raise ValueError(text)
    return int(text)


def size_text(size: int) -> str:
    """The least whole K that hold so many bytes, as parse_size reads them."""
    return f"{-(-size // 1024)}K"
