# SPDX-License-Identifier: Apache-2.0
"""Values as C++ text. Checkpoint strings become escaped bytes in literals; none of them reaches code or comments."""

from __future__ import annotations

import string
from collections.abc import Iterator

import numpy as np

_PLAIN = frozenset((string.ascii_letters + string.digits + " ._,:;!()+-=/").encode())
_NUMBERS_PER_LINE = 16


def string_view(data: bytes) -> str:
    """An initializer of std::string_view for these bytes, NULs included."""
    # Three octal digits end an escape whatever follows; "?" is escaped, so no trigraph can form.
    text = "".join(chr(byte) if byte in _PLAIN else f"\\{byte:03o}" for byte in data)
    return f'{{"{text}", {len(data)}}}'


def float_literal(value: float) -> str:
    """Exactly this float32, which must be finite."""
    exact = float(np.float32(value))
    return "0.0f" if exact == 0 else f"{exact.hex()}f"


def number_lines(values: np.ndarray) -> Iterator[str]:
    """The elements of an array initializer, a few to a line."""
    flat = values.reshape(-1)
    for begin in range(0, flat.size, _NUMBERS_PER_LINE):
        part = flat[begin : begin + _NUMBERS_PER_LINE]
        if part.dtype == np.float32:
            yield ", ".join(float_literal(value) for value in part) + ","
        else:
            yield ", ".join(str(int(value)) for value in part) + ","


def pascal(name: str) -> str:
    """encoder_layer -> EncoderLayer."""
    return "".join(part.capitalize() for part in name.split("_"))


def constant(name: str) -> str:
    """word_embeddings -> kWordEmbeddings."""
    return "k" + pascal(name)
