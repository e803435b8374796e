# SPDX-License-Identifier: Apache-2.0
"""AWQ (Lin et al., 2023, arXiv:2306.00978) in AutoAWQ's form `gemm` (awq/utils/packing_utils.py): `qweight`
[inputs, outputs packed], `qzeros` [groups, outputs packed], `scales` [groups, outputs]."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...ir.parameter import F32Array
from ..refusal import refusal
from .packed_integers import unpacked, words_of
from .settings import Settings
from .stored_tensors import FLOATS, StoredTensors

_BITS = 4
# The place in a word of each of the 8 outputs that it holds.
_PLACES = (0, 4, 1, 5, 2, 6, 3, 7)
_WEIGHT = ".qweight"


def weights(settings: Settings, tensors: StoredTensors) -> Iterator[tuple[str, F32Array]]:
    """Name and values of each weight; takes its parts."""
    settings.one_of("bits", (_BITS,), _BITS)
    settings.one_of("version", ("gemm", "GEMM"), "gemm")
    settings.one_of("zero_point", (True,), True)
    for module in tensors.before(_WEIGHT):
        yield f"{module}.weight", _plain(module, tensors)


def _plain(module: str, tensors: StoredTensors) -> F32Array:
    """[outputs, inputs] = scale of the group * (value - zero point of the group)."""
    scales = tensors.take(f"{module}.scales", FLOATS)
    packed = tensors.take(f"{module}{_WEIGHT}", ("I32",))
    if scales.ndim != 2 or not len(scales) or packed.ndim != 2 or packed.shape[1] != words_of(scales.shape[1], _BITS):
        message = f"scales {list(scales.shape)} are not those of packed {list(packed.shape)}"
        raise refusal("wrong-shape", message, tensor=f"{module}.scales")
    (groups, outputs), inputs = scales.shape, len(packed)
    if inputs % groups:
        message = f"{inputs} inputs are not {groups} groups of one size"
        raise refusal("wrong-shape", message, tensor=f"{module}.scales")
    zeros = tensors.take(f"{module}.qzeros", ("I32",), (groups, words_of(outputs, _BITS)))
    group = np.arange(inputs) // (inputs // groups)
    values = _in_order(packed, outputs).astype(np.int32) - _in_order(zeros, outputs).astype(np.int32)[group]
    return np.ascontiguousarray((values * scales[group]).T)


def _in_order(words: NDArray[Any], outputs: int) -> NDArray[np.uint8]:
    """[rows, words] -> [rows, outputs]."""
    stored = unpacked(words, _BITS, 8 * words.shape[1]).reshape(*words.shape, 8)
    return stored[:, :, _PLACES].reshape(len(words), -1)[:, :outputs]
