# SPDX-License-Identifier: Apache-2.0
"""Several texts that are written together, or read again as they were written: the bits of one after the other, in less
time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..ir import program as p
from ..ir.text import Text
from .floats import F32Array
from .forward import run
from .generation import run_pass
from .values import Values, WeightsFor


class Together:
    """The texts, and what has been read of their targets; `weights_for` may exchange the weights of a linear when its
    inputs are known, those of all texts and steps that a pass has."""

    def __init__(
        self, program: p.Program, texts: Sequence[Sequence[int]], weights_for: WeightsFor | None = None
    ) -> None:
        rules = program.target_rules
        assert rules is not None
        read = [ids if rules.begin else rules.read_first(ids) for ids in texts]
        self._program = program
        self._values = Values(program, [Text(ids, [0] * len(ids)) for ids in read], weights_for)
        self._read = [0] * len(texts)
        for step in program.steps[:-1]:
            run(step, self._values)

    def read(self, tokens: Sequence[Sequence[int]]) -> list[F32Array]:
        """[tokens, vocabulary] of each text: the logits behind each of its next tokens; there is at least one."""
        rows = run_pass(self._values, self._program, tokens, self._read)
        self._read = [before + len(more) for before, more in zip(self._read, tokens, strict=True)]
        return np.split(rows, np.cumsum([len(more) for more in tokens])[:-1])

    def keep(self, which: Sequence[int]) -> None:
        """Goes on with these texts alone."""
        caches = self._values.caches
        self._values.caches = {place: [rows[i] for i in which] for place, rows in caches.items()}
        self._read = [self._read[i] for i in which]


def logits_of(
    program: p.Program,
    texts: Sequence[Sequence[int]],
    written: Sequence[Sequence[int]],
    weights_for: WeightsFor | None = None,
) -> list[F32Array]:
    """[written, vocabulary] of each text: what each step computes where this is what they write."""
    assert program.target_rules is not None
    first = [program.target_rules.read_first(ids) for ids in texts]
    read = [(*before, *tokens[:-1]) for before, tokens in zip(first, written, strict=True)]
    rows = Together(program, texts, weights_for).read(read)
    return [of_text[len(before) - 1 :] for of_text, before in zip(rows, first, strict=True)]


def write_greedily(program: p.Program, texts: Sequence[Sequence[int]]) -> list[list[int]]:
    """What Generation.greedy() writes for each text."""
    rules = program.target_rules
    assert rules is not None
    together, going = Together(program, texts), list(range(len(texts)))
    written: list[list[int]] = [[] for _ in texts]
    begins = [rules.read_first(ids) for ids in texts]
    rows = together.read(begins)
    for count in range(rules.max_tokens):
        forced = rules.forced_end and count == rules.max_tokens - 1
        for i, of_text in zip(going, rows, strict=True):
            written[i].append(rules.ends[0] if forced else rules.best(of_text[-1], begins[i], written[i]))
        kept = [k for k, i in enumerate(going) if not rules.ended(written[i])]
        if not kept or count == rules.max_tokens - 1:
            break
        together.keep(kept)
        going = [going[k] for k in kept]
        rows = together.read([written[i][-1:] for i in going])
    return written
