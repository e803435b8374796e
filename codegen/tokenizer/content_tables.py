# SPDX-License-Identifier: Apache-2.0
"""The tables of an `etch::AddedTokens`: texts that are found as a whole, sorted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .fields import Field, byte_array, never_empty, unsigned


@dataclass(frozen=True)
class ContentTables:
    """Sorted by content."""

    text: bytes
    begins: np.ndarray  # uint32 [count + 1]
    ids: np.ndarray  # int32 [count]
    flags: np.ndarray  # uint8 [count]
    first_bytes: np.ndarray  # uint32 [8], a bit set


def compile_contents(contents: Mapping[bytes, tuple[int, int]]) -> ContentTables:
    """Each with its id and flags."""
    ordered = sorted(contents)
    first_bytes = np.zeros(8, np.uint32)
    for content in ordered:
        first_bytes[content[0] // 32] |= np.uint32(1 << content[0] % 32)
    return ContentTables(
        text=b"".join(ordered),
        begins=np.cumsum([0, *map(len, ordered)]).astype(np.uint32),
        ids=np.array([contents[content][0] for content in ordered], np.int32),
        flags=np.array([contents[content][1] for content in ordered], np.uint8),
        first_bytes=first_bytes,
    )


def content_arrays(which: str, tables: ContentTables) -> tuple[tuple[str, np.ndarray], ...]:
    """Their names begin with `which`."""
    return (
        (f"{which}_text", byte_array(tables.text)),
        (f"{which}_begins", tables.begins),
        (f"{which}_ids", never_empty(tables.ids)),
        (f"{which}_flags", never_empty(tables.flags)),
        (f"{which}_first_bytes", tables.first_bytes),
    )


def content_fields(which: str, tables: ContentTables) -> tuple[Field, ...]:
    """The initializer, in the order of the struct."""
    names = ("text", "begins", "ids", "flags", "first_bytes")
    return (*(Field(name, array=f"{which}_{name}") for name in names), unsigned("count", len(tables.ids)))
