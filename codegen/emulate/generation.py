# SPDX-License-Identifier: Apache-2.0
"""Executes the steps of a program that writes: one row each, keys and values appended, as the generated code does."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..ir import program as p
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
        *before, self._next = self._target.begin or tuple(ids)
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
            written.append(target.end if forced else target.best(logits[-1]))
        return written, logits
