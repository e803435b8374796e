# SPDX-License-Identifier: Apache-2.0
"""The tensors of a GGUF file as a file of safetensors, made one after the other."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from ...files.safetensors_file import stream_safetensors
from ...load.safetensors import MAX_FILE_BYTES
from .families.family import Made, Opened
from .types import as_floats, stored_values

_BYTES = {"F32": 4, "F16": 2, "BF16": 2}


def write_weights(path: Path, opened: Opened, tensors: dict[str, Made]) -> str:
    """Floats as the file has them, of quantized ones the values that they stand for; returns what was done."""
    layout = {name: _layout(opened, made) for name, made in tensors.items()}
    size = sum(size for _, _, size in layout.values())
    if size > MAX_FILE_BYTES:
        message = f"its weights as floats have {size} bytes, at most {MAX_FILE_BYTES} are read"
        raise opened.file.refuse("file-too-large", message)
    stream_safetensors(path, layout, lambda name: _data(opened, tensors[name]))
    quantized = sorted({tensor.type.name for tensor in opened.file.tensors.values()})
    return f"weights      {len(layout)} tensors, {size:,} bytes, of {', '.join(quantized)}"


def _layout(opened: Opened, made: Made) -> tuple[str, tuple[int, ...], int]:
    """(dtype, shape, bytes)"""
    tensor = opened.file.tensors[made.source]
    dtype = "F32" if made.change is not None else tensor.type.dtype
    shape = tensor.shape if made.reorder is None else made.reorder.shape(tensor.shape)
    return dtype, shape, math.prod(shape) * _BYTES[dtype]


def _data(opened: Opened, made: Made) -> memoryview:
    tensor = opened.file.tensors[made.source]
    values = stored_values(tensor, opened.file.refuse)
    floats = as_floats(values, tensor.type.dtype) if made.change is not None or tensor.type.dtype == "BF16" else values
    if not np.isfinite(floats).all():
        raise opened.file.refuse("tensor-not-finite", "it has values that are not finite", tensor.name)
    if made.change is not None:
        values = made.change(floats)
    if made.reorder is not None:
        values = made.reorder.values(values)
    return memoryview(np.ascontiguousarray(values)).cast("B")
