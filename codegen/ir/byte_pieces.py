# SPDX-License-Identifier: Apache-2.0
"""How vocabularies spell bytes: ByteLevel's alphabet, and the pieces of byte fallback."""

from __future__ import annotations

BYTE_PIECES = tuple(f"<0x{byte:02X}>" for byte in range(256))


def _byte_alphabet() -> dict[str, int]:
    """The character that each byte is written as: itself where it is printable, else one from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(0x100) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(0x100 + i): byte for i, byte in enumerate(others)}


BYTE_OF = _byte_alphabet()


def is_written_in_bytes(piece: str) -> bool:
    """Whether its characters are those of ByteLevel."""
    return all(character in BYTE_OF for character in piece)


def bytes_of(piece: str) -> bytes:
    """What a piece spells; text that is not written in bytes, as of a special token, stays UTF-8."""
    if is_written_in_bytes(piece):
        return bytes(BYTE_OF[character] for character in piece)
    return piece.encode()
