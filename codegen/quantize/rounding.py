# SPDX-License-Identifier: Apache-2.0
"""Rounding that weighs what the inputs of a linear are: GPTQ, with every step in an order that no machine changes.

With e the error of a row of weights, the error of its outputs over the calibration's inputs x is e H e^T, H = sum of
x^T x. H is integers: inputs are what the runtime multiplies, times an integer for each token's scale. With H = U D U^T,
U unit upper triangular, that is the sum over k of D[k] (e U)[k]^2, and (e U)[k] knows nothing of later weights: so they
are rounded one after the other, each from where its predecessors' errors moved it to.
"""

from __future__ import annotations

import numpy as np

from ..emulate.floats import QuantizedRows
from ..ir.parameter import FloatArray
from ..ir.program import GROUP, S4Matrix, S8Matrix
from .groups import F64Array, in_groups, round_groups, search, search_factors

# Inputs are q * t, |q| <= 127, t the token's scale in parts of the largest: H stays below 2^53 for 2^19 tokens.
_SCALE_PARTS = 1023
_DAMPING_DIVISOR = 100  # of the mean of H's diagonal, added to it: directions that no input has
_BLOCK = 64  # columns of U
_ROWS_AT_ONCE = 64  # of weights, so that they stay in the cache
_TOKENS_AT_ONCE = 4096


def input_products(inputs: QuantizedRows) -> F64Array:
    """H [width, width]: integers, held exactly."""
    width = inputs.q.shape[1]
    products = np.zeros((width, width))
    largest = inputs.scales.max(initial=np.float32(0))
    if largest == 0:
        return products
    parts = np.maximum(np.rint(inputs.scales / largest * np.float32(_SCALE_PARTS)), np.float32(1)).astype(np.float64)
    for begin in range(0, len(inputs.q), _TOKENS_AT_ONCE):
        part = slice(begin, begin + _TOKENS_AT_ONCE)
        x = inputs.q[part].astype(np.float64) * parts[part, None]
        products += x.T @ x
    return products


def factorize(products: F64Array) -> tuple[F64Array, F64Array]:
    """U, whose lower triangle means nothing, and D of H, damped.

    Element-wise operations only, for LAPACK's results depend on the CPU. From the last column on, each takes its share
    from all before it; those of a block of columns are first made among themselves, then taken from the others a few
    rows at a time, so that these stay in the cache.
    """
    width = len(products)
    damping = sum(int(each) for each in np.diagonal(products)) // (_DAMPING_DIVISOR * width) + 1
    upper = products.copy()
    upper.flat[:: width + 1] += float(damping)
    d = np.zeros(width)
    for begin in range((width - 1) // _BLOCK * _BLOCK, -1, -_BLOCK):
        end = min(begin + _BLOCK, width)
        columns = np.zeros((end - begin, end))
        for k in range(end - 1, begin - 1, -1):
            d[k] = upper[k, k]
            columns[k - begin, :k] = upper[:k, k]
            upper[:k, k] /= d[k]
            upper[:k, begin:k] -= upper[:k, k, None] * columns[k - begin, begin:k]
        for row in range(0, begin, _BLOCK):
            rows = slice(row, row + _BLOCK)
            part = upper[rows, row:begin].copy()
            for k in range(end - 1, begin - 1, -1):
                part -= upper[rows, k, None] * columns[k - begin, row:begin]
            upper[rows, row:begin] = part
    return upper, d


def round_by_inputs(values: FloatArray, upper: F64Array, d: F64Array) -> S4Matrix:
    """`values` [rows, width] in 4 bits, with U and D of their inputs."""
    rows, width = values.shape
    q = np.zeros(values.shape, np.int8)
    factors = np.ones((rows, -(-width // GROUP)), np.uint8)
    scales = np.zeros(rows, np.float32)
    importance = in_groups(d[None])[0]
    for begin in range(0, rows, _ROWS_AT_ONCE):
        part = slice(begin, begin + _ROWS_AT_ONCE)
        weights = values[part].astype(np.float64)
        scales[part], _ = search(in_groups(weights), importance)
        used = np.flatnonzero(scales[part] > 0)
        weights, part_scales = weights[used], scales[part][used]
        target = weights.copy()
        for group in range(factors.shape[1]):
            first, last = group * GROUP, min(group * GROUP + GROUP, width)
            _, found = search_factors(in_groups(target[:, first:last]), part_scales, importance[group : group + 1])
            factors[begin + used, group] = found[:, 0]
            by = found.astype(np.float64) * part_scales.astype(np.float64)[:, None]
            for k in range(first, last):
                rounded = round_groups(target[:, k, None, None], by, found.astype(np.float64))[:, 0]
                q[begin + used, k] = rounded[:, 0].astype(np.int8)
                target[:, k + 1 :] += (weights[:, k, None] - rounded * by) * upper[k, k + 1 :]
    return S4Matrix(q, factors, scales)


def output_error(matrix: S4Matrix, values: FloatArray, products: F64Array) -> float:
    """Root mean square error of the outputs over the inputs of H, relative to the outputs. For reports."""
    expanded: S8Matrix = matrix.expanded
    w = values.astype(np.float64)
    error = expanded.q * expanded.scales[:, None].astype(np.float64) - w
    outputs = float(((w @ products) * w).sum())
    return float(np.sqrt(((error @ products) * error).sum() / outputs)) if outputs > 0 else 0.0
