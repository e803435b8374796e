# SPDX-License-Identifier: Apache-2.0
"""compressed-tensors, which llm-compressor writes: integers or FP8 as tensors of their own, or integers of few bits
packed (compressors/naive_quantized, compressors/pack_quantized, quantization/lifecycle/forward.py)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...ir.parameter import F32Array
from ..refusal import refusal
from .blocks import spread
from .packed_integers import unpacked, words_of
from .settings import Settings
from .stored_tensors import FLOATS, StoredTensors

_STRATEGIES = ("tensor", "channel", "group", "block")
_FORMATS = ("pack-quantized", "int-quantized", "float-quantized", "naive-quantized")
_PACKED, _SCALE, _ZERO = ".weight_packed", ".weight_scale", ".weight_zero_point"
_OF_INPUTS = (".input_scale", ".input_zero_point", ".output_scale", ".output_zero_point", ".k_scale", ".v_scale")


@dataclass(frozen=True)
class _Form:
    """What the settings say of all weights that are quantized."""

    bits: int
    strategy: str
    group: int  # of strategy `group`: columns with one scale
    block: tuple[int, int]  # of strategy `block`
    symmetric: bool

    def block_of(self, rows: int, columns: int) -> tuple[int, int]:
        """Rows and columns of a weight that have a scale."""
        by_strategy = {"tensor": (rows, columns), "channel": (1, columns), "group": (1, self.group)}
        return by_strategy.get(self.strategy, self.block)


def weights(settings: Settings, tensors: StoredTensors) -> Iterator[tuple[str, F32Array]]:
    """Name and values of each weight; takes its parts."""
    form = _form(settings)
    for ending in _OF_INPUTS:
        tensors.drop(ending)
    for module in tensors.before(_PACKED):
        yield f"{module}.weight", _of_packed(module, form, tensors)
    for module in tensors.before(_SCALE):
        if f"{module}{_PACKED}" not in tensors:
            values = tensors.take(f"{module}.weight", ("I8", "F8_E4M3"))
            zero = tensors.take(f"{module}{_ZERO}", ("I8",)) if not form.symmetric else None
            yield f"{module}.weight", _scaled(module, values.astype(np.float32), zero, form, tensors)


def _form(settings: Settings) -> _Form:
    settings.one_of("format", _FORMATS, "naive-quantized")
    settings.one_of("quantization_status", ("compressed",), "compressed")
    settings.check_says_nothing("sparsity_config", "transform_config")
    groups = settings.value("config_groups")
    told = [
        settings.below("config_groups", group).below("weights", group.get("weights"))
        for group in (groups.values() if isinstance(groups, dict) else ())
        if isinstance(group, dict)
    ]
    forms = {_form_of(each) for each in told}
    if len(forms) != 1:
        raise settings.refuse(f"config_groups must quantize weights in one way, got {len(forms)}")
    return forms.pop()


def _form_of(told: Settings) -> _Form:
    kind = told.one_of("type", ("int", "float"), "int")
    bits = told.one_of("num_bits", (8,) if kind == "float" else tuple(range(2, 9)), 8)
    strategy = told.one_of("strategy", _STRATEGIES, "group" if told.value("group_size") else "tensor")
    told.one_of("actorder", (False, "weight", "static"), False)
    return _Form(
        bits,
        strategy,
        told.count("group_size") if strategy == "group" else 1,
        told.pair("block_structure") if strategy == "block" else (1, 1),
        told.one_of("symmetric", (True, False), True),
    )


def _of_packed(module: str, form: _Form, tensors: StoredTensors) -> F32Array:
    """Unsigned values less half of their range."""
    shape = tensors.take(f"{module}.weight_shape", ("I64", "I32"), (2,))
    rows, columns = (int(size) for size in shape)
    if min(rows, columns) < 1:
        message = f"expected rows and columns, got {rows}, {columns}"
        raise refusal("wrong-shape", message, tensor=f"{module}.weight_shape")
    packed = tensors.take(f"{module}{_PACKED}", ("I32",), (rows, words_of(columns, form.bits)))
    zero = None
    if not form.symmetric:
        (groups,) = tensors.shape(f"{module}{_SCALE}")[-1:] or (1,)
        words = tensors.take(f"{module}{_ZERO}", ("I32",), (words_of(rows, form.bits), groups))
        zero = _signed(unpacked(words.T, form.bits, rows).T, form.bits)
    return _scaled(module, _signed(unpacked(packed, form.bits, columns), form.bits), zero, form, tensors)


def _signed(values: NDArray[np.uint8], bits: int) -> F32Array:
    return values.astype(np.float32) - np.float32(1 << (bits - 1))


def _scaled(module: str, values: F32Array, zero: NDArray[Any] | None, form: _Form, tensors: StoredTensors) -> F32Array:
    """(value - zero point) * scale, both of the value's block."""
    scales = tensors.take(f"{module}{_SCALE}", FLOATS)
    if values.ndim != 2:
        message = f"expected a weight of rows and columns, got {list(values.shape)}"
        raise refusal("wrong-shape", message, tensor=f"{module}.weight")
    block = form.block_of(*values.shape)
    if form.strategy == "tensor":
        scales = scales.reshape(1, 1) if scales.size == 1 else scales
        zero = zero.reshape(1, 1) if zero is not None and zero.size == 1 else zero
    if zero is not None:
        values = values - spread(zero, values.shape, block, f"{module}{_ZERO}")
    return values * spread(scales, values.shape, block, f"{module}{_SCALE}")
