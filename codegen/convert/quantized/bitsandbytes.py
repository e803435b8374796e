# SPDX-License-Identifier: Apache-2.0
"""bitsandbytes' weights (functional.py, dequantize_4bit and QuantState.from_dict; nn/modules.py, Linear8bitLt).

Of 4 bits (QLoRA, Dettmers et al., 2023, arXiv:2305.14314): `weight` has two values a byte, the first in its upper half;
each stands for one of 16 of `quant_map`, times the largest magnitude of its block, `absmax`, which may be quantized in
the same way. Of 8 bits (LLM.int8(), arXiv:2208.07339): `weight` is int8, `SCB` the largest magnitude of each row."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...ir.parameter import F32Array
from ...load.json_file import parse_json
from ...load.shards import WEIGHTS_FILE
from ..refusal import refusal
from .settings import Settings
from .stored_tensors import FLOATS, StoredTensors

_KINDS = ("nf4", "fp4")
_STATE = ".quant_state.bitsandbytes__"
_ROWS = ".SCB"
_ONE_127TH = np.float32(7.874015718698502e-3)  # as the library has it


def weights(settings: Settings, tensors: StoredTensors) -> Iterator[tuple[str, F32Array]]:
    """Name and values of each weight; takes its parts."""
    settings.one_of("bnb_4bit_quant_storage", ("uint8",), "uint8")
    for kind in _KINDS:
        for name in tensors.before(f"{_STATE}{kind}"):
            yield name, _of_4_bits(name, f"{name}{_STATE}{kind}", settings, tensors)
    tensors.drop(".weight_format")
    for module in tensors.before(_ROWS):
        values = tensors.take(f"{module}.weight", ("I8",))
        if values.ndim != 2:
            raise refusal("wrong-shape", f"expected [rows, columns], got {list(values.shape)}", tensor=module)
        largest = tensors.take(f"{module}{_ROWS}", FLOATS, (len(values),))
        yield f"{module}.weight", values * largest[:, None] * _ONE_127TH


def _of_4_bits(name: str, state_name: str, settings: Settings, tensors: StoredTensors) -> F32Array:
    state = _state(settings, tensors.take(state_name, ("U8",)), state_name)
    shape = state.sizes("shape")
    count, block = math.prod(shape), state.count("blocksize")
    packed = tensors.take(name, ("U8",)).reshape(-1)
    if len(packed) != -(-count // 2):
        message = f"expected {-(-count // 2)} bytes for {list(shape)}, got {len(packed)}"
        raise refusal("wrong-shape", message, tensor=name)
    codes = np.stack([packed >> 4, packed & 15], axis=1).reshape(-1)[:count]
    map_of_codes = tensors.take(f"{name}.quant_map", FLOATS, (16,))
    largest = _largest(name, state, -(-count // block), tensors)
    return (map_of_codes[codes] * np.repeat(largest, block)[:count]).reshape(shape)


def _largest(name: str, state: Settings, blocks: int, tensors: StoredTensors) -> F32Array:
    """The largest magnitude of each block."""
    if f"{name}.nested_absmax" not in tensors:
        return np.asarray(tensors.take(f"{name}.absmax", FLOATS, (blocks,)))
    nested = state.count("nested_blocksize")
    codes = tensors.take(f"{name}.absmax", ("U8",), (blocks,))
    map_of_codes = tensors.take(f"{name}.nested_quant_map", FLOATS, (256,))
    scales = tensors.take(f"{name}.nested_absmax", FLOATS, (-(-blocks // nested),))
    return map_of_codes[codes] * np.repeat(scales, nested)[:blocks] + np.float32(state.number("nested_offset"))


def _state(settings: Settings, text: NDArray[Any], name: str) -> Settings:
    """The JSON in a tensor of bytes."""
    return settings.below(name, parse_json(text.tobytes(), WEIGHTS_FILE, name))
