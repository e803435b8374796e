# SPDX-License-Identifier: Apache-2.0
"""Ops that carry a matrix of each head from row to row: the delta rule, state spaces."""

from __future__ import annotations

import math

import numpy as np

from ..ir import graph as g
from ..ir import program as p
from ..ir.constants import without_tiny
from ..ir.parameter import Array, F32Array
from .ops import LOWER, stored_arrays
from .place import Place

_LARGEST = float(np.finfo(np.float32).max)


@LOWER.on(g.DeltaRule)
def _delta_rule(op: g.DeltaRule, at: Place) -> list[p.Op]:
    def weights(array: Array, _: int) -> p.DeltaWeights:
        return p.DeltaWeights(_rates(array), array.name)

    slot = p.WeightSlot(op.name, stored_arrays(op.rates, weights), op.rates.of_layer, op.rates.common)
    out = at.buffer(op.out)
    state = at.state(op.out, op.key_width)
    inputs, decay, beta = (at.buffer(value) for value in (op.input, op.decay, op.beta))
    return [p.DeltaRule(slot, op.heads, op.key_heads, op.key_width, inputs, decay, beta, out, state)]


@LOWER.on(g.StateSpace)
def _state_space(op: g.StateSpace, at: Place) -> list[p.Op]:
    def weights(array: Array, index: int) -> p.StateSpaceWeights:
        skips = op.skips.arrays[index].values.astype(np.float32)
        return p.StateSpaceWeights(_rates(array), without_tiny(skips), array.name)

    slot = p.WeightSlot(op.name, stored_arrays(op.rates, weights), op.rates.of_layer, op.rates.common)
    least, most = (np.float32(min(time, _LARGEST)) for time in op.times)
    out = at.buffer(op.out)
    state = at.state(op.out, op.state_width)
    inputs = at.buffer(op.input), at.buffer(op.time)
    return [p.StateSpace(slot, op.heads, op.groups, op.state_width, least, most, *inputs, out, state)]


def _rates(array: Array) -> F32Array:
    """Times log2(e) in float64, rounded once."""
    return without_tiny((array.values.astype(np.float64) * math.log2(math.e)).astype(np.float32))
