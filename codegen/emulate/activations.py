# SPDX-License-Identifier: Apache-2.0
"""The element-wise functions that a linear may end with, by the runtime's names."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..ir.clamped_gate import ClampedGate
from ..ir.weights import XieluWeights
from .floats import F32Array
from .polynomials import LOG2E, MINUS_LOG2E, SQRT_HALF, erf, exp2, log1p, sigmoid, tanh

GELU_TANH_1 = np.float32(float.fromhex("0x1.988454p0"))  # 2 sqrt(2 / pi)
GELU_TANH_3 = np.float32(float.fromhex("0x1.2444f2p-4"))  # 2 sqrt(2 / pi) 0.044715
QUICK_GELU = np.float32(1.702)


def relu(x: F32Array) -> F32Array:
    return np.where(x > 0, x, np.float32(0))


def gelu(x: F32Array) -> F32Array:
    return (x * np.float32(0.5)) * (np.float32(1) + erf(x * SQRT_HALF))


def gelu_tanh(x: F32Array) -> F32Array:
    """(1 + tanh(y)) / 2 = sigmoid(2 y)."""
    return x * sigmoid(x * (GELU_TANH_1 + GELU_TANH_3 * (x * x)))


def quick_gelu(x: F32Array) -> F32Array:
    return x * sigmoid(QUICK_GELU * x)


def silu(x: F32Array) -> F32Array:
    return x * sigmoid(x)


def softplus(x: F32Array) -> F32Array:
    """log(1 + exp(x)): what is above 0 of x, and log1p(exp(-|x|))."""
    return np.where(x > 0, x, np.float32(0)) + log1p(exp2(np.abs(x) * MINUS_LOG2E))


def xielu(x: F32Array, weights: XieluWeights) -> F32Array:
    """Behind a linear, an op of its own."""
    power = ((exp2(np.minimum(x, weights.most) * LOG2E) - np.float32(1)) - x) * weights.power
    return np.where(x > 0, (x * weights.square) * x, power) + x * weights.linear


def clamped_gate(x: F32Array, u: F32Array, by: ClampedGate) -> F32Array:
    """Of a gate and a factor, an op of its own."""
    alpha, limit = np.float32(by.alpha), np.float32(by.limit)
    gate = np.minimum(x, limit)
    return (np.minimum(np.maximum(u, -limit), limit) + np.float32(1)) * (gate * sigmoid(gate * alpha))


ACTIVATIONS: dict[str, Callable[[F32Array], F32Array]] = {
    "none": lambda x: x,
    "relu": relu,
    "gelu": gelu,
    "gelu_tanh": gelu_tanh,
    "quick_gelu": quick_gelu,
    "silu": silu,
    "tanh": tanh,
    "sigmoid": sigmoid,
}
