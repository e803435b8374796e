# SPDX-License-Identifier: Apache-2.0
"""The bytes of a GGUF file from its beginning on; no count or length of the file is believed before it is compared with
what is left of it."""

from __future__ import annotations

import mmap
import struct
from typing import Any

import numpy as np

from ...load.refusal import shown
from .refusals import Refuse

_STRING, _ARRAY, _BOOL = 8, 9, 7
_NUMBERS: dict[int, np.dtype[Any]] = {
    0: np.dtype("u1"),
    1: np.dtype("i1"),
    2: np.dtype("<u2"),
    3: np.dtype("<i2"),
    4: np.dtype("<u4"),
    5: np.dtype("<i4"),
    6: np.dtype("<f4"),
    _BOOL: np.dtype("u1"),
    10: np.dtype("<u8"),
    11: np.dtype("<i8"),
    12: np.dtype("<f8"),
}
# Of Python's objects each takes many times what it takes in the file.
_MAX_TEXTS = 1 << 22  # each of a list counts twice
_MAX_TEXT_BYTES = 256 << 20


class Reader:
    """Goes through the header; refuses what reaches beyond the file."""

    def __init__(self, data: mmap.mmap, refuse: Refuse) -> None:
        self._data = data
        self._refuse = refuse
        self._texts = self._text_bytes = 0
        self.at = 0

    def number(self, form: str) -> Any:
        """One of `struct`'s formats, little-endian."""
        size = struct.calcsize(form)
        return struct.unpack_from("<" + form, self._data, self._taken(size))[0]

    def text(self, what: str, most: int = _MAX_TEXT_BYTES) -> str:
        """UTF-8 behind its length in bytes; `what` names it in messages."""
        length = self.number("Q")
        if length > most:
            raise self._refuse("gguf-malformed", f"{what} has {length} bytes, at most {most} are read")
        self._count(1, length)
        begin = self._taken(length)
        try:
            return self._data[begin : begin + length].decode("utf-8")
        except UnicodeDecodeError as error:
            raise self._refuse("gguf-malformed", f"{what} is not UTF-8: {error.reason}") from None

    def value(self, key: str) -> Any:
        """What a key says: a number, true or false, a text, an array of numbers (NumPy's) or a list of texts."""
        kind = self.number("I")
        if kind != _ARRAY:
            return self._one(kind, key)
        kind, count = self.number("I"), self.number("Q")
        if kind == _STRING:
            if count * 8 > len(self._data) - self.at:
                raise self._ends()
            self._count(count)
            return [self.text(f"a text of {shown(key)}") for _ in range(count)]
        dtype = self._dtype(kind, key)
        begin = self._taken(count * dtype.itemsize)
        values = np.frombuffer(self._data, dtype, count, begin)
        return values.astype(bool) if kind == _BOOL else values

    def _count(self, texts: int, size: int = 0) -> None:
        self._texts, self._text_bytes = self._texts + texts, self._text_bytes + size
        if self._texts > _MAX_TEXTS or self._text_bytes > _MAX_TEXT_BYTES:
            message = f"more than {_MAX_TEXTS} texts or {_MAX_TEXT_BYTES} bytes of them, the most that is read"
            raise self._refuse("gguf-malformed", message)

    def _one(self, kind: int, key: str) -> Any:
        if kind == _STRING:
            return self.text(f"the text of {shown(key)}")
        dtype = self._dtype(kind, key)
        value = np.frombuffer(self._data, dtype, 1, self._taken(dtype.itemsize))[0]
        if kind != _BOOL:
            return value.item()
        if value > 1:
            raise self._refuse("gguf-malformed", f"{shown(key)} is neither true nor false, but {value}")
        return bool(value)

    def _dtype(self, kind: int, key: str) -> np.dtype[Any]:
        if kind not in _NUMBERS:
            raise self._refuse("gguf-malformed", f"{shown(key)} has values of an unknown type, {kind}")
        return _NUMBERS[kind]

    def _taken(self, size: int) -> int:
        """Where `size` bytes begin, behind which it goes on."""
        if size > len(self._data) - self.at:
            raise self._ends()
        self.at += size
        return self.at - size

    def _ends(self) -> Exception:
        return self._refuse("gguf-malformed", f"the header goes on behind the end of the file, {len(self._data)} bytes")
