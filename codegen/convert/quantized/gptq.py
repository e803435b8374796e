# SPDX-License-Identifier: Apache-2.0
"""GPTQ (Frantar et al., 2022, arXiv:2210.17323) as AutoGPTQ and GPTQModel store it (QuantLinear of their PyTorch form):
`qweight` [inputs packed, outputs], `qzeros` [groups, outputs packed], `scales` [groups, outputs], and `g_idx`, the
group of each input."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...ir.parameter import F32Array
from ..refusal import refusal
from .packed_integers import unpacked, words_of
from .settings import Settings
from .stored_tensors import FLOATS, StoredTensors

_BITS = (2, 3, 4, 8)
_WEIGHT = ".qweight"


def weights(settings: Settings, tensors: StoredTensors) -> Iterator[tuple[str, F32Array]]:
    """Name and values of each weight; takes its parts."""
    bits = settings.one_of("bits", _BITS, 4)
    settings.one_of("pack_dtype", ("int32",), "int32")
    settings.check_says_nothing("dynamic", "is_marlin_format")
    # The first format stores a zero point less one.
    less = 1 if settings.one_of("checkpoint_format", ("gptq", "gptq_v2"), "gptq") == "gptq" else 0
    for module in tensors.before(_WEIGHT):
        yield f"{module}.weight", _plain(module, bits, less, tensors)


def _plain(module: str, bits: int, less: int, tensors: StoredTensors) -> F32Array:
    """[outputs, inputs] = scale of the group * (value - zero point of the group)."""
    scales = tensors.take(f"{module}.scales", FLOATS)
    of_inputs = tensors.take(f"{module}.g_idx", ("I32",))
    if scales.ndim != 2 or of_inputs.ndim != 1:
        message = f"expected [groups, outputs] and g_idx [inputs], got {list(scales.shape)}, {list(of_inputs.shape)}"
        raise refusal("wrong-shape", message, tensor=f"{module}.scales")
    (groups, outputs), inputs = scales.shape, len(of_inputs)
    if not 0 <= of_inputs.min(initial=0) <= of_inputs.max(initial=0) < groups:
        message = f"expected groups 0 to {groups - 1}, got {of_inputs.min()} to {of_inputs.max()}"
        raise refusal("index-out-of-range", message, tensor=f"{module}.g_idx")
    packed = tensors.take(f"{module}{_WEIGHT}", ("I32",), (words_of(inputs, bits), outputs))
    zeros = tensors.take(f"{module}.qzeros", ("I32",), (groups, words_of(outputs, bits)))
    values = unpacked(packed.T, bits, inputs).astype(np.int32)
    zero_points = (unpacked(zeros, bits, outputs).astype(np.int32).T + less) & ((1 << bits) - 1)
    return (values - zero_points[:, of_inputs]) * scales.T[:, of_inputs]
