# SPDX-License-Identifier: Apache-2.0
"""Rows of tokens that become rows of groups of them, and are spread to tokens again (CANINE, Clark et al. 2021,
arXiv:2103.06874, section 3.2): what lies between works on a row for every `rate` tokens.

A text of n tokens has max(n // rate, 1) rows at level 1: the first stands for the first token alone, row k > 0 for the
k-th `rate` tokens from the beginning, those before it once more. What is left of the tokens has no row of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .op import attribute, updated, whole, written

MOST_RATE = 64


def groups_of(tokens: int, rate: int) -> int:
    """Rows of a text."""
    return max(tokens // rate, 1)


def group_of_tokens(tokens: int, rate: int) -> NDArray[np.int64]:
    """Which row each token of a text takes from: that of its group, or the last one."""
    return np.minimum(np.arange(tokens) // rate + 1, groups_of(tokens, rate) - 1)


def most_groups(rate: int, tokens: int, texts: int) -> int:
    """Rows of so many tokens in so many texts at most: none has fewer than 1."""
    return min(tokens // rate + texts, tokens)


@dataclass(frozen=True)
class GroupRows:
    """Row k > 0 of `out` is the rows rate * (k - 1) to rate * k - 1 of `input`, side by side; the first is zeros."""

    rate: int = attribute()
    input: str = whole()
    out: str = written()


@dataclass(frozen=True)
class FirstRow:
    """The first row of each text becomes that of `input`, which has a row per token."""

    input: str = whole()
    value: str = updated()


@dataclass(frozen=True)
class SpreadRows:
    """Row i of `out` is, for each of `taps` tokens from i - `before` on, its row of `input` and that of its group in
    `groups`, side by side; zeros where a text has no such token."""

    rate: int = attribute()
    taps: int = attribute()
    before: int = attribute()
    input: str = whole()
    groups: str = whole()
    out: str = written()


@dataclass(frozen=True)
class RowOfToken:
    """Each row of `out` is that of `input` at the text's first token of this id; where it has none, the first row."""

    id: int = attribute()
    input: str = whole()
    out: str = written()
