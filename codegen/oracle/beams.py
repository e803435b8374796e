# SPDX-License-Identifier: Apache-2.0
"""Beam search in float64, as `generate` of `transformers` 5 has it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..ir.graph import TargetRules
from ..ir.search import Search
from .functions import F64Array

_NONE = -1e9  # the score of no sequence


@dataclass(frozen=True)
class Written:
    """What is written, its end included where there is one, and the sum of its log-probabilities; of one that has
    ended, divided by length ^ length_penalty."""

    tokens: tuple[int, ...]
    score: float


def search(
    logits: Callable[[Sequence[int]], F64Array],
    begin: Sequence[int],
    rules: TargetRules,
    settings: Search,
    max_tokens: int | None = None,
) -> list[Written]:
    """The ended sequences, the best first. `logits` are of the step behind what is written so far, and
    what was read before that, `begin`. Of equal scores
    that of the lower beam counts as larger, then of the lower id."""
    most = rules.max_tokens if max_tokens is None else max_tokens
    count, penalty = settings.beams, settings.length_penalty
    taken = (1 + len(rules.ends)) * count
    running = [Written((), 0.0)] + [Written((), _NONE)] * (count - 1)
    ended: list[Written] = []
    for length in range(1, most + 1):
        forced = rules.forced_end and length == most
        candidates = _candidates(running, logits, begin, rules, taken, forced, settings.renormalize)
        last = length == most
        ends = [last or rules.ended(one.tokens) for one in candidates]
        if not (len(ended) == count and settings.early_stopping is True):
            new = [one for one, over in zip(candidates[:count], ends[:count], strict=True) if over]
            scored = [Written(one.tokens, one.score / (length + rules.counted) ** penalty) for one in new]
            ended = sorted([*ended, *scored], key=lambda one: -one.score)[:count]
        running = [one for one, over in zip(candidates, ends, strict=True) if not over][:count]
        if all(ends) or (len(ended) == count and settings.early_stopping is True):
            break
        best_length = most if settings.early_stopping == "never" and penalty > 0 else length
        if len(ended) == count and running[0].score / (best_length + rules.counted) ** penalty <= ended[-1].score:
            break
    return ended


def _candidates(
    running: list[Written],
    logits: Callable[[Sequence[int]], F64Array],
    begin: Sequence[int],
    rules: TargetRules,
    count: int,
    forced: bool,
    renormalize: bool,
) -> list[Written]:
    """The best ways to go on, by their sums."""
    rows = []
    for one in running:
        row = rules.restrictions.applied(_log_softmax(logits(one.tokens)), begin, one.tokens)
        row[rules.not_after(len(one.tokens))] = -np.inf
        if forced:
            row = np.where(np.arange(len(row)) == rules.ends[0], 0.0, -np.inf)
        rows.append((_log_softmax(row) if renormalize else row) + one.score)
    sums = np.concatenate(rows)
    best = np.argsort(-sums, kind="stable")[:count]
    width = len(rows[0])
    return [Written((*running[i // width].tokens, int(i % width)), float(sums[i])) for i in best]


def _log_softmax(row: F64Array) -> F64Array:
    row = row - row.max()
    return row - np.log(np.exp(row).sum())
