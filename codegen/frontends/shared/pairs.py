# SPDX-License-Identifier: Apache-2.0
"""Heads whose neighbours are turned with each other, the first value with the second. Outputs of linears are put in
another order at generation, so that a first half is turned with the second; queries and keys have the same order, so
that no score changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...ir.graph import Array, Linear, Parameter
from .computed import Computed


def by_halves(linear: Linear, head: int, turned: int) -> Linear:
    """Queries or keys of heads of `head` values, of which the first `turned` are."""
    of_head = np.arange(head)
    of_head[:turned] = of_head[:turned].reshape(-1, 2).T.reshape(-1)
    order = (np.arange(0, linear.weight.shape[0], head)[:, None] + of_head).reshape(-1)

    def ordered(parameter: Parameter) -> Parameter:
        return replace(parameter, arrays=tuple(_in_order(array, order) for array in parameter.arrays))

    bias = None if linear.bias is None else ordered(linear.bias)
    return replace(linear, weight=ordered(linear.weight), bias=bias)


def _in_order(array: Array, order: np.ndarray) -> Computed:
    return Computed(array.name, array.shape, lambda: array.values[order], array.file)
