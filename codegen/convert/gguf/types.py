# SPDX-License-Identifier: Apache-2.0
"""Types of tensors, and their values as floats: the `gguf` package (extra `gguf`) knows the blocks of each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .refusals import Refuse
from .stored_tensor import StoredTensor, TensorType

# What a file of safetensors has as it is.
_AS_STORED: dict[str, np.dtype[Any]] = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "BF16": np.dtype("<u2")}
_QUANTIZED = """
    Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K TQ1_0 TQ2_0 MXFP4 NVFP4
    IQ1_S IQ1_M IQ2_XXS IQ2_XS IQ2_S IQ3_XXS IQ3_S IQ4_NL IQ4_XS
"""
READABLE = (*_AS_STORED, *_QUANTIZED.split())
_CHUNK_VALUES = 1 << 22


def library(refuse: Refuse) -> Any:
    """The `gguf` package."""
    try:
        import gguf
    except ImportError:
        message = "tensors of GGUF files are read by the package gguf: install it (pip install '.[gguf]')"
        raise refuse("library-missing", message) from None
    return gguf


def type_of(number: int, tensor: str, refuse: Refuse) -> TensorType:
    """By the file's number of it."""
    gguf = library(refuse)
    try:
        kind = gguf.GGMLQuantizationType(number)
    except ValueError:
        raise refuse("gguf-type", f"its type has the number {number}, which is not known", tensor=tensor) from None
    if kind.name not in READABLE or kind not in gguf.GGML_QUANT_SIZES:
        message = f"its type {kind.name} is not read (read: {', '.join(READABLE)})"
        raise refuse("gguf-type", message, tensor=tensor)
    dtype = kind.name if kind.name in _AS_STORED else "F32"
    values, size = gguf.GGML_QUANT_SIZES[kind]
    return TensorType(kind.name, values, size, dtype)


def stored_values(tensor: StoredTensor, refuse: Refuse) -> NDArray[Any]:
    """[rows before columns]: as they are where safetensors has the type (BF16 as its bits), else as float32."""
    if tensor.type.name in _AS_STORED:
        return np.frombuffer(tensor.data, _AS_STORED[tensor.type.name]).reshape(tensor.shape)
    gguf = library(refuse)
    kind = gguf.GGMLQuantizationType[tensor.type.name]
    columns = tensor.shape[-1]
    packed = np.frombuffer(tensor.data, np.uint8).reshape(-1, columns // tensor.type.block * tensor.type.bytes)
    values = np.empty((len(packed), columns), np.float32)
    rows = max(1, _CHUNK_VALUES // columns)
    with np.errstate(all="ignore"):  # what is not finite then is refused
        for begin in range(0, len(packed), rows):
            values[begin : begin + rows] = gguf.quants.dequantize(packed[begin : begin + rows], kind)
    return values.reshape(tensor.shape)


def as_floats(values: NDArray[Any], dtype: str) -> NDArray[np.float32]:
    """The same of any of the three types as float32, exactly."""
    if dtype == "BF16":
        return (values.astype("<u4") << 16).view("<f4")
    return values.astype(np.float32)
