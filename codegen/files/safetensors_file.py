# SPDX-License-Identifier: Apache-2.0
"""Writes safetensors files; load/safetensors.py reads them."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Stored:
    """A tensor as a safetensors file has it."""

    dtype: str
    shape: tuple[int, ...]
    data: memoryview

    @staticmethod
    def of(values: NDArray[np.float32], dtype: str = "F32") -> Stored:
        """Of float32; as F16 or BF16 each is rounded to the nearest, ties to even."""
        stored = _ROUNDED[dtype](np.ascontiguousarray(values, "<f4"))
        return Stored(dtype, values.shape, memoryview(stored.data).cast("B"))


def _bfloat16(values: NDArray[np.float32]) -> NDArray[np.uint16]:
    """The upper halves, of finite values."""
    bits = values.view("<u4")
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")


def _float16(values: NDArray[np.float32]) -> NDArray[np.float16]:
    with np.errstate(over="ignore"):
        return values.astype("<f2")


_ROUNDED: dict[str, Callable[[NDArray[np.float32]], NDArray[Any]]] = {
    "F32": lambda values: values,
    "F16": _float16,
    "BF16": _bfloat16,
}


def write_safetensors(path: Path, tensors: Mapping[str, Stored]) -> None:
    """Writes a safetensors file, tensors by name."""
    layout = {name: (tensor.dtype, tensor.shape, tensor.data.nbytes) for name, tensor in tensors.items()}
    stream_safetensors(path, layout, lambda name: tensors[name].data)


def stream_safetensors(
    path: Path, layout: Mapping[str, tuple[str, tuple[int, ...], int]], data_of: Callable[[str], memoryview]
) -> None:
    """The same of tensors that are made one after the other: of each by name its type, shape and bytes, and then what
    they are."""
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    at = 0
    for name, (dtype, shape, size) in sorted(layout.items()):
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with path.open("xb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name in sorted(layout):
            file.write(data_of(name))
