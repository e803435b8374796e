# SPDX-License-Identifier: Apache-2.0
"""Rows of groups of tokens, and what takes from both; rows of one token."""

from __future__ import annotations

import numpy as np

from ..ir import graph as g
from ..ir.row_groups import group_of_tokens, groups_of
from .state import INTERPRET, State


@INTERPRET.on(g.GroupRows)
def _group_rows(op: g.GroupRows, at: State) -> None:
    rows = at.values[op.input]
    found = np.zeros((groups_of(len(rows), op.rate), op.rate * rows.shape[1]))
    found[1:] = rows[: (len(found) - 1) * op.rate].reshape(len(found) - 1, op.rate * rows.shape[1])
    at.values[op.out] = found


@INTERPRET.on(g.FirstRow)
def _first_row(op: g.FirstRow, at: State) -> None:
    at.values[op.value] = np.concatenate([at.values[op.input][:1], at.values[op.value][1:]])


@INTERPRET.on(g.SpreadRows)
def _spread_rows(op: g.SpreadRows, at: State) -> None:
    rows = at.values[op.input]
    both = np.concatenate([rows, at.values[op.groups][group_of_tokens(len(rows), op.rate)]], axis=1)
    around = np.pad(both, ((op.before, op.taps - 1 - op.before), (0, 0)))
    at.values[op.out] = np.concatenate([around[tap : tap + len(rows)] for tap in range(op.taps)], axis=1)


@INTERPRET.on(g.RowOfToken)
def _row_of_token(op: g.RowOfToken, at: State) -> None:
    rows = at.values[op.input]
    at.values[op.out] = np.repeat(rows[[int(np.argmax(at.indices["ids"] == op.id))]], len(rows), axis=0)
