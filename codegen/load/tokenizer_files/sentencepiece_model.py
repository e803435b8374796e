# SPDX-License-Identifier: Apache-2.0
"""A SentencePiece `*.model`: the few fields of its protobuf that tokenizing needs, read strictly.

By our own lines, because there are few and the file comes from strangers: fields are those of sentencepiece_model.proto
(github.com/google/sentencepiece), others are passed over, what is malformed is refused.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from ..refusal import refusal

UNIGRAM, BPE = 1, 2  # TrainerSpec.ModelType
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)  # SentencePiece.Type

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # wire types
_MOST_PIECES = 1 << 20


class ScoredPiece(NamedTuple):
    text: str
    score: float  # of 32 bits
    type: int


@dataclass(frozen=True)
class SentencePieceModel:
    """With the defaults of the fields that the file leaves out."""

    pieces: tuple[ScoredPiece, ...]
    model_type: int
    byte_fallback: bool
    unknown_id: int
    charsmap: bytes
    add_dummy_prefix: bool
    remove_extra_whitespaces: bool
    escape_whitespaces: bool


def read_sentencepiece_model(raw: bytes, file: str) -> SentencePieceModel:
    refuse = partial(refusal, "sentencepiece-malformed", file=file)
    pieces: list[ScoredPiece] = []
    trainer: dict[int, Any] = {}
    normalizer: dict[int, Any] = {}
    for number, value in read_fields(raw, refuse):
        if number == 1:
            pieces.append(read_piece(value, refuse, len(pieces)))
            if len(pieces) > _MOST_PIECES:
                raise refuse(f"more than {_MOST_PIECES} pieces")
        elif number == 2:
            trainer |= dict(read_fields(_message(value, refuse), refuse))
        elif number == 3:
            normalizer |= dict(read_fields(_message(value, refuse), refuse))
    if not pieces:
        raise refuse("it has no pieces")
    unknown = [i for i, piece in enumerate(pieces) if piece.type == UNKNOWN]
    if len(unknown) != 1:
        raise refuse(f"{len(unknown)} pieces are the unknown one")

    def number_of(fields: dict[int, Any], field: int, default: int) -> int:
        value = fields.get(field, default)
        if not isinstance(value, int):
            raise refuse(f"field {field} is not a number")
        return value

    return SentencePieceModel(
        pieces=tuple(pieces),
        model_type=number_of(trainer, 3, UNIGRAM),
        byte_fallback=bool(number_of(trainer, 35, 0)),
        unknown_id=unknown[0],
        charsmap=_message(normalizer.get(2, b""), refuse),
        add_dummy_prefix=bool(number_of(normalizer, 3, 1)),
        remove_extra_whitespaces=bool(number_of(normalizer, 4, 1)),
        escape_whitespaces=bool(number_of(normalizer, 5, 1)),
    )


def read_piece(value: object, refuse: Any, index: int) -> ScoredPiece:
    """The message of a piece, the so-many-th of a model."""
    fields = dict(read_fields(_message(value, refuse), refuse))
    text, score, kind = fields.get(1, b""), fields.get(2, b"\0\0\0\0"), fields.get(3, NORMAL)
    if not isinstance(text, bytes) or not isinstance(score, bytes) or len(score) != 4 or not isinstance(kind, int):
        raise refuse(f"piece {index} has fields of other types")
    try:
        spelled = text.decode("utf-8")
    except UnicodeDecodeError:
        raise refuse(f"piece {index} is not UTF-8") from None
    (number,) = struct.unpack("<f", score)
    if not math.isfinite(number):
        raise refuse(f"the score of piece {index} is not finite")
    return ScoredPiece(spelled, number, kind)


def _message(value: object, refuse: Any) -> bytes:
    if not isinstance(value, bytes):
        raise refuse("a number stands where a message is expected")
    return value


def read_fields(raw: bytes, refuse: Any) -> Iterator[tuple[int, int | bytes]]:
    """Number and value of each field: varints as int, all others as bytes."""
    at = 0
    while at < len(raw):
        tag, at = _varint(raw, at, refuse)
        number, wire = tag >> 3, tag & 7
        if number == 0:
            raise refuse("a field has the number 0")
        if wire == _VARINT:
            value, at = _varint(raw, at, refuse)
            yield number, value
            continue
        if wire == _BYTES:
            size, at = _varint(raw, at, refuse)
        elif wire in (_FIXED32, _FIXED64):
            size = 4 if wire == _FIXED32 else 8
        else:
            raise refuse(f"field {number} has the wire type {wire}")
        if len(raw) - at < size:
            raise refuse(f"field {number} ends behind the file")
        yield number, raw[at : at + size]
        at += size


def _varint(raw: bytes, at: int, refuse: Any) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(raw):
            raise refuse("it ends within a number")
        byte = raw[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & (1 << 64) - 1, at
    raise refuse("a number has more than ten bytes")
