# SPDX-License-Identifier: Apache-2.0
"""Parts of layers whose linears are stored as [inputs, outputs], as OpenAI's are, queries, keys and values as one."""

from __future__ import annotations

import numpy as np

from ...ir.graph import Linear, Norm, Parameter
from ...ir.parameter import Array, F32Array
from ...load.safetensors import TensorFile
from . import parts
from .computed import Computed, rows_of
from .layer_parts import ATTENTION


class TransposedParts:
    """Of all layers."""

    def __init__(self, tensors: TensorFile, prefixes: list[str], width: int, epsilon: float) -> None:
        self._tensors, self._prefixes, self._width, self._epsilon = tensors, prefixes, width, epsilon

    def norm(self, name: str, of: str, out: str) -> Norm:
        sources = [f"{prefix}{of}" for prefix in self._prefixes]
        return parts.layer_norm(self._tensors, name, sources, self._width, self._epsilon, "hidden", out)

    def linear(
        self,
        name: str,
        of: str,
        shape: tuple[int, int],
        value: str,
        out: str,
        activation: str = "none",
        residual: str | None = None,
    ) -> Linear:
        """`shape` is [inputs, outputs]."""
        weights, biases = self._stored(of, shape)
        columns = tuple(_columns(weight, 0, shape[1]) for weight in weights)
        weight, bias = Parameter(f"{name}_weight", columns), Parameter(f"{name}_bias", biases)
        return Linear(name, weight, bias, value, out, activation, residual)

    def attention(self, value: str) -> tuple[Linear, ...]:
        """Queries, keys and values of `value`, which the file stores side by side."""
        width = self._width
        weights, biases = self._stored("attn.c_attn", (width, 3 * width))

        def linear(name: str, begin: int) -> Linear:
            columns = tuple(_columns(weight, begin, begin + width) for weight in weights)
            rows = tuple(rows_of(bias, begin, begin + width) for bias in biases)
            return Linear(name, Parameter(f"{name}_weight", columns), Parameter(f"{name}_bias", rows), value, name)

        return tuple(linear(name, index * width) for index, name in enumerate(ATTENTION))

    def _stored(self, of: str, shape: tuple[int, int]) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
        weights = tuple(self._tensors.take(f"{prefix}{of}.weight", shape) for prefix in self._prefixes)
        return weights, tuple(self._tensors.take(f"{prefix}{of}.bias", shape[1:]) for prefix in self._prefixes)


def _columns(array: Array, begin: int, end: int) -> Computed:
    """Some outputs of a weight that is stored as [inputs, outputs]."""
    shape = (end - begin, array.shape[0])
    return Computed(f"{array.name}[:, {begin}:{end}]", shape, lambda: _turned(array, begin, end), array.file)


def _turned(array: Array, begin: int, end: int) -> F32Array:
    return np.ascontiguousarray(array.values[:, begin:end].T)
