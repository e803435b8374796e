# SPDX-License-Identifier: Apache-2.0
"""A gate between bounds, as gpt-oss has it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ClampedGate:
    """Of a gate x and a factor u, with g = min(x, limit): (min(max(u, -limit), limit) + 1) * (g * sigmoid(alpha * g)).
    Of a program both are rounded to float32."""

    alpha: float
    limit: float
