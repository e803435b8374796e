# SPDX-License-Identifier: Apache-2.0
"""exp2, erf and their relatives: the constants are the runtime's, the errors those that its header states."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from codegen.emulate import activations, floats, polynomials
from codegen.emulate.activations import ACTIVATIONS, xielu
from codegen.ir.weights import XieluWeights

F32 = np.float32
HEADER = Path(__file__).parents[3] / "runtime" / "src" / "kernels" / "polynomials.hpp"
CONSTANTS = {
    "kShifter": polynomials.SHIFTER,
    "kExp2Least": polynomials.EXP2_LEAST,
    "kExp2": polynomials.EXP2,
    "kLog2": polynomials.LOG2,
    "kLn2": polynomials.LN2,
    "kErfLimit": polynomials.ERF_LIMIT,
    "kErf": polynomials.ERF,
    "kReciprocal": polynomials.RECIPROCAL,
    "kLog2E": polynomials.LOG2E,
    "kMinusLog2E": polynomials.MINUS_LOG2E,
    "kMinusTwoLog2E": polynomials.MINUS_TWO_LOG2E,
    "kSqrtHalf": activations.SQRT_HALF,
    "kGeluTanh1": activations.GELU_TANH_1,
    "kGeluTanh3": activations.GELU_TANH_3,
    "kQuickGelu": activations.QUICK_GELU,
    "kInverse127": floats.INVERSE_127,
    "kLeastMaximum": floats.LEAST_MAXIMUM,
}


def header_constants() -> dict[str, list[float]]:
    found = {}
    for name, value in re.findall(r"constexpr float (k\w+)(?:\[\])?\s*=\s*([^;]+);", HEADER.read_text()):
        numbers = re.findall(r"(-?[\d.]\w*(?:\.\w*)?(?:p-?\d+)?)f", value)
        found[name] = [float.fromhex(n) if "x" in n else float(n) for n in numbers]
    return found


def test_constants_are_the_runtimes() -> None:
    header = header_constants()
    assert set(header) == set(CONSTANTS)
    for name, value in CONSTANTS.items():
        assert np.atleast_1d(np.array(value, np.float64)).tolist() == header[name], name


def test_constants_come_from_the_functions() -> None:
    assert F32(math.sqrt(0.5)) == activations.SQRT_HALF
    assert F32(2 * math.sqrt(2 / math.pi)) == activations.GELU_TANH_1
    assert F32(2 * math.sqrt(2 / math.pi) * 0.044715) == activations.GELU_TANH_3
    assert F32(-math.log2(math.e)) == polynomials.MINUS_LOG2E


def of_each(function: Callable[[float], float], x: np.ndarray) -> np.ndarray:
    return np.array([function(float(value)) for value in x])


def test_exp2() -> None:
    x = np.linspace(-64, 0, 200_001).astype(F32)
    exact = of_each(lambda v: 2.0**v, x)
    result = polynomials.exp2(x)
    assert result.dtype == F32
    assert (np.abs(result - exact) / exact).max() < 1.9e-7
    assert result.max() == 1


def test_log2() -> None:
    for last, error in ((2, 1.2e-7), (250_000, 1.1e-6)):
        y = np.linspace(1, last, 200_001).astype(F32)
        result = polynomials.log2(y)
        assert result.dtype == F32
        assert np.abs(result - of_each(math.log2, y)).max() < error
    for power, error in ((31, 1.1e-6), (58, 2.0e-6), (127, 3.9e-6)):
        y = np.exp2(np.linspace(0, power, 200_001)[:-1]).astype(F32)
        assert np.abs(polynomials.log2(y) - of_each(math.log2, y)).max() < error
    assert polynomials.log2(np.array([1], F32)).tolist() == [0]


def test_log1p() -> None:
    x = np.exp2(np.linspace(-40, 60, 200_001)).astype(F32)
    result = polynomials.log1p(x)
    assert result.dtype == F32
    assert np.abs(result / of_each(math.log1p, x) - 1).max() < 6.0e-7
    assert polynomials.log1p(np.array([0, 2.0**-40], F32)).tolist() == [0, 2.0**-40]


def test_exp2_at_its_ends() -> None:
    below = np.nextafter(F32(-64), F32(-65))
    result = polynomials.exp2(np.array([0, -0.0, -1, -2, -63, -64, below, -1e30, -np.inf], F32))
    assert result.tolist() == [1, 1, 0.5, 0.25, 2.0**-63, 2.0**-64, 0, 0, 0]
    assert not np.signbit(result).any()


def test_erf() -> None:
    x = np.linspace(-6, 6, 200_001).astype(F32)
    assert np.abs(polynomials.erf(x) - of_each(math.erf, x)).max() < 1.9e-7
    ends = polynomials.erf(np.array([4, -4, 50, -1e30, 0], F32))
    assert ends.tolist() == [1, -1, 1, -1, 0]
    assert np.signbit(polynomials.erf(np.array([-0.0], F32))[0])


def test_reciprocal() -> None:
    y = np.linspace(1, 2, 100_001).astype(F32)
    assert np.abs(polynomials.reciprocal(y) - 1 / y.astype(np.float64)).max() < 1.3e-7


def test_sigmoid_and_tanh() -> None:
    x = np.linspace(-100, 100, 200_001).astype(F32)
    exact = of_each(lambda v: 1 / (1 + math.exp(-v)), x)
    assert np.abs(polynomials.sigmoid(x) - exact).max() < 1.9e-7
    assert np.abs(polynomials.tanh(x) - of_each(math.tanh, x)).max() < 1.9e-7
    assert polynomials.tanh(np.array([0, 1e30, -1e30], F32)).tolist() == [0, 1, -1]
    assert polynomials.sigmoid(np.array([1e30, -1e30], F32)).tolist() == [1, 0]


def tanh_form(x: float) -> float:
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


EXACT: dict[str, tuple[Callable[[float], float], float]] = {
    "none": (lambda x: x, 0.0),
    "relu": (lambda x: max(x, 0.0), 0.0),
    "gelu": (lambda x: 0.5 * x * (1 + math.erf(x / math.sqrt(2))), 5.8e-7),
    "gelu_tanh": (tanh_form, 7.3e-7),
    "quick_gelu": (lambda x: x / (1 + math.exp(-1.702 * x)), 1.2e-6),
    "silu": (lambda x: x / (1 + math.exp(-x)), 2.0e-6),
    "tanh": (math.tanh, 1.9e-7),
    "sigmoid": (lambda x: 1 / (1 + math.exp(-x)), 1.9e-7),
}


@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
def test_activation(name: str) -> None:
    exact, error = EXACT[name]
    x = np.linspace(-12, 12, 100_001).astype(F32)
    result = ACTIVATIONS[name](x)
    assert result.dtype == F32
    assert np.abs(result - of_each(exact, x)).max() <= error


def test_xielu() -> None:
    """Which is an op of its own."""
    weights = XieluWeights(F32(0.8), F32(0.8), F32(-1e-6), F32(0.5), "")
    x = np.linspace(-12, 12, 100_001).astype(F32)
    result = xielu(x, weights)
    assert result.dtype == F32
    alpha, beta, most = (float(value) for value in (weights.square, weights.linear, weights.most))
    x64 = x.astype(np.float64)
    error = np.abs(result - (np.where(x > 0, x64**2, np.expm1(np.minimum(x64, most)) - x64) * alpha + x64 * beta))
    assert error[x <= 0].max() <= 8.6e-7
    assert error.max() <= 1.3e-5
    far = xielu(np.array([-1e6], F32), weights)[0]  # where the power is 0
    assert far == pytest.approx(0.3e6 - 0.8, 1e-7)


def test_every_activation_of_the_runtime_is_there() -> None:
    header = (Path(__file__).parents[3] / "runtime" / "include" / "etch" / "ops" / "activation.hpp").read_text()
    (names,) = re.findall(r"enum class Activation[^{]*{([^}]*)}", header)
    assert {name.strip() for name in names.split(",") if name.strip()} == set(ACTIVATIONS)


def test_relu_has_no_negative_zero() -> None:
    assert not np.signbit(ACTIVATIONS["relu"](np.array([-0.0, -1, 0], F32))).any()
