# SPDX-License-Identifier: Apache-2.0
"""SentencePiece's files, written field by field."""

from __future__ import annotations

import struct
from collections.abc import Iterable

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, BYTE = 1, 2, 3, 4, 6


def varint(value: int) -> bytes:
    return bytes((value & 0x7F | 0x80,)) + varint(value >> 7) if value > 0x7F else bytes((value,))


def field(number: int, value: bytes | int) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def piece(text: str, score: float, kind: int = NORMAL) -> bytes:
    return field(1, field(1, text.encode()) + varint(2 << 3 | 5) + struct.pack("<f", score) + field(3, kind))


def sentencepiece_file(
    first: Iterable[tuple[str, int]], pieces: Iterable[tuple[str, float]], charsmap: bytes = b"", model_type: int = 1
) -> bytes:
    """`first` are the special pieces, each with its type."""
    special = b"".join(piece(text, 0.0, kind) for text, kind in first)
    rest = b"".join(piece(text, score) for text, score in pieces)
    return special + rest + field(2, field(3, model_type)) + field(3, field(2, charsmap) if charsmap else b"")
