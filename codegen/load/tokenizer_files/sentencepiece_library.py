# SPDX-License-Identifier: Apache-2.0
"""SentencePiece's `*.model` for the `sentencepiece` library: as it is, with some of its pieces, or without what it does
to a text first. All other fields stay as they are."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from ...errors import printable
from ..refusal import refusal
from .sentencepiece_model import NORMAL, read_fields, read_piece

if TYPE_CHECKING:
    from sentencepiece import SentencePieceProcessor

_PIECES, _NORMALIZER = 1, 3  # fields of ModelProto
_BYTES = 2  # wire type
# Fields 3 to 5 of NormalizerSpec: no U+2581 before a text, spaces stay, and stay spaces.
_NOTHING = bytes((3 << 3, 0, 4 << 3, 0, 5 << 3, 0))


def processor_of(raw: bytes) -> SentencePieceProcessor:
    """The library's, which is needed for models with such files only."""
    from sentencepiece import SentencePieceProcessor

    return SentencePieceProcessor(model_proto=raw)


def check_readable(raw: bytes, file: str) -> None:
    """Refuses what the `sentencepiece` library does not read, which asks more of a file than is asked here."""
    try:
        processor_of(raw)
    except ImportError:
        raise
    except Exception as error:  # it has no class of its own
        message = f"`sentencepiece` does not read it: {printable(str(error))}"
        raise refusal("sentencepiece-malformed", message, file=file) from None


def with_pieces(raw: bytes, stays: Callable[[str], bool]) -> bytes:
    """Of its normal pieces those whose texts stay, and all others."""
    refuse = partial(refusal, "sentencepiece-malformed")
    written = bytearray()
    for number, value in read_fields(raw, refuse):
        if number == _PIECES:
            piece = read_piece(value, refuse, 0)
            if piece.type == NORMAL and not stays(piece.text):
                continue
        written += _field(number, value)
    return bytes(written)


def without_normalization(raw: bytes) -> bytes:
    """It finds the pieces of what is normalized already."""
    fields = read_fields(raw, partial(refusal, "sentencepiece-malformed"))
    rest = b"".join(_field(number, value) for number, value in fields if number != _NORMALIZER)
    return rest + _field(_NORMALIZER, _NOTHING)


def _field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    return _varint(number << 3 | _BYTES) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)
