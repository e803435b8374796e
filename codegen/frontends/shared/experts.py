# SPDX-License-Identifier: Apache-2.0
"""Parts of mixtures of experts."""

from __future__ import annotations

import numpy as np

from ...ir.graph import Norm, Parameter
from ...ir.parameter import Array
from .computed import Computed


def plus(name: str, value: str, biases: tuple[Array, ...]) -> Norm:
    """A bias of the rows of `value`, in place: a norm that divides nothing and multiplies by 1."""
    width = biases[0].shape[0]
    ones = Computed(f"{name} of ones", (width,), lambda: np.ones(width, np.float32))
    gamma = Parameter(f"{name}_gamma", (ones,) * len(biases))
    return Norm(name, gamma, Parameter(f"{name}_beta", biases), None, value, value, kind="affine")
