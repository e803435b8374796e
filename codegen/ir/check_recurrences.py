# SPDX-License-Identifier: Apache-2.0
"""What ops of a graph need that carry a matrix of each head from row to row: the delta rule, state spaces."""

from __future__ import annotations

from . import graph as g
from .check_state import CHECK, Check, check_heads, check_rows
from .unsound import unsound


@CHECK.on(g.DeltaRule)
def _delta_rule(op: g.DeltaRule, check: Check) -> None:
    _check_by_head(op, (op.decay, op.beta), check)
    check.same(f"width of '{op.input}'", check.width(op.input), 2 * op.keys + check.width(op.out))
    if min(op.key_heads, op.key_width) < 1 or op.heads % op.key_heads:
        raise unsound(f"{op.name}: {op.heads} heads on {op.key_heads} of keys, {op.key_width} wide")
    check.out(op.out, check.rows[op.input])


@CHECK.on(g.StateSpace)
def _state_space(op: g.StateSpace, check: Check) -> None:
    _check_by_head(op, (op.time,), check)
    check.shape(op.skips, op.heads)
    check.same(f"layers of {op.skips.name}", op.skips.of_layer, op.rates.of_layer)
    check.same(f"width of '{op.input}'", check.width(op.input), 2 * op.of_groups + check.width(op.out))
    if min(op.groups, op.state_width) < 1 or op.heads % op.groups:
        raise unsound(f"{op.name}: {op.heads} heads on {op.groups} groups, states {op.state_width} wide")
    least, most = op.times
    if not 0 <= least <= most:
        raise unsound(f"{op.name}: time steps within {least:g} and {most:g}")
    check.out(op.out, check.rows[op.input])


def _check_by_head(op: g.DeltaRule | g.StateSpace, values: tuple[str, ...], check: Check) -> None:
    """Its rows, its heads, and what there is a value of for each of them."""
    rows = check_rows(op.input, check)
    if rows == "tokens" and check.target_rules is not None:
        raise unsound(f"{op.name}: rows of the text belong before what repeats")
    check_heads(op.out, op.heads, check)
    check.shape(op.rates, op.heads)
    for array in op.rates.arrays:
        if not (array.values >= 0).all():
            raise unsound(f"{op.name}: a rate of decay is below 0")
    for value in values:
        check.same(f"rows of '{value}'", check_rows(value, check), rows)
        check.same(f"width of '{value}'", check.width(value), op.heads)
    if op.out in (op.input, *values):
        raise unsound(f"{op.name} reads and writes '{op.out}'")
