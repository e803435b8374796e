# SPDX-License-Identifier: Apache-2.0
"""Row operations against loops over single float32 values, and their edge cases."""

from __future__ import annotations

import numpy as np
import pytest

from codegen.emulate.floats import (
    INVERSE_127,
    affine,
    integer_product,
    layer_norm,
    ordered_product,
    quantize_rows,
    row_sum,
)

F32 = np.float32
LENGTHS = (1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 100, 384, 1000)


def naive_row_sum(values: np.ndarray) -> np.float32:
    """The contract's words, one addition at a time."""
    partial = [F32(0)] * 16
    for i, value in enumerate(values):
        partial[i % 16] = partial[i % 16] + value
    for distance in (8, 4, 2, 1):
        for i in range(distance):
            partial[i] = partial[i] + partial[i + distance]
    return partial[0]


@pytest.mark.parametrize("n", LENGTHS)
def test_row_sum_has_the_order_of_the_contract(n: int) -> None:
    x = (np.random.default_rng(n).standard_normal((3, 4, n)) * 100).astype(F32)
    sums = row_sum(x)
    assert sums.dtype == F32
    for index in np.ndindex(3, 4):
        assert sums[index].tobytes() == naive_row_sum(x[index]).tobytes()


def test_row_sum_order_matters_for_these_values() -> None:
    """Otherwise the test above could not tell one order from another."""
    x = (np.random.default_rng(1).standard_normal((50, 100)) * 100).astype(F32)
    in_order = np.zeros(50, F32)
    for column in x.T:
        in_order = in_order + column
    assert (row_sum(x) != in_order).any()


def test_row_sum_of_negative_zeros_is_positive() -> None:
    assert not np.signbit(row_sum(np.full((2, 20), -0.0, F32))).any()


@pytest.mark.parametrize("n", LENGTHS)
def test_quantize_rows(n: int) -> None:
    x = (np.random.default_rng(n).standard_normal((5, n)) * 3).astype(F32)
    rows = quantize_rows(x)
    for r in range(5):
        largest = max(abs(value) for value in x[r])
        factor = F32(127) / largest
        expected = [int(np.rint(value * factor)) for value in x[r]]
        assert rows.q[r].tolist() == expected
        assert rows.scales[r].tobytes() == F32(largest * F32(1 / 127)).tobytes()
        assert max(map(abs, expected)) == 127


def test_quantize_rows_of_zeros_and_tiny_values() -> None:
    least = F32(2.0**-40)
    below = np.nextafter(least, F32(0))
    rows = quantize_rows(np.array([[0, 0], [-0.0, 0], [below, -below], [least, 0], [-least, 0]], F32))
    assert rows.q.tolist() == [[0, 0], [0, 0], [0, 0], [127, 0], [-127, 0]]
    assert rows.scales.tolist() == [0, 0, 0, least * INVERSE_127, least * INVERSE_127]


def test_quantize_rows_rounds_ties_to_even() -> None:
    rows = quantize_rows(np.array([[127, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 126.5]], F32))
    assert rows.q.tolist() == [[127, 0, 2, 2, 0, -2, -2, 126]]


def test_quantize_rows_needs_no_clamp() -> None:
    """The largest value may round up before and after, for any mantissa and exponent."""
    random = np.random.default_rng(7)
    x = np.ldexp(random.uniform(1, 2, (200_000, 1)), random.integers(-39, 50, (200_000, 1))).astype(F32)
    assert (quantize_rows(x).q == 127).all()


@pytest.mark.parametrize("n", LENGTHS[1:])
def test_layer_norm(n: int) -> None:
    random = np.random.default_rng(n)
    x, gamma, beta = (random.standard_normal(shape).astype(F32) for shape in ((4, n), (n,), (n,)))
    inverse, epsilon = F32(1 / n), F32(1e-12)
    result = layer_norm(x, gamma, beta, epsilon, inverse)
    for r in range(4):
        mean = naive_row_sum(x[r]) * inverse
        centred = [value - mean for value in x[r]]
        variance = naive_row_sum(np.array([d * d for d in centred], F32)) * inverse
        factor = F32(1) / np.sqrt(variance + epsilon)
        expected = [(d * factor) * g + b for d, g, b in zip(centred, gamma, beta, strict=True)]
        assert result[r].tobytes() == np.array(expected, F32).tobytes()


def test_affine_rows_round_twice_and_stay_within_2_to_the_32() -> None:
    random = np.random.default_rng(5)
    x, gamma, beta = (random.standard_normal(shape).astype(F32) for shape in ((4, 33), (33,), (33,)))
    x[1, :2] = F32(2.0**33) * np.sign(gamma[:2]) * (1, -1) / np.abs(gamma[:2])
    result = affine(x, gamma, beta)
    expected = np.array([[F32(v * g) + b for v, g, b in zip(row, gamma, beta, strict=True)] for row in x], F32)
    assert result[1, :2].tolist() == [2.0**32, -(2.0**32)]
    expected[1, :2] = result[1, :2]
    assert result.dtype == F32
    assert result.tobytes() == expected.tobytes()


@pytest.mark.parametrize(("rows", "inner", "outputs"), [(1, 1, 1), (3, 37, 5), (40, 20, 2000), (2, 9, 40_000)])
def test_ordered_product_adds_in_the_order_of_k(rows: int, inner: int, outputs: int) -> None:
    random = np.random.default_rng(rows)
    a = random.standard_normal((rows, inner)).astype(F32)
    b = random.standard_normal((inner, outputs)).astype(F32)
    result = ordered_product(a, b)
    for _ in range(20):
        r, c = int(random.integers(rows)), int(random.integers(outputs))
        expected = F32(0)
        for k in range(inner):
            expected = expected + a[r, k] * b[k, c]
        assert result[r, c].tobytes() == expected.tobytes()


def test_integer_product_is_exact_then_rounded_once() -> None:
    random = np.random.default_rng(3)
    a = random.integers(-127, 128, (3, 65_536)).astype(np.int8)
    b = np.full((65_536, 2), 127, np.int8)
    a[0], b[:, 1] = 127, random.integers(-127, 128, 65_536)
    exact = a.astype(np.int64) @ b.astype(np.int64)
    assert exact[0, 0] == 65_536 * 127 * 127
    assert integer_product(a, b).tobytes() == exact.astype(np.int32).astype(F32).tobytes()
