# SPDX-License-Identifier: Apache-2.0
"""Rows of groups of tokens of a text in float32, and what takes from both: all are copies."""

from __future__ import annotations

import numpy as np

from ..ir.program import GroupRows, SpreadRows
from ..ir.row_groups import group_of_tokens, groups_of
from .floats import F32Array


def grouped(rows: F32Array, op: GroupRows) -> F32Array:
    """[groups, rate * width]."""
    found = np.zeros((groups_of(len(rows), op.rate), op.out.width), np.float32)
    found[1:] = rows[: (len(found) - 1) * op.rate].reshape(len(found) - 1, op.out.width)
    return found


def spread(rows: F32Array, groups: F32Array, op: SpreadRows) -> F32Array:
    """[tokens, taps * (width + width of a group)]."""
    both = np.concatenate([rows, groups[group_of_tokens(len(rows), op.rate)]], axis=1)
    around = np.pad(both, ((op.before, op.taps - 1 - op.before), (0, 0)))
    return np.concatenate([around[tap : tap + len(rows)] for tap in range(op.taps)], axis=1)
