# SPDX-License-Identifier: Apache-2.0
"""Whether rows that are pooled are sound: each op has those of the level that it is for."""

from __future__ import annotations

from typing import get_args

from . import graph as g
from .check_state import CHECK, Check, check_tokens
from .row_pooling import MOST_LEVELS, PooledBy, RowPooling
from .unsound import unsound


def check_pooled(op: g.Attention, check: Check) -> None:
    """Rows of one level attend to those of this one, or in the first layer of the one before."""
    if op.pooled is None:
        check.same(f"segments of '{op.query}'", op.segment_keys, None)
        for value in (op.key, op.value):
            check.same(f"level of '{value}'", check.level(value), check.level(op.query))
        return
    level, tables = op.pooled.level, (op.relative_keys, op.segment_keys, op.bias)
    check.same(f"level of '{op.query}'", check.level(op.query), level)
    check.same(f"level of '{op.value}'", check.level(op.value), check.level(op.key))
    _check_pooling(op.pooled.pooling, level)
    others = op.relative_queries is not None or op.relative_rows or op.key_heads not in (None, op.heads)
    if None in tables or others or op.mask != "none" or op.cap is not None or check.target_rules is not None:
        raise unsound("attention of pooled rows has relative keys, segment keys and a bias, and nothing else")
    if check.level(op.key) not in (level, *([level - 1] if check.layers is not None and check.layer == 0 else [])):
        raise unsound(f"'{op.query}' of level {level} attends to '{op.key}' of level {check.level(op.key)}")
    assert op.relative_keys is not None and op.segment_keys is not None and op.bias is not None
    rows = 2 * op.pooled.reach(check.graph.max_tokens) + 1
    check.shape(op.relative_keys, rows, check.width(op.query))
    check.shape(op.segment_keys, 2, check.width(op.query))
    check.shape(op.bias, 2 * op.heads, rows)


def _check_pooling(pooling: RowPooling, level: int) -> None:
    if pooling.by not in get_args(PooledBy) or (pooling.cut and not pooling.apart) or not 0 <= level <= MOST_LEVELS:
        raise unsound(f"{pooling} to level {level}, of {MOST_LEVELS}")


@CHECK.on(g.PoolRows)
def _pool_rows(op: g.PoolRows, check: Check) -> None:
    if check.layers is None:
        raise unsound(f"'{op.value}' is pooled outside of layers")
    level = check.level(op.value) + (1 if check.layer == 0 else 0)
    check_tokens(op.value, check, level=check.level(op.value))
    _check_pooling(op.pooling, level)
    check.out(op.value, "tokens", level)


@CHECK.on(g.Upsample)
def _upsample(op: g.Upsample, check: Check) -> None:
    check.same(f"level of '{op.input}'", check.level(op.input), op.level)
    _check_pooling(op.pooling, op.level)
    check_tokens(op.value, check)
    check.same(f"width of '{op.input}'", check.width(op.input), check.width(op.value))
    check.out(op.value, "tokens")


@CHECK.on(g.Copy)
def _copy(op: g.Copy, check: Check) -> None:
    check_tokens(op.input, check)
    check.same(f"width of '{op.out}'", check.width(op.out), check.width(op.input))
    if op.out == op.input:
        raise unsound(f"'{op.out}' is copied to itself")
    check.out(op.out, "tokens")
