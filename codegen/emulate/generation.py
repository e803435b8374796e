# SPDX-License-Identifier: Apache-2.0
"""Executes the steps of a program that writes: one row each, keys and values appended, as the generated code does."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace

import numpy as np

from ..ir import program as p
from ..ir.search import Sampling, Search
from ..ir.text import Text
from .beams import NOT_THERE, Written, beam_search, log_sum
from .floats import F32Array
from .forward import run
from .sampling import draw
from .values import Values


def run_pass(values: Values, program: p.Program, tokens: Sequence[Sequence[int]], positions: Sequence[int]) -> F32Array:
    """The logits behind the next tokens of each text, [tokens of all texts, vocabulary]; `positions` are those of their
    first ones."""
    repeat = program.steps[-1]
    assert isinstance(repeat, p.Repeat)
    ends = np.cumsum([len(of_text) for of_text in tokens])
    values.spans = [slice(end - len(of_text), end) for end, of_text in zip(ends, tokens, strict=True)]
    values.indices = {
        "ids": np.concatenate([np.asarray(of_text) for of_text in tokens]),
        "positions": np.concatenate([np.arange(len(of)) + at for of, at in zip(tokens, positions, strict=True)]),
    }
    for part in repeat.body:
        run(part, values)
    rows = values.read(program.output)
    assert isinstance(rows, np.ndarray)
    return rows


class Generation:
    """One text that is being written; of `most` tokens at most, where that is not 0 and fewer than there may be."""

    def __init__(self, program: p.Program, ids: Sequence[int], segments: Sequence[int], most: int = 0) -> None:
        if program.target_rules is None:
            raise ValueError("the program writes nothing")
        self._program, self._rules = program, program.target_rules
        if 0 < most < self._rules.max_tokens:
            self._rules = replace(self._rules, max_tokens=most)
        self._values = Values(program, [Text(ids, segments)])
        self._read = 0
        for step in program.steps[:-1]:
            run(step, self._values)
        self._begin = self._rules.read_first(ids)
        *before, self._next = self._begin
        for token in before:
            self.logits_behind(token)

    def logits_behind(self, token: int) -> F32Array:
        """[vocabulary]: of a step that reads `token`."""
        if not 0 <= token < self._rules.vocabulary or self._read == self._rules.steps(self._program.max_tokens):
            raise ValueError(f"token {token} after {self._read} steps")
        rows = run_pass(self._values, self._program, [[token]], [self._read])
        self._read += 1
        return rows[0]

    def after(self, token: int) -> tuple[F32Array, Generation]:
        """The same without a change here: the logits, and what has read one token more."""
        other = copy(self)
        other._values = self._values.fork()
        return other.logits_behind(token), other

    def beams(self, search: Search | None = None) -> list[Written]:
        """What is found, the best first."""
        return beam_search(self, self._begin, self._rules, search or self._rules.search)

    def written(self) -> list[Written]:
        """What a call writes: all that a search finds, the best first, or the one text of the best tokens."""
        if self._rules.search.beams > 1:
            return self.beams()
        tokens, logits = self.greedy()
        by_itself = self._rules.best(logits[-1], self._begin, tokens[:-1]) in self._rules.ends
        return [Written(tuple(tokens), self.score(tokens, logits), by_itself)]

    def greedy(self, capacity: int | None = None) -> tuple[list[int], list[F32Array]]:
        """What is written, its end included where there is one, and the logits of each step: the token of the largest,
        the lower one of equals. No more than `capacity` tokens of it."""
        rules = self._rules
        most = rules.max_tokens
        written: list[int] = []
        logits: list[F32Array] = []
        while len(written) < (most if capacity is None else min(most, capacity)) and not rules.ended(written):
            logits.append(self.logits_behind(written[-1] if written else self._next))
            forced = rules.forced_end and len(written) == most - 1
            written.append(rules.ends[0] if forced else rules.best(logits[-1], self._begin, written))
        return written, logits

    def drawn(self, sampling: Sampling, capacity: int | None = None) -> tuple[list[int], np.float32, bool]:
        """What is written where tokens are drawn, its score, and whether its end was drawn, forced or not. No more than
        `capacity` tokens of it."""
        rules = self._rules
        written: list[int] = []
        score = np.float32(0)
        ended = False
        most = rules.max_tokens if capacity is None else min(rules.max_tokens, capacity)
        while len(written) < most and not ended:
            logits = self.logits_behind(written[-1] if written else self._next)
            logits = rules.restrictions.applied(logits, self._begin, written)
            logits[rules.not_after(len(written))] = NOT_THERE
            token, part = draw(logits, sampling, len(written))
            ended = token in rules.ends
            if rules.forced_end and len(written) == rules.max_tokens - 1:
                written.append(rules.ends[0])
            else:
                written.append(token)
                score += part
        return written, score, ended

    def score(self, written: Sequence[int], logits: Sequence[F32Array]) -> np.float32:
        """Of what is written greedily: the sum of its log-probabilities, without that of a forced end."""
        score = np.float32(0)
        for count, (token, row) in enumerate(zip(written, logits, strict=True), 1):
            if not (self._rules.forced_end and count == self._rules.max_tokens):
                changed = self._rules.restrictions.applied(row, self._begin, written[: count - 1])
                score += changed[token] - log_sum(changed, self._rules, count - 1)
        return score
