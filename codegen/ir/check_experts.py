# SPDX-License-Identifier: Apache-2.0
"""Whether experts of a graph are sound: how many there are, of which linears, and of which shapes these are."""

from __future__ import annotations

from collections.abc import Iterator

from . import graph as g
from .experts import ExpertShares
from .unsound import unsound

LEAST_SHARE = 2.0**-100  # that may be divided by: its reciprocal is far from the ends of float32


def parameters_of_experts(op: g.Experts, inputs: int, outputs: int) -> Iterator[tuple[g.Parameter, tuple[int, ...]]]:
    """Their weights and biases with the shapes that they should have, of rows so wide."""
    if not 1 <= op.top <= op.experts:
        raise unsound(f"{op.top} of {op.experts} experts")
    if len(op.linears) not in (2, 3):
        raise unsound(f"experts of {len(op.linears)} linears: two, or three with a gate")
    if op.out == op.input:
        raise unsound(f"experts read and write '{op.out}'")
    if op.shares is not None:
        _check_shares(op.shares)
    if op.bias is not None:
        if op.weighing == "chosen":
            raise unsound("experts that a bias chooses are weighed before they are chosen")
        yield op.bias, (op.experts,)
    for linear in op.linears:
        is_last = linear is op.linears[-1]
        wide, width = (outputs, op.inner) if is_last else (op.inner, inputs)
        yield linear.weight, (op.experts * wide, width)
        if linear.bias is not None:
            yield linear.bias, (op.experts * wide,)


def _check_shares(shares: ExpertShares) -> None:
    """What is divided by is never 0."""
    if not (0 <= shares.added <= 1 and 0 <= shares.least <= 1 and max(shares.added, shares.least) >= LEAST_SHARE):
        raise unsound(f"shares of experts by their sum and {shares.added:g}, at least {shares.least:g}")
