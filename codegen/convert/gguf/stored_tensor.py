# SPDX-License-Identifier: Apache-2.0
"""A tensor as a GGUF file has it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class TensorType:
    """So many values lie in a block of so many bytes."""

    name: str
    block: int
    bytes: int
    dtype: str  # that of safetensors which has its values exactly


@dataclass(frozen=True)
class StoredTensor:
    """As the file describes it, checked."""

    name: str
    type: TensorType
    shape: tuple[int, ...]  # rows before columns, the reverse of the file's order
    data: memoryview = field(repr=False)
