# SPDX-License-Identifier: Apache-2.0
"""exp2, log2, erf, reciprocal, sigmoid and tanh of the contract: constants and exact sequences of operations."""

from __future__ import annotations

import numpy as np

from .floats import F32Array


def _constants(*values: str) -> tuple[np.float32, ...]:
    return tuple(np.float32(float.fromhex(value)) for value in values)


SHIFTER = np.float32(1.5 * 2.0**23)  # adding it rounds to an integer and leaves that in the low bits
EXP2_LEAST = np.float32(-64)
ERF_LIMIT = np.float32(4)
EXP2 = _constants("0x1p0", "0x1.62e42ap-1", "0x1.ebf9bcp-3", "0x1.c6b752p-5", "0x1.3cea88p-7", "0x1.5bba14p-10")
ERF = _constants(
    *("-0x1.a0bef4p0", "-0x1.d62f2cp-1", "-0x1.3113dcp-3", "0x1.e28cbap-6"),
    *("-0x1.2dc1d8p-9", "-0x1.e3ffb4p-12", "0x1.a45c12p-14"),
)
RECIPROCAL = _constants("0x1.0f83ep1", "-0x1.745d18p0", "0x1.4afd6ap-2")
LOG2 = _constants(
    *("0x1.715472p0", "-0x1.7155bap-1", "0x1.ec7b64p-2", "-0x1.70bab4p-2"),
    *("0x1.2596a4p-2", "-0x1.001218p-2", "0x1.e526cap-3", "-0x1.2a7c18p-3"),
)
LN2, SQRT_HALF = _constants("0x1.62e43p-1", "0x1.6a09e6p-1")  # ln(2), 1 / sqrt(2)
LOG2E, MINUS_LOG2E, MINUS_TWO_LOG2E = _constants("0x1.715476p0", "-0x1.715476p0", "-0x1.715476p1")

_ONE = np.float32(1)
_TWO = np.float32(2)


def horner(coefficients: tuple[np.float32, ...], x: F32Array) -> F32Array:
    """coefficients[0] + x * (coefficients[1] + x * (...)), from the highest down."""
    result = np.full_like(x, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        result *= x
        result += coefficient
    return result


def exp2(x: F32Array) -> F32Array:
    """2^x for x <= 0; +0 below -64."""
    inside = np.maximum(x, EXP2_LEAST)
    shifted = inside + SHIFTER
    power = horner(EXP2, inside - (shifted - SHIFTER))
    bits = power.view(np.uint32) + (shifted.view(np.uint32) << np.uint32(23))
    return np.where(x < EXP2_LEAST, np.float32(0), bits.view(np.float32))


def log2(y: F32Array) -> F32Array:
    """For 1 <= y < 2^127."""
    bits = y.view(np.int32)
    exponent = (bits - SQRT_HALF.view(np.int32)) >> 23
    fraction = (bits - (exponent << 23)).view(np.float32) - _ONE
    return exponent.astype(np.float32) + fraction * horner(LOG2, fraction)


def log1p(x: F32Array) -> F32Array:
    """log(1 + x) for 0 <= x < 2^127; what 1 + x rounds away is put back."""
    y = _ONE + x
    return log2(y) * LN2 + (x - (y - _ONE)) / y


def erf(x: F32Array) -> F32Array:
    """1 - erfc(|x|) with the sign of x."""
    z = np.minimum(np.abs(x), ERF_LIMIT)
    return np.copysign(_ONE - exp2(z * horner(ERF, z)), x)


def reciprocal(y: F32Array) -> F32Array:
    """1 / y for 1 <= y <= 2, without a division."""
    r = horner(RECIPROCAL, y)
    r = r * (_TWO - y * r)
    return r * (_TWO - y * r)


def sigmoid(x: F32Array) -> F32Array:
    """1 / (1 + e^-x)."""
    e = exp2(np.abs(x) * MINUS_LOG2E)
    r = reciprocal(_ONE + e)
    return np.where(x < 0, e * r, r)


def tanh(x: F32Array) -> F32Array:
    """(1 - e^-2|x|) / (1 + e^-2|x|) with the sign of x."""
    e = exp2(np.abs(x) * MINUS_TWO_LOG2E)
    r = reciprocal(_ONE + e)
    return np.copysign((_ONE - e) * r, x)
