# SPDX-License-Identifier: Apache-2.0
"""The arithmetic contract (runtime/ARITHMETIC.md) in NumPy: the bits that every kernel, board and thread count gives.

Written from the contract, not from the kernels, so that a mistake in either shows. Only element-wise IEEE float32
operations, integers, and float64 matrix products of integers that float64 holds exactly. No NumPy transcendental and no
float reduction but the maximum: their results depend on the CPU. Same bytes on every machine.

    floats       sums along a row, quantization of rows, norms, products in index order
    polynomials  exp2, erf, reciprocal, sigmoid, tanh
    activations  the functions that a linear may end with
    linear       s8 and f32
    attention    s8 and f32
    embedding    rows of s8 and f32 tables, and their sums
    pooling      one row per text, its length as a vector, probabilities
    values, ops  what texts have while a program runs, and what each op makes of it
    forward      a whole program over texts
"""

from __future__ import annotations

from .forward import emulate, emulate_outputs, emulate_texts

__all__ = ["emulate", "emulate_outputs", "emulate_texts"]
