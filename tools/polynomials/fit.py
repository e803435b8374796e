# SPDX-License-Identifier: Apache-2.0
"""Fits the polynomials of runtime/src/kernels/polynomials.hpp and measures their error in float32.

    python3 tools/polynomials/fit.py

prints the constants as C++ hexadecimal floats and, for each function, the largest error against double precision over
a dense sweep. Running it again gives the constants that are in the header. The float32 sequences below are the ones
that the header states, operation by operation.
"""

import argparse
import math
from collections.abc import Callable

if __name__ == "__main__":  # before NumPy is needed
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()

import numpy as np
from numpy.typing import NDArray

F = np.float32
Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Function = Callable[[Doubles], Doubles]
SHIFTER = F(1.5 * 2**23)  # adding it rounds a small float to an integer in the low bits


def remez(target: Function, basis: list[Function], weight: Function, low: float, high: float) -> Doubles:
    """Coefficients c that minimize max |weight(x) * (sum of c[i] * basis[i](x) - target(x))| over [low, high]."""
    count = len(basis)
    grid = (low + high) / 2 - (high - low) / 2 * np.cos(np.linspace(0, math.pi, 20001))
    nodes = (low + high) / 2 - (high - low) / 2 * np.cos((np.arange(count + 1) + 0.5) * math.pi / (count + 1))
    coefficients = np.zeros(count)
    for _ in range(30):
        matrix = np.empty((count + 1, count + 1))
        for i, function in enumerate(basis):
            matrix[:, i] = function(nodes)
        matrix[:, count] = (-1.0) ** np.arange(count + 1) / weight(nodes)
        coefficients = np.linalg.solve(matrix, target(nodes))[:count]
        error = weight(grid) * (sum(c * b(grid) for c, b in zip(coefficients, basis, strict=True)) - target(grid))
        # One extremum in each run of equal sign; then the alternating set of count + 1 with the largest values.
        runs = np.split(np.arange(grid.size), np.flatnonzero(np.diff(np.sign(error)) != 0) + 1)
        extrema = [run[np.argmax(np.abs(error[run]))] for run in runs]
        while len(extrema) > count + 1:
            extrema.pop(0 if abs(error[extrema[0]]) < abs(error[extrema[-1]]) else -1)
        if len(extrema) < count + 1:
            break
        nodes = grid[extrema]
    return coefficients


def powers(degree: int) -> list[Function]:
    return [lambda x, i=i: x**i for i in range(degree + 1)]


ERF = np.vectorize(math.erf)
ERFC = np.vectorize(math.erfc)


def fit_exp2(degree: int = 5) -> list[np.float32]:
    """2^f = 1 + f * q(f) on [-1/2, 1/2], least relative error; coefficients of f^0 .. f^degree."""
    q = remez(
        lambda f: np.where(np.abs(f) < 1e-9, math.log(2), np.expm1(f * math.log(2)) / np.where(f == 0, 1, f)),
        powers(degree - 1),
        lambda f: np.maximum(np.abs(f), 1e-6) * np.exp2(-f),
        -0.5,
        0.5,
    )
    return [F(1)] + [F(c) for c in q]


ERF_LIMIT = F(4)


def fit_erf(degree: int = 6) -> list[np.float32]:
    """erfc(x) = 2^(x * q(x)) on [0, ERF_LIMIT], least absolute error of erfc."""
    q = remez(
        lambda x: np.log2(ERFC(x)) / x,
        powers(degree),
        lambda x: x * ERFC(x),
        0.001,
        float(ERF_LIMIT),
    )
    return [F(c) for c in q]


def fit_reciprocal() -> list[np.float32]:
    """1 / y on [1, 2], quadratic, least relative error."""
    return [F(c) for c in remez(lambda y: 1 / y, powers(2), lambda y: y, 1.0, 2.0)]


