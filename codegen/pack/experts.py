# SPDX-License-Identifier: Apache-2.0
"""Matrices of several experts, one below the other: each begins at a panel, so that it is packed as by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..ir import program as p
from ..targets import PANEL_WIDTH, round_up

Scalar = TypeVar("Scalar", np.int8, np.uint8, np.float32)


def outputs_of_all(weights: p.LinearWeights) -> int:
    """Outputs with those that fill panels."""
    return weights.experts * round_up(weights.matrix.shape[0] // weights.experts, PANEL_WIDTH)


def by_panels(weights: p.LinearWeights) -> p.LinearWeights:
    """The same with outputs of zeros behind those of each expert, up to a panel."""

    def padded(values: NDArray[Scalar], fill: int = 0) -> NDArray[Scalar]:
        parts = values.reshape(weights.experts, -1, *values.shape[1:])
        outputs = outputs_of_all(weights) // weights.experts
        whole = np.full((weights.experts, outputs, *values.shape[1:]), fill, values.dtype)
        whole[:, : parts.shape[1]] = parts
        return whole.reshape(-1, *values.shape[1:])

    matrix = weights.matrix
    if isinstance(matrix, p.F32Matrix):
        filled: p.Integers | p.F32Matrix = p.F32Matrix(padded(matrix.values))
    elif isinstance(matrix, p.S4Matrix):
        filled = p.S4Matrix(padded(matrix.q), padded(matrix.factors, 1), padded(matrix.scales))
    else:
        filled = type(matrix)(padded(matrix.q), padded(matrix.scales))
    return replace(weights, matrix=filled, bias=None if weights.bias is None else padded(weights.bias))
