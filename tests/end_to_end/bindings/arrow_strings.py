# SPDX-License-Identifier: Apache-2.0
"""Arrow arrays of strings without a library of Arrow: what its C data interface hands over."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np


class Schema(ctypes.Structure):
    _fields_ = (("format", ctypes.c_char_p), ("rest", ctypes.c_void_p * 8))


class Array(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int64) for name in ("length", "null_count", "offset", "n_buffers", "n_children")),
        ("buffers", ctypes.POINTER(ctypes.c_void_p)),
        ("rest", ctypes.c_void_p * 4),
    )


class Strings:
    """An Arrow array of strings as another library would hand it over: some texts before and behind it are not its."""

    def __init__(self, texts: list[str], kind: bytes = b"u", nulls: bytes = b"", null_count: int = 0) -> None:
        encoded = [b"not its", *(text.encode() for text in texts), b"nor this"]
        offsets = np.zeros(len(encoded) + 1, np.int64 if kind == b"U" else np.int32)
        np.cumsum([len(one) for one in encoded], out=offsets[1:])
        self.data = np.frombuffer(b"".join(encoded), np.uint8).copy()
        self.offsets, self.nulls = offsets, ctypes.create_string_buffer(nulls, len(nulls) + 1)
        addresses = (ctypes.addressof(self.nulls) if nulls else 0, offsets.ctypes.data, self.data.ctypes.data)
        self.buffers = (ctypes.c_void_p * 3)(*addresses)
        self.schema = Schema(kind)
        self.array = Array(len(texts), null_count, 1, 3, 0, ctypes.cast(self.buffers, ctypes.POINTER(ctypes.c_void_p)))

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[Any, Any]:
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        named = ((self.schema, b"arrow_schema"), (self.array, b"arrow_array"))
        schema, array = (make(ctypes.addressof(value), name, None) for value, name in named)
        return schema, array


class Chunked:
    def __init__(self, *chunks: Strings) -> None:
        self.chunks = list(chunks)
