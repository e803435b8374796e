# SPDX-License-Identifier: Apache-2.0
"""SentencePiece's compiled map of characters as it is stored: a size, a double array of so many bytes, texts."""

from __future__ import annotations

from ...errors import EtchError


def charsmap_halves(blob: bytes) -> tuple[bytes, bytes]:
    """The double array and the texts. What is no such map is refused before `tokenizers` reads it, which panics and
    prints where."""
    size = int.from_bytes(blob[:4], "little")
    if len(blob) < 8 or size % 4 or not 4 <= size <= len(blob) - 4:
        raise malformed_charsmap("its size is not that of its double array")
    units, texts = blob[4 : 4 + size], blob[4 + size :]
    try:
        texts.decode("utf-8")
    except UnicodeDecodeError:
        raise malformed_charsmap("its texts are not UTF-8") from None
    return units, texts


def malformed_charsmap(what: str) -> EtchError:
    return EtchError("charsmap-malformed", "front-end", f"the normalizer's compiled map is malformed: {what}")
