# SPDX-License-Identifier: Apache-2.0
"""Writes safetensors files; load/safetensors.py reads them."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Stored:
    """A tensor as a safetensors file has it."""

    dtype: str
    shape: tuple[int, ...]
    data: memoryview

    @staticmethod
    def of(values: NDArray[np.float32]) -> Stored:
        """Of float32."""
        return Stored("F32", values.shape, memoryview(np.ascontiguousarray(values, "<f4")).cast("B"))


def write_safetensors(path: Path, tensors: Mapping[str, Stored]) -> None:
    """Writes a safetensors file, tensors by name."""
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    at = 0
    for name, tensor in sorted(tensors.items()):
        header[name] = {
            "dtype": tensor.dtype,
            "shape": list(tensor.shape),
            "data_offsets": [at, at + tensor.data.nbytes],
        }
        at += tensor.data.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with path.open("xb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, tensor in sorted(tensors.items()):
            file.write(tensor.data)
