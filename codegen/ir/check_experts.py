# SPDX-License-Identifier: Apache-2.0
"""Whether experts of a graph are sound: how many there are, of which linears, and of which shapes these are."""

from __future__ import annotations

from collections.abc import Iterator

from . import graph as g
from .unsound import unsound


def parameters_of_experts(op: g.Experts, inputs: int, outputs: int) -> Iterator[tuple[g.Parameter, tuple[int, ...]]]:
    """Their weights and biases with the shapes that they should have, of rows so wide."""
    if not 1 <= op.top <= op.experts:
        raise unsound(f"{op.top} of {op.experts} experts")
    if len(op.linears) not in (2, 3):
        raise unsound(f"experts of {len(op.linears)} linears: two, or three with a gate")
    if op.out == op.input:
        raise unsound(f"experts read and write '{op.out}'")
    for linear in op.linears:
        is_last = linear is op.linears[-1]
        wide, width = (outputs, op.inner) if is_last else (op.inner, inputs)
        yield linear.weight, (op.experts * wide, width)
        if linear.bias is not None:
            yield linear.bias, (op.experts * wide,)
