# SPDX-License-Identifier: Apache-2.0
"""Beam search in float32, each operation in the order that the contract fixes. A beam that is continued twice shares
what its keys and values were: rows are appended to copies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..ir.constants import powers
from ..ir.graph import TargetRules
from ..ir.search import Search
from .best import powers_of
from .floats import F32Array, row_maximum
from .polynomials import LN2, LOG2E, log2


class State(Protocol):
    """What has been read of a sequence."""

    def after(self, token: int) -> tuple[F32Array, State]:
        """The logits of a step that reads one token more, and what has been read then."""
        ...


NOT_THERE = np.float32(-(2.0**100))


@dataclass(frozen=True)
class Written:
    """What is written, its end included where there is one; the score is divided by length ^ length_penalty, of
    which what counts of the target's begin is a part."""

    tokens: tuple[int, ...]
    score: np.float32
    by_itself: bool  # whether it ended so, not by its length


@dataclass(frozen=True)
class _Beam:
    tokens: tuple[int, ...]
    score: np.float32
    state: State


def log_sum(row: F32Array, rules: TargetRules, count: int) -> np.float32:
    """M + log2(S) * ln(2), with M the largest logit and S the sum of powers of best.py, a block after the other.

    Of all tokens, or of those that may be written behind `count` others.
    """
    row = row.copy()
    if rules.search.renormalize:
        row[rules.not_after(count)] = NOT_THERE
    return _log_sum_of_all(row)


def _log_sum_of_all(row: F32Array) -> np.float32:
    _, total = powers_of((row * LOG2E)[None])
    return row_maximum(row) + log2(total)[0] * LN2


def beam_search(state: State, begin: Sequence[int], rules: TargetRules, search: Search) -> list[Written]:
    """The sequences that are found, the best first. `state` has read all that a target begins with but for its last
    token."""
    most, count = rules.max_tokens, search.beams
    lengths = powers(most + rules.counted, search.length_penalty)[rules.counted :]
    running = [_Beam((), np.float32(0), state)]
    found: list[Written] = []
    for length in range(1, most + 1):
        last = length == most
        forced = rules.forced_end and last
        candidates = [one for beam in running for one in _continued(beam, begin, rules, count, forced)]
        # stable: the lower beam, the lower id
        candidates = sorted(candidates, key=lambda one: -one.score)[: (1 + len(rules.ends)) * count]
        over = [last or rules.ended(one.tokens) for one in candidates]
        if not (len(found) == count and search.early_stopping is True):
            new = [
                Written(one.tokens, one.score / lengths[length - 1], rules.ended(one.tokens) and not forced)
                for one, is_over in zip(candidates[:count], over[:count], strict=True)
                if is_over
            ]
            found = sorted([*found, *new], key=lambda one: -one.score)[:count]
        running = [one for one, is_over in zip(candidates, over, strict=True) if not is_over][:count]
        full = len(found) == count
        if last or (full and search.early_stopping is True):
            break
        best_length = most if search.early_stopping == "never" and search.length_penalty > 0 else length
        if full and running[0].score / lengths[best_length - 1] <= found[-1].score:
            break
    return found


def _continued(beam: _Beam, begin: Sequence[int], rules: TargetRules, count: int, forced: bool) -> list[_Beam]:
    """The best ways to go on, by their logits, of equal ones the lower id."""
    logits, state = beam.state.after(beam.tokens[-1] if beam.tokens else begin[-1])
    if forced:
        return [_Beam((*beam.tokens, rules.ends[0]), beam.score, state)]
    whole = _log_sum_of_all(logits)
    logits = rules.restrictions.applied(logits, begin, beam.tokens, whole)
    some = log_sum(logits, rules, len(beam.tokens)) if rules.search.renormalize else whole
    allowed = np.delete(np.arange(len(logits)), rules.not_after(len(beam.tokens)))
    best = allowed[np.argsort(-logits[allowed], kind="stable")[: count + len(rules.ends)]]
    sums = beam.score + (logits[best] - some)
    return [_Beam((*beam.tokens, int(id)), score, state) for id, score in zip(best, sums, strict=True)]
