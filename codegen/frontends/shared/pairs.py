# SPDX-License-Identifier: Apache-2.0
"""Heads whose neighbours are turned with each other, the first value with the second. Outputs of linears are put in
another order at generation, so that a first half is turned with the second; queries and keys have the same order, so
that no score changes."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from ...ir.graph import Linear, Norm, Parameter
from ...ir.op import map_slots
from ...ir.parameter import Array
from .computed import Computed

_Made = TypeVar("_Made", Linear, Norm)


def by_halves(made: _Made, head: int, turned: int) -> _Made:
    """What makes queries or keys of heads of `head` values, of which the first `turned` are, or normalizes them."""
    of_head = np.arange(head)
    of_head[:turned] = of_head[:turned].reshape(-1, 2).T.reshape(-1)

    def ordered(parameter: Parameter) -> Parameter:
        order = (np.arange(0, parameter.shape[0], head)[:, None] + of_head).reshape(-1)
        return replace(parameter, arrays=tuple(_in_order(array, order) for array in parameter.arrays))

    return map_slots(made, ordered)


def _in_order(array: Array, order: np.ndarray) -> Computed:
    return Computed(array.name, array.shape, lambda: array.values[order], array.file)
