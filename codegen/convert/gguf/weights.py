# SPDX-License-Identifier: Apache-2.0
"""The tensors of a GGUF file as a file of safetensors, made one after the other."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...files.safetensors_file import Stored, stream_safetensors
from ...load.safetensors import MAX_FILE_BYTES
from .families.family import Made, Opened
from .types import as_floats, stored_values

_BYTES = {"F32": 4, "F16": 2, "BF16": 2}
_ROUNDED = {"F16": "<f2", "BF16": "<u2"}


def write_weights(path: Path, opened: Opened, tensors: dict[str, Made], dtype: str = "F32") -> str:
    """Floats as the file has them; of quantized tensors the values that they stand for, of matrices rounded to `dtype`.
    Returns what was done."""
    layout = {name: _layout(opened, made, dtype) for name, made in tensors.items()}
    size = sum(size for _, _, size in layout.values())
    if size > MAX_FILE_BYTES:
        message = (
            f"its weights as floats have {size} bytes, at most {MAX_FILE_BYTES} are read: --dtype float16 rounds them"
        )
        raise opened.file.refuse("file-too-large", message)
    stream_safetensors(path, layout, lambda name: _data(opened, tensors[name], layout[name][0]))
    quantized = sorted({tensor.type.name for tensor in opened.file.tensors.values()})
    return f"weights      {len(layout)} tensors, {size:,} bytes, of {', '.join(quantized)}"


def _layout(opened: Opened, made: Made, rounded: str) -> tuple[str, tuple[int, ...], int]:
    """(dtype, shape, bytes)"""
    tensor = opened.file.tensors[made.source]
    dtype = "F32" if made.change is not None else tensor.type.dtype
    if tensor.type.block > 1 and len(tensor.shape) > 1:
        dtype = rounded
    shape = tensor.shape if made.reorder is None else made.reorder.shape(tensor.shape)
    return dtype, shape, math.prod(shape) * _BYTES[dtype]


def _data(opened: Opened, made: Made, dtype: str) -> memoryview:
    tensor = opened.file.tensors[made.source]
    values = stored_values(tensor, opened.file.refuse)
    floats = as_floats(values, tensor.type.dtype) if made.change is not None or tensor.type.dtype == "BF16" else values
    _check_finite(opened, tensor.name, floats)
    if made.change is not None:
        values = made.change(floats)
    if made.reorder is not None:
        values = made.reorder.values(values)
    if dtype != tensor.type.dtype and made.change is None:
        stored = Stored.of(values, dtype)
        _check_finite(opened, tensor.name, as_floats(np.frombuffer(stored.data, _ROUNDED[dtype]), dtype))
        return stored.data
    return memoryview(np.ascontiguousarray(values).data).cast("B")


def _check_finite(opened: Opened, name: str, values: NDArray[np.floating[Any]]) -> None:
    if not np.isfinite(values).all():
        raise opened.file.refuse("tensor-not-finite", "it has values that are not finite", name)
