# SPDX-License-Identifier: Apache-2.0
"""What joblib has written of scikit-learn's estimators, read without either and without running anything of the file.

A pickle names what it calls to make its objects. Here every name of scikit-learn means an object that holds what it is
given and does nothing, NumPy's mean arrays of numbers or texts, and any other name is refused. Behind an array's
description joblib puts its values into the stream (joblib 1.6, numpy_pickle.py: NumpyArrayWrapper); before 1.2 without
the byte that says how many follow to align them.
"""

from __future__ import annotations

import io
import math
import pickle
import re
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .refusal import refusal

_NUMBERS = re.compile(r"[iuf][1248]|b1|U\d{1,6}")
# What joblib can write a file in; a pickle begins with none of them.
_COMPRESSED: dict[str, bytes | tuple[bytes, ...]] = {
    "zlib": (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda"),
    "gzip": b"\x1f\x8b",
    "bz2": b"BZh",
    "xz": b"\xfd7zXZ",
    "lzma": b"\x5d\x00\x00",
    "lz4": b"\x04\x22\x4d\x18",
}
_MAX_RANK = 4
_MAX_VALUES = 1 << 28


class Estimator:
    """An object of scikit-learn: the name of its class, and its attributes."""

    kind = ""
    attributes: dict[str, Any]

    def __new__(cls, *_: object) -> Estimator:
        """A pickle may make one without calling __init__."""
        made = super().__new__(cls)
        made.attributes = {}
        return made

    def __init__(self, *_: object) -> None:
        """What it is given says nothing of its state."""

    def __setstate__(self, state: object) -> None:
        if not isinstance(state, dict):
            raise _Unreadable(f"{self.kind} has a state that is no dictionary")
        self.attributes = state


class _Random(Estimator):
    """A source of random numbers, which a trained head draws no more."""

    kind = "a source of random numbers"

    def __setstate__(self, state: object) -> None:
        """Nothing of it is used."""


class _Unreadable(Exception):
    """Why."""


class _Dtype:
    def __init__(self, code: object, *_: object) -> None:
        if not isinstance(code, str) or _NUMBERS.fullmatch(code) is None:
            raise _Unreadable(f"arrays of '{code}'")
        self.code, self.order = code, "|"

    def __setstate__(self, state: object) -> None:
        if not isinstance(state, tuple) or len(state) < 2 or state[1] not in ("<", "|"):
            raise _Unreadable("arrays of another byte order")
        self.order = state[1]

    def of_numpy(self) -> np.dtype[Any]:
        """The same."""
        return np.dtype(self.order + self.code)


class _Array(Estimator):
    """An array's description, which stands before its values."""

    kind = "an array"

    def read(self, stream: io.BytesIO) -> NDArray[Any]:
        """The values behind it."""
        shape, dtype = self.attributes.get("shape"), self.attributes.get("dtype")
        if not isinstance(dtype, _Dtype) or not isinstance(shape, tuple) or len(shape) > _MAX_RANK:
            raise _Unreadable("an array without a shape and a type")
        if any(type(count) is not int or count < 0 for count in shape) or math.prod(shape) > _MAX_VALUES:
            raise _Unreadable(f"an array of {shape}")
        if self.attributes.get("numpy_array_alignment_bytes") is not None:
            stream.read(int.from_bytes(stream.read(1), "little"))
        of_values = dtype.of_numpy()
        size = math.prod(shape) * of_values.itemsize
        raw = stream.read(size)
        if len(raw) != size:
            raise EOFError("it ends within an array")  # as where it ends elsewhere
        order: Any = "F" if self.attributes.get("order") == "F" else "C"
        return np.frombuffer(raw, of_values).reshape(shape, order=order)


class _Scalar(Estimator):
    """A number of NumPy's that is no array; none that is read here is one."""

    kind = "a number"


class _Unpickler(pickle._Unpickler):
    """The one in Python, as joblib's: it alone can stop behind an array's description."""

    dispatch: ClassVar[dict[int, Any]] = dict(pickle._Unpickler.dispatch)

    def __init__(self, stream: io.BytesIO) -> None:
        super().__init__(stream)
        self._stream = stream

    def find_class(self, module: str, name: str) -> Any:
        """What a name of the file means here."""
        if (module, name) == ("numpy", "dtype"):
            return _Dtype
        if module == "joblib.numpy_pickle" and name == "NumpyArrayWrapper":
            return _Array
        if (module.startswith("numpy.") and name == "scalar") or (module, name) == ("numpy", "ndarray"):
            return _Scalar
        if module.startswith("sklearn."):
            return type(name, (Estimator,), {"kind": name})
        if module.startswith("numpy.random."):
            return _Random
        raise _Unreadable(f"it names '{module[:80]}.{name[:80]}', which is no part of scikit-learn's estimators")

    def load_build(self) -> None:
        """As the base class, then the values of an array."""
        super().load_build()  # type: ignore[misc]  # the stubs leave out what reads each code
        stack: list[Any] = self.stack  # type: ignore[attr-defined]
        if isinstance(stack[-1], _Array):
            stack[-1] = stack[-1].read(self._stream)

    dispatch[pickle.BUILD[0]] = load_build


def read_estimator(raw: bytes, name: str) -> Estimator:
    """The estimator in a file's bytes; `name` is for messages."""
    for form, begin in _COMPRESSED.items():
        if raw.startswith(begin):
            message = f"it is compressed ({form}): dump it again without `compress`"
            raise refusal("pickle-malformed", message, file=name)
    try:
        found = _Unpickler(io.BytesIO(raw)).load()
    except _Unreadable as error:
        raise refusal("pickle-holds-code", str(error), file=name) from None
    except Exception:  # a damaged pickle fails in many ways
        raise refusal("pickle-malformed", "it is no pickle that joblib wrote, or is damaged", file=name) from None
    if not isinstance(found, Estimator) or isinstance(found, (_Array, _Scalar)):
        raise refusal("pickle-malformed", f"it holds no estimator, but {type(found).__name__}", file=name)
    return found
