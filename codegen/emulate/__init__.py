# SPDX-License-Identifier: Apache-2.0
"""The arithmetic contract (runtime/ARITHMETIC.md) in NumPy: the bits that every kernel, board and thread count gives.

Written from the contract, not from the kernels, so that a mistake in either shows. Only element-wise IEEE float32
operations, integers, and matrix products of integers that their type of floats holds exactly. No NumPy transcendental
and no float reduction but the maximum: their results depend on the CPU. Same bytes on every machine.

`forward` runs a whole program over texts, `ops` says what each op makes of the `values` that texts have; the others are
called like the operations that they have.
"""

from __future__ import annotations

from .forward import emulate, emulate_outputs, emulate_texts

__all__ = ["emulate", "emulate_outputs", "emulate_texts"]
