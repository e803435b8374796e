# SPDX-License-Identifier: Apache-2.0
"""Recipe w7a8: w8a8 with the weights of linears in 7 bits. They take as many bytes; AVX2 multiplies them faster."""

from __future__ import annotations

from .w8a8 import W8A8


class W7A8(W8A8):
    name = "w7a8"
    linear_bits = 7
