# SPDX-License-Identifier: Apache-2.0
"""Whether rows of groups are sound: they are of level 1, those of tokens of level 0; and rows of one token."""

from __future__ import annotations

from . import graph as g
from .check_state import CHECK, Check, check_tokens
from .convolutions import MOST_TAPS
from .row_groups import MOST_RATE
from .unsound import unsound


@CHECK.on(g.GroupRows)
def _group_rows(op: g.GroupRows, check: Check) -> None:
    check_tokens(op.input, check)
    _check_outside(op.out, op.rate, check)
    check.same(f"width of '{op.out}'", check.width(op.out), op.rate * check.width(op.input))
    check.out(op.out, "tokens", 1)


@CHECK.on(g.FirstRow)
def _first_row(op: g.FirstRow, check: Check) -> None:
    check_tokens(op.input, check)
    check_tokens(op.value, check, level=1)
    check.same(f"width of '{op.input}'", check.width(op.input), check.width(op.value))
    check.out(op.value, "tokens", 1)


@CHECK.on(g.SpreadRows)
def _spread_rows(op: g.SpreadRows, check: Check) -> None:
    check_tokens(op.input, check)
    check_tokens(op.groups, check, level=1)
    _check_outside(op.out, op.rate, check)
    if not 1 <= op.taps <= MOST_TAPS or not 0 <= op.before < op.taps:
        raise unsound(f"'{op.out}' takes from {op.taps} rows, {op.before} before its own")
    width = op.taps * (check.width(op.input) + check.width(op.groups))
    check.same(f"width of '{op.out}'", check.width(op.out), width)
    check.out(op.out, "tokens")


@CHECK.on(g.RowOfToken)
def _row_of_token(op: g.RowOfToken, check: Check) -> None:
    check_tokens(op.input, check)
    check.same(f"width of '{op.out}'", check.width(op.out), check.width(op.input))
    if check.layers is not None or check.target_rules is not None or not 0 <= op.id < check.graph.vocabulary:
        raise unsound(f"'{op.out}': the row of token {op.id} of {check.graph.vocabulary}, outside of layers")
    if op.out == op.input:
        raise unsound(f"'{op.out}' is read and written")
    check.out(op.out, "tokens")


def _check_outside(out: str, rate: int, check: Check) -> None:
    if check.layers is not None or check.target_rules is not None or not 1 <= rate <= MOST_RATE:
        raise unsound(f"'{out}': groups of {rate} rows, 1 to {MOST_RATE} are supported, outside of layers")
