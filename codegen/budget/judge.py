# SPDX-License-Identifier: Apache-2.0
"""How good a form is: its outputs beside the whole model's on a few rows, or its answers to all of them.

The emulator gives the bits of every board. A few hundred rows do not tell two forms apart by the number of right
answers, of which they share nearly all, but by how far they move the outputs; that is what `error` is for.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .. import evaluate
from ..emulate import Text
from ..evaluate import Rows
from ..golden import estimated_seconds
from ..vocabulary import Bound
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
        tokens = sum(len(text.ids) for text in self._texts_of(space.whole, rows)) / count
        screened = int(_SECONDS / estimated_seconds(program, max(1, round(tokens))))
        screened = min(count, max(_LEAST_ROWS, min(_MOST_ROWS, screened)))
        chosen = [i * count // screened for i in range(screened)]
        self._few = Rows(tuple(rows.rows[i] for i in chosen), rows.truths[chosen], rows.total)
        self.rows = screened  # that an error is computed on
        self.measure = program.task.measure.name  # what a score is
        self._exact: NDArray[np.float64] | None = None

    def error(self, form: Form) -> float:
        """Mean squared difference of the outputs from the whole model's."""
        if form not in self._errors:
            if self._exact is None:
                self._exact = self._outputs(self._space.whole, self._few)
            difference = self._outputs(form, self._few) - self._exact
            # fsum is exact, so that no machine ranks forms otherwise.
            self._errors[form] = math.fsum((difference * difference).ravel().tolist()) / difference.size
        return self._errors[form]

    def score(self, form: Form) -> evaluate.Score:
        """The task's measure on all rows."""
        if form not in self._scores:
            begin = time.monotonic()
            outputs = self._outputs(form, self._rows).astype(np.float32)
            task = self._space.program(form).task
            texts = self._texts_of(form, self._rows)
            scored = evaluate.scored(task, self._rows, texts, outputs, time.monotonic() - begin)
            self._scores[form] = replace(scored, value=round(scored.value, 9))
        return self._scores[form]

    def _outputs(self, form: Form, rows: Rows) -> NDArray[np.float64]:
        texts = self._texts_of(form, rows)
        return evaluate.emulated(self._space.judged_program(form), texts).astype(np.float64)

    def _texts_of(self, form: Form, rows: Rows) -> list[Text]:
        key = form.bound, form.tokens, rows is self._rows
        if key not in self._texts:
            spec = self._space.vocabulary(form.bound).checkpoint.tokenizer
            self._texts[key] = evaluate.encoded(self._space.program(form), spec, rows)
        return self._texts[key]
