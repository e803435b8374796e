# SPDX-License-Identifier: Apache-2.0
"""Tables of the angles that queries and keys are turned by (Su et al., 2021)."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np

from ..ir.graph import Parameter
from .computed import Computed
from .sinusoids import sine_and_cosine


def rotary_tables(name: str, theta: float, positions: int, width: int) -> tuple[Parameter, Parameter]:
    """Cosines and sines [positions, width / 2]: position i turns pair k by i / theta^(2k / width).

    Frequencies are rounded to float32 as by `compute_default_rope_parameters` of `transformers`, angles are not.
    """
    with localcontext() as context:
        context.prec = 30
        exponents = [Decimal(float(np.float32(2 * k) / np.float32(width))) for k in range(width // 2)]
        powers = np.array([float(Decimal(theta) ** exponent) for exponent in exponents], np.float32)
    sines, cosines = sine_and_cosine(np.arange(positions)[:, None] * (np.float32(1) / powers).astype(np.float64))

    def table(of: str, values: np.ndarray) -> Parameter:
        full = f"{name}_{of}"
        return Parameter(full, (Computed(full, values.shape, lambda: values.astype(np.float32)),), common=True)

    return table("cosines", cosines), table("sines", sines)
