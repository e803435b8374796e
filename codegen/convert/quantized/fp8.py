# SPDX-License-Identifier: Apache-2.0
"""FP8 with a scale for each block of a weight (DeepSeek-AI, 2024, arXiv:2412.19437): `WEIGHT_scale_inv` beside each, by
which `transformers` multiplies (integrations/finegrained_fp8.py, Fp8Dequantize)."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir.parameter import F32Array
from .blocks import spread
from .settings import Settings
from .stored_tensors import FLOATS, StoredTensors

_SCALE = "_scale_inv"
_OF_INPUTS = (".activation_scale", ".input_scale")


def weights(settings: Settings, tensors: StoredTensors) -> Iterator[tuple[str, F32Array]]:
    """Name and values of each weight; takes its parts."""
    settings.one_of("activation_scheme", ("dynamic", "static"), "dynamic")
    settings.one_of("fmt", ("e4m3",), "e4m3")
    block = settings.pair("weight_block_size") if settings.value("weight_block_size") is not None else None
    for ending in _OF_INPUTS:
        tensors.drop(ending)
    for name in tensors.before(_SCALE):
        values = tensors.take(name, ("F8_E4M3",))
        scales = tensors.take(f"{name}{_SCALE}", (*FLOATS, "F8_E8M0"))
        if scales.size == 1:
            yield name, values * scales.reshape(-1)
        else:
            rows, columns = block or values.shape[-2:]
            yield name, values * spread(scales, values.shape, (rows, columns), f"{name}{_SCALE}")
