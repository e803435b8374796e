# SPDX-License-Identifier: Apache-2.0
"""Bytes as text, and where each of its characters lies: `tokenizers` counts characters, the runtime bytes."""

from __future__ import annotations

import codecs

import numpy as np
from numpy.typing import NDArray


def decoded(text: bytes) -> tuple[str, NDArray[np.int64]]:
    """The text, malformed UTF-8 replaced as Python does, and the byte at which each of its characters begins; one more
    for its end."""
    malformed: list[tuple[int, int]] = []  # bytes that are read as one U+FFFD

    def replace(error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeDecodeError)
        malformed.append((error.start, error.end))
        return "\ufffd", error.end

    codecs.register_error("etch-replace", replace)
    characters = text.decode("utf-8", "etch-replace")
    begins = []
    at = 0
    for begin, end in malformed:
        begins += [at + _begins(text[at:begin]), [begin]]
        at = end
    return characters, np.concatenate([*begins, at + _begins(text[at:]), [len(text)]])


def _begins(text: bytes) -> NDArray[np.int64]:
    """Of what is UTF-8: where its characters begin."""
    return np.flatnonzero(np.frombuffer(text, np.uint8) & 0xC0 != 0x80)
