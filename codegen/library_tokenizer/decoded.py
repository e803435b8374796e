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
    sizes = []
    at = 0
    for begin, end in [*malformed, (len(text), len(text))]:
        scalars = np.frombuffer(text[at:begin].decode().encode("utf-32-le"), np.uint32)
        sizes.append(1 + (scalars >= 0x80).astype(np.int64) + (scalars >= 0x800) + (scalars >= 0x10000))
        sizes.append(np.array([end - begin]))
        at = end
    return characters, np.concatenate([[0], np.cumsum(np.concatenate(sizes[:-1]))])
