# SPDX-License-Identifier: Apache-2.0
"""xIELU (Huang 2024, arXiv:2411.13010) as `transformers` stores it: of each layer two numbers before their softplus,
and two that are not trained."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext

import numpy as np

from ...ir.in_place import XIELU_NUMBERS, Xielu
from ...ir.parameter import Array, Parameter
from ...load.safetensors import TensorFile
from .computed import Computed

_ITSELF = 20.0  # behind this PyTorch's softplus is its argument


def trained_xielu(tensors: TensorFile, sources: Sequence[str], value: str) -> Xielu:
    """Of `value`, by the tensors below these, one a layer."""
    return Xielu("xielu", Parameter("xielu_numbers", tuple(_numbers(tensors, source) for source in sources)), value)


def _numbers(tensors: TensorFile, source: str) -> Array:
    """What is multiplied: the second trained number lies above the linear part."""
    positive, negative = (tensors.take(f"{source}.alpha_{sign}", (1,)) for sign in "pn")
    beta, eps = (tensors.take(f"{source}.{name}", ()) for name in ("beta", "eps"))

    def compute() -> np.ndarray:
        linear = float(beta.values)
        power = linear + softplus(float(negative.values[0]))
        return np.array([softplus(float(positive.values[0])), power, min(float(eps.values), 0.0), linear])

    return Computed(positive.name, (XIELU_NUMBERS,), compute, positive.file)


def softplus(x: float) -> float:
    """log(1 + e^x), the same on every machine."""
    if x > _ITSELF:
        return x
    with localcontext() as context:
        context.prec = 50
        return float((1 + Decimal(x).exp()).ln())
