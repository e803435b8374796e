# SPDX-License-Identifier: Apache-2.0
"""Recipe w4a8: w8a8 with the weights of linears in 4 bits, a scale per output channel and a factor per 32 inputs."""

from __future__ import annotations

from .w8a8 import W8A8


class W4A8(W8A8):
    name = "w4a8"
    linear_bits = 4