def fit_log2(degree: int = 8) -> list[np.float32]:
    """log2(1 + f) = f * q(f) on [sqrt(1/2) - 1, sqrt(2) - 1], least absolute error."""
    q = remez(
        lambda f: np.where(np.abs(f) < 1e-9, 1 / math.log(2), np.log2(1 + f) / np.where(f == 0, 1, f)),
        powers(degree - 1),
        lambda f: np.maximum(np.abs(f), 1e-6),
        math.sqrt(0.5) - 1,
        math.sqrt(2) - 1,
    )
    return [F(c) for c in q]


def horner(coefficients: list[np.float32], x: Floats) -> Floats:
    result = np.full_like(x, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        result = result * x + c
    return result


def exp2(x: Floats, c: list[np.float32]) -> Floats:
    shifted = x + SHIFTER
    f = x - (shifted - SHIFTER)
    p = horner(c, f)
    bits = p.view(np.uint32) + (shifted.view(np.uint32) << np.uint32(23))
    return np.where(x < F(-64), F(0), bits.view(np.float32))


def erf(x: Floats, erf_c: list[np.float32], exp2_c: list[np.float32]) -> Floats:
    magnitude = np.abs(x)
    z = np.where(magnitude < ERF_LIMIT, magnitude, ERF_LIMIT)
    return np.copysign(F(1) - exp2(z * horner(erf_c, z), exp2_c), x)


def reciprocal(y: Floats, c: list[np.float32]) -> Floats:
    r = horner(c, y)
    r = r * (F(2) - y * r)
    return r * (F(2) - y * r)


def sigmoid(x: Floats, exp2_c: list[np.float32], reciprocal_c: list[np.float32]) -> Floats:
    e = exp2(np.abs(x) * F(-math.log2(math.e)), exp2_c)
    r = reciprocal(F(1) + e, reciprocal_c)
    return np.where(x < 0, e * r, r)


def tanh(x: Floats, exp2_c: list[np.float32], reciprocal_c: list[np.float32]) -> Floats:
    e = exp2(np.abs(x) * F(-2 * math.log2(math.e)), exp2_c)
    return np.copysign((F(1) - e) * reciprocal(F(1) + e, reciprocal_c), x)


def log2(y: Floats, c: list[np.float32]) -> Floats:
    bits = y.view(np.int32)
    exponent = (bits - F(math.sqrt(0.5)).view(np.int32)) >> 23
    f = (bits - (exponent << 23)).view(np.float32) - F(1)
    return exponent.astype(np.float32) + f * horner(c, f)


def sweep(low: float, high: float, count: int = 2_000_001) -> Floats:
    return np.linspace(low, high, count).astype(np.float32)


def show(name: str, coefficients: list[np.float32]) -> None:
    print(f"{name}:")
    for i, c in enumerate(coefficients):
        print(f"    [{i:2}] {hexadecimal(c):>20}f  // {float(c):.9g}")


def hexadecimal(value: float) -> str:
    """As the header writes it: trailing zeros dropped."""
    mantissa, exponent = float(value).hex().split("p")
    mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}p{exponent.removeprefix('+')}"


def worst(name: str, got: Floats, want: Doubles, x: Floats) -> None:
    difference = np.abs(got.astype(np.float64) - want)
    at = int(np.argmax(difference))
    print(f"{name:34} max abs error {difference[at]:.3g} at x = {float(x[at]):.9g}")


