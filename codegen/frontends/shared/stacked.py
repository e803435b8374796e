# SPDX-License-Identifier: Apache-2.0
"""Linears that a file stores as one, the weights of each below those of the one before."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from ...ir.graph import Linear, Parameter
from ...ir.parameter import Array
from ...load.safetensors import TensorFile
from .computed import rows_of
from .parts import Names

Made = tuple[str, str, str]  # of a linear: its name, the value that it writes, its activation


def stacked_linears(
    tensors: TensorFile,
    sources: Names,
    made: Sequence[Made],
    shape: tuple[int | Sequence[int], int],
    value: str,
    *,
    bias: bool,
) -> tuple[Linear, ...]:
    """Those that `made` names, in their order in the file, all of `value`; `shape` is [outputs, inputs] of one, or the
    outputs of each. There is a source for each layer."""
    outputs, inputs = shape
    ends = list(accumulate([outputs] * len(made) if isinstance(outputs, int) else outputs))
    weights = [tensors.take(f"{source}.weight", (ends[-1], inputs)) for source in sources]
    biases = [tensors.take(f"{source}.bias", (ends[-1],)) for source in sources if bias]

    def linear(i: int, name: str, out: str, activation: str) -> Linear:
        def rows(arrays: Sequence[Array]) -> tuple[Array, ...]:
            return tuple(rows_of(array, ends[i - 1] if i else 0, ends[i]) for array in arrays)

        weight = Parameter(f"{name}_weight", rows(weights))
        return Linear(name, weight, Parameter(f"{name}_bias", rows(biases)) if bias else None, value, out, activation)

    return tuple(linear(i, *one) for i, one in enumerate(made))
