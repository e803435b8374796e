# SPDX-License-Identifier: Apache-2.0
"""Executes the steps of a program that writes: one row each, keys and values appended, as the generated code does."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np

from ..ir import program as p
from ..search import Search
from .beams import Written, beam_search, log_sum
from .floats import F32Array
from .forward import Forward, Text


class Generation:
    """One text that is being written."""

    def __init__(self, program: p.Program, ids: Sequence[int], segments: Sequence[int]) -> None:
        if program.target is None:
            raise ValueError("the program writes nothing")
        self._program, self._target = program, program.target
        self._forward = Forward(program, [Text(ids, segments)])
        self._read = 0
        *once, self._repeat = program.steps
        assert isinstance(self._repeat, p.Repeat)
        for step in once:
            self._forward.step(step)
        self._forward.spans = [slice(0, 1)]
        *before, self._next = self._target.read_first(ids)
        for token in before:
            self.logits_behind(token)

    def logits_behind(self, token: int) -> F32Array:
        """[vocabulary]: of a step that reads `token`."""
        if not 0 <= token < self._target.vocabulary or self._read == self._target.steps(self._program.max_tokens):
            raise ValueError(f"token {token} after {self._read} steps")
        forward = self._forward
        forward.indices = {"ids": np.array([token]), "positions": np.array([self._read])}
        for part in self._repeat.body:
            if isinstance(part, p.Loop):
                forward.step(part)
            else:
                forward.run((part,), 0, per_text=False)
        self._read += 1
        rows = forward.read(self._program.output)
        assert isinstance(rows, np.ndarray)
        return rows[0]

    def after(self, token: int) -> tuple[F32Array, Generation]:
        """The same without a change here: the logits, and what has read one token more."""
        other = copy(self)
        other._forward = self._forward.fork()
        return other.logits_behind(token), other

    def beams(self, search: Search | None = None) -> list[Written]:
        """What is found, the best first."""
        return beam_search(self, self._next, self._target, search or self._target.search)

    def greedy(self, max_tokens: int | None = None, capacity: int | None = None) -> tuple[list[int], list[F32Array]]:
        """What is written, its end included where there is one, and the logits of each step: the token of the largest,
        the lower one of equals. No more than `capacity` tokens of it."""
        target = self._target
        most = target.max_tokens if max_tokens is None else max_tokens
        written: list[int] = []
        logits: list[F32Array] = []
        while len(written) < (most if capacity is None else min(most, capacity)) and target.end not in written[-1:]:
            logits.append(self.logits_behind(written[-1] if written else self._next))
            forced = target.forced_end and len(written) == most - 1
            written.append(target.end if forced else target.best(logits[-1], len(written)))
        return written, logits

    def score(self, written: Sequence[int], logits: Sequence[F32Array]) -> np.float32:
        """Of what is written greedily: the sum of its log-probabilities, without that of a forced end."""
        score = np.float32(0)
        for count, (token, row) in enumerate(zip(written, logits, strict=True), 1):
            if not (self._target.forced_end and count == self._target.max_tokens):
                score += row[token] - log_sum(row, self._target, count - 1)
        return score