def main() -> None:
    exp2_c, erf_c, reciprocal_c, log2_c = fit_exp2(), fit_erf(), fit_reciprocal(), fit_log2()
    show("exp2", exp2_c)
    show("erf", erf_c)
    show("reciprocal", reciprocal_c)
    show("log2", log2_c)
    scalars = {
        "erf limit": ERF_LIMIT,
        "log2(e)": math.log2(math.e),
        "-log2(e)": -math.log2(math.e),
        "-2 log2(e)": -2 * math.log2(math.e),
        "ln(2)": math.log(2),
        "1 / sqrt(2)": math.sqrt(0.5),
        "2 sqrt(2 / pi)": 2 * math.sqrt(2 / math.pi),
        "2 sqrt(2 / pi) 0.044715": 2 * math.sqrt(2 / math.pi) * 0.044715,
        "1.702": 1.702,
        "1 / 127": 1 / 127,
    }
    for name, value in scalars.items():
        print(f"{name:24} {hexadecimal(F(value))}f")

    x = sweep(-1, 0)
    got = exp2(x, exp2_c)
    want = np.exp2(x.astype(np.float64))
    worst("exp2 on [-1, 0]", got, want, x)
    print(f"{'exp2 on [-1, 0]':34} max rel error {np.max(np.abs(got - want) / want):.3g}; exp2(0) = {got[-1]}")
    x = sweep(-64, 0)
    got, want = exp2(x, exp2_c), np.exp2(x.astype(np.float64))
    print(f"{'exp2 on [-64, 0]':34} max rel error {np.max(np.abs(got - want) / want):.3g}")
    x = sweep(-6, 6)
    worst("erf on [-6, 6]", erf(x, erf_c, exp2_c), ERF(x.astype(np.float64)), x)
    print(f"{'erf on [-6, 6]':34} largest value {erf(x, erf_c, exp2_c).max():.9g}")
    y = sweep(1, 2)
    worst("reciprocal on [1, 2]", reciprocal(y, reciprocal_c), 1 / y.astype(np.float64), y)
    y = sweep(1, 2)
    worst("log2 on [1, 2]", log2(y, log2_c), np.log2(y.astype(np.float64)), y)
    y = sweep(1, 250_000)
    worst("log2 on [1, 250000]", log2(y, log2_c), np.log2(y.astype(np.float64)), y)
    x = sweep(-50, 50)
    x64 = x.astype(np.float64)
    worst("sigmoid on [-50, 50]", sigmoid(x, exp2_c, reciprocal_c), 1 / (1 + np.exp(-x64)), x)
    x = sweep(-12, 12)
    worst("tanh on [-12, 12]", tanh(x, exp2_c, reciprocal_c), np.tanh(x.astype(np.float64)), x)
    x = sweep(-12, 12)
    x64 = x.astype(np.float64)
    gelu = (x * F(0.5)) * (F(1) + erf(x * F(math.sqrt(0.5)), erf_c, exp2_c))
    worst("gelu on [-12, 12]", gelu, x64 * 0.5 * (1 + ERF(x64 * math.sqrt(0.5))), x)
    u = x * (F(2 * math.sqrt(2 / math.pi)) + F(2 * math.sqrt(2 / math.pi) * 0.044715) * (x * x))
    inner = math.sqrt(2 / math.pi) * (x64 + 0.044715 * x64**3)
    worst("gelu_tanh on [-12, 12]", x * sigmoid(u, exp2_c, reciprocal_c), 0.5 * x64 * (1 + np.tanh(inner)), x)
    silu = x * sigmoid(x, exp2_c, reciprocal_c)
    worst("silu on [-12, 12]", silu, x64 / (1 + np.exp(-x64)), x)
    quick_gelu = x * sigmoid(F(1.702) * x, exp2_c, reciprocal_c)
    worst("quick_gelu on [-12, 12]", quick_gelu, x64 / (1 + np.exp(-1.702 * x64)), x)
    alpha, beta, most = F(0.8), F(0.5), F(-1e-6)
    above = ((x * alpha) * x) + (x * beta)
    below = (((exp2(np.minimum(x, most) * F(1 / math.log(2)), exp2_c) - F(1)) - x) * alpha) + (x * beta)
    exact = float(alpha) * (np.expm1(np.minimum(x64, float(most))) - x64) + float(beta) * x64
    worst("xielu on [-12, 0]", below[x <= 0], exact[x <= 0], x[x <= 0])
    exact = float(alpha) * x64**2 + float(beta) * x64
    worst("xielu on [0, 12]", above[x > 0], exact[x > 0], x[x > 0])


if __name__ == "__main__":
    main()
