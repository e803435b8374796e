# SPDX-License-Identifier: Apache-2.0
"""The tensors of a quantized checkpoint, of every type that its methods store."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...files.safetensors_file import Stored
from ...load.safetensors import TensorFile
from ..refusal import refusal

FLOATS = ("F32", "F16", "BF16")
_TYPES: dict[str, np.dtype[Any]] = {
    "U8": np.dtype("u1"),
    "I8": np.dtype("i1"),
    "I32": np.dtype("<i4"),
    "I64": np.dtype("<i8"),
    "F16": np.dtype("<f2"),
    "F32": np.dtype("<f4"),
    "BF16": np.dtype("<u2"),
    "F8_E4M3": np.dtype("u1"),
    "F8_E8M0": np.dtype("u1"),
}


class StoredTensors:
    """What is taken is a part of a quantized weight; what is left stays as it is."""

    def __init__(self, tensors: TensorFile) -> None:
        self._tensors = tensors
        self._taken: set[str] = set()

    def __contains__(self, name: object) -> bool:
        return name in self._tensors

    def before(self, ending: str) -> list[str]:
        """What stands before `ending` in the names that have it, sorted."""
        return [name.removesuffix(ending) for name in self._tensors.names if name.endswith(ending)]

    def shape(self, name: str) -> tuple[int, ...]:
        """Of a tensor; `missing-tensor` if there is none."""
        return self._tensors.info(name)[1]

    def take(self, name: str, types: tuple[str, ...], shape: tuple[int, ...] | None = None) -> NDArray[Any]:
        """Its values: floats of every kind as float32, exactly; integers as they are. `types` are those that it may
        have; a `shape` of None is any with values in it."""
        dtype, own, data = self._tensors.stored(name)
        if dtype not in types:
            message = f"expected {' or '.join(types)}, got {dtype}"
            raise refusal("dtype-not-supported", message, tensor=name)
        if shape is not None and own != shape:
            raise refusal("wrong-shape", f"expected {list(shape)}, got {list(own)}", tensor=name)
        if 0 in own:
            raise refusal("wrong-shape", f"expected values, {list(own)} has none", tensor=name)
        self._taken.add(name)
        values = np.frombuffer(data, _TYPES[dtype], math.prod(own)).reshape(own)
        return _FLOATS[dtype](values) if dtype in _FLOATS else values

    def drop(self, ending: str) -> None:
        """Takes what no weight is made of."""
        self._taken.update(name for name in self._tensors.names if name.endswith(ending))

    def left(self) -> dict[str, Stored]:
        """What was not taken, as the file has it."""
        return {name: Stored(*self._tensors.stored(name)) for name in self._tensors.names if name not in self._taken}


def _of_bfloat16(bits: NDArray[Any]) -> NDArray[np.float32]:
    return (bits.astype("<u4") << 16).view("<f4")


def _of_e4m3(bits: NDArray[Any]) -> NDArray[np.float32]:
    """A sign, 4 bits of an exponent with bias 7, 3 of a mantissa; all ones is no number, and nothing is infinite
    (Micikevicius et al., 2022, arXiv:2209.05433)."""
    magnitudes = np.arange(128)
    exponents, mantissas = magnitudes >> 3, magnitudes & 7
    table = np.where(exponents == 0, mantissas * 2.0**-9, (8 + mantissas) * 2.0 ** (exponents - 10.0))
    table[127] = np.nan
    return np.concatenate([table, -table]).astype(np.float32)[bits]


def _of_e8m0(bits: NDArray[Any]) -> NDArray[np.float32]:
    """An exponent with bias 127; all ones is no number (OCP Microscaling Formats, version 1.0)."""
    table = 2.0 ** (np.arange(256) - 127.0)
    table[255] = np.nan
    return table.astype(np.float32)[bits]


_FLOATS = {
    "F32": lambda values: values,
    "F16": lambda values: values.astype(np.float32),
    "BF16": _of_bfloat16,
    "F8_E4M3": _of_e4m3,
    "F8_E8M0": _of_e8m0,
}
