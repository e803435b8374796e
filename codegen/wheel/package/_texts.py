# SPDX-License-Identifier: Apache-2.0
"""Texts of any Python kind as bytes that lie behind each other, with where each begins: the layout of Arrow's strings.

Arrow arrays are used where they lie, through their C data interface (https://arrow.apache.org/docs/format/
CDataInterface.html), whichever library holds them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Any

import numpy as np

Texts = str | Iterable[str] | Iterable[bytes] | Any  # the last: an Arrow array, whole or in chunks
# (address of the bytes, address of the offsets, whether those are int64, number of texts, what keeps all that alive)
Packed = tuple[int, int, bool, int, Any]

_WIDE = {b"u": False, b"U": True}


def packed(texts: Texts, before: str = "") -> Iterator[Packed]:
    """One for each chunk; of Python's own strings one. A single string is one text. `before` is written before each."""
    if before:
        prompt = before.encode("utf-8", "surrogatepass")
        for chunk in packed(texts):
            yield _joined([prompt + _bytes_of(chunk, i) for i in range(chunk[3])])
        return
    chunks = getattr(texts, "chunks", None)
    if isinstance(chunks, list):
        for chunk in chunks:
            yield from packed(chunk)
    elif hasattr(texts, "__arrow_c_array__"):
        yield _of_arrow(texts)
    else:
        try:
            one_by_one = iter([texts] if isinstance(texts, (str, bytes)) else texts)
        except TypeError:
            message = f"texts: {type(texts).__name__} is neither str nor bytes nor an iterable of them"
            raise TypeError(message) from None
        yield _of_python(one_by_one)


def paired(texts: Texts, second: Texts) -> list[tuple[Packed, Packed]]:
    """Chunk by chunk. ValueError where there are not as many of both, in each."""
    found = list(zip_longest(packed(texts), packed(second)))
    if any(a is None or b is None or a[3] != b[3] for a, b in found):
        raise ValueError("pairs: there are not as many first texts as second ones, in chunks of equal size")
    return found


def text_part(texts: Packed, index: int, begin: int, end: int) -> str:
    """Bytes [begin, end) of a text as the model counts them."""
    return ctypes.string_at(texts[0] + _place(texts, index) + begin, end - begin).decode("utf-8", "replace")


def _bytes_of(texts: Packed, index: int) -> bytes:
    place = _place(texts, index)
    return ctypes.string_at(texts[0] + place, _place(texts, index + 1) - place)


def _place(texts: Packed, index: int) -> int:
    """Where a text begins, or ends that is the one before."""
    _, offsets, wide, _, _ = texts
    return (ctypes.c_int64 if wide else ctypes.c_int32).from_address(offsets + index * (8 if wide else 4)).value


def _of_python(texts: Iterable[Any]) -> Packed:
    return _joined([_bytes(text, place) for place, text in enumerate(texts)])


def _joined(encoded: list[bytes]) -> Packed:
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(text) for text in encoded], out=offsets[1:])
    data = b"".join(encoded)
    address = ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value or 0
    return address, offsets.ctypes.data, True, len(encoded), (data, offsets)


def _bytes(text: Any, place: int) -> bytes:
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass")
    if isinstance(text, bytes):
        return text
    raise TypeError(f"text {place} is {type(text).__name__}, not str or bytes")


class _Schema(ctypes.Structure):
    _fields_ = (("format", ctypes.c_char_p),)  # what follows is not looked at


class _Array(ctypes.Structure):
    _fields_ = (
        ("length", ctypes.c_int64),
        ("null_count", ctypes.c_int64),
        ("offset", ctypes.c_int64),
        ("n_buffers", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    )


def _of_arrow(array: Any) -> Packed:
    schema_capsule, array_capsule = array.__arrow_c_array__()
    schema = _Schema.from_address(_pointer(schema_capsule, b"arrow_schema"))
    found = _Array.from_address(_pointer(array_capsule, b"arrow_array"))
    if schema.format not in _WIDE:
        kind = (schema.format or b"").decode("ascii", "replace")
        raise TypeError(f"an Arrow array of strings is needed (format 'u' or 'U'), this one is '{kind}'")
    if found.null_count > 0 or (found.null_count < 0 and found.buffers[0] and _nulls(found)):
        raise ValueError("the Arrow array has nulls: drop or fill them")
    wide = _WIDE[schema.format]
    offsets = (found.buffers[1] or 0) + found.offset * (8 if wide else 4)
    return found.buffers[2] or 0, offsets, wide, found.length, (schema_capsule, array_capsule)


def _nulls(array: _Array) -> bool:
    """Whether a bit of the validity of an array that has not counted its nulls is 0."""
    size = (array.offset + array.length + 7) // 8
    bits = np.unpackbits(np.frombuffer(ctypes.string_at(array.buffers[0], size), np.uint8), bitorder="little")
    return not bits[array.offset : array.offset + array.length].all()


def _pointer(capsule: Any, name: bytes) -> int:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    return get(capsule, name)
