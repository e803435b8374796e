# SPDX-License-Identifier: Apache-2.0
"""How good a form is: its outputs beside the whole model's on a few rows, or its answers to all of them.

The emulator gives the bits of every board. A few hundred rows do not tell two forms apart by the number of right
answers, of which they share nearly all, but by how far they move the outputs; that is what `error` is for.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .. import evaluate
from ..emulate.together import logits_of, write_greedily
from ..evaluate import Rows
from ..golden import estimated_seconds
from ..ir.text import Text
from ..vocabulary.pruning import Bound
from .space import Form, Space

_SECONDS = 8.0  # of one error, estimated: from constants, so that every machine takes the same rows
_LEAST_ROWS, _MOST_ROWS = 32, 256


class Judge:
    """Emulates forms on rows of a labelled table; each text is tokenized once for each vocabulary."""

    def __init__(self, space: Space, rows: Rows) -> None:
        self._space, self._rows = space, rows
        self._texts: dict[tuple[Bound | None, int, bool], list[Text]] = {}
        self._scores: dict[Form, evaluate.Score] = {}
        self._errors: dict[Form, float] = {}
        program, count = space.program(space.whole), len(rows.rows)
        screened = _LEAST_ROWS
        if program.target_rules is None:
            tokens = sum(len(text.ids) for text in self._texts_of(space.whole, rows)) / count
            taken = estimated_seconds(program, max(1, round(tokens)))  # 0 where nothing is multiplied
            screened = int(_SECONDS / max(taken, _SECONDS / _MOST_ROWS))
        screened = min(count, max(_LEAST_ROWS, min(_MOST_ROWS, screened)))
        chosen = [i * count // screened for i in range(screened)]
        self._few = replace(rows, rows=tuple(rows.rows[i] for i in chosen), truths=rows.truths[chosen])
        self.rows = screened  # that an error is computed on
        self.measure = rows.measure.name  # what a score is
        self._exact: NDArray[np.float64] | None = None

    def error(self, form: Form) -> float:
        """Mean squared difference of the outputs from the whole model's."""
        if form not in self._errors:
            if self._exact is None:
                self._exact = self._outputs(self._space.whole)
            difference = self._outputs(form) - self._exact
            # fsum is exact, so that no machine ranks forms otherwise.
            self._errors[form] = math.fsum((difference * difference).ravel().tolist()) / difference.size
        return self._errors[form]

    def score(self, form: Form) -> evaluate.Score:
        """The task's measure on all rows."""
        if form not in self._scores:
            vocabulary = self._space.vocabulary(form.bound).checkpoint
            scored = evaluate.score(
                self._space.judged_program(form), vocabulary.tokenizer, self._rows, self._space.checkpoint.target
            )
            self._scores[form] = replace(scored, value=round(scored.value, 9))
        return self._scores[form]

    def _outputs(self, form: Form) -> NDArray[np.float64]:
        """For the few rows: logits of each step that the whole model writes, where it writes."""
        program, texts = self._space.judged_program(form), self._texts_of(form, self._few)
        if program.target_rules is None:
            return np.asarray(evaluate.emulated(program, texts), np.float64)
        return np.concatenate(logits_of(program, [text.ids for text in texts], self._written)).astype(np.float64)

    @cached_property
    def _written(self) -> list[list[int]]:
        """By the whole model, greedily."""
        whole = self._space.whole
        texts = self._texts_of(whole, self._few)
        return write_greedily(self._space.judged_program(whole), [text.ids for text in texts])

    def _texts_of(self, form: Form, rows: Rows) -> list[Text]:
        key = form.bound, form.tokens, rows is self._rows
        if key not in self._texts:
            spec = self._space.vocabulary(form.bound).checkpoint.tokenizer
            self._texts[key] = evaluate.encoded(self._space.program(form), spec, rows)
        return self._texts[key]
