# SPDX-License-Identifier: Apache-2.0
"""Models without a vocabulary: what a token is its id says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BytesModel:
    """Each byte of a text is a token."""

    first_id: int  # of the byte 0; the others follow

    @property
    def pieces(self) -> tuple[bytes | None, ...]:
        """By id; None where an id is none of a byte."""
        return (*(None,) * self.first_id, *(bytes((byte,)) for byte in range(256)))


CODE_POINTS = 0x110000


@dataclass(frozen=True)
class CodePointsModel:
    """Each character of a text is a token, whose id is its code point."""

    pieces: tuple[str, ...] = ()  # ids say them
