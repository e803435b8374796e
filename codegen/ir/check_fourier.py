# SPDX-License-Identifier: Apache-2.0
"""Whether a transform over the rows of a text is sound."""

from __future__ import annotations

from . import graph as g
from .check_state import CHECK, Check, check_tokens
from .fourier_rows import waves_of
from .unsound import unsound


@CHECK.on(g.FourierRows)
def _fourier_rows(op: g.FourierRows, check: Check) -> None:
    check_tokens(op.input, check)
    check.same(f"width of '{op.out}'", check.width(op.out), op.width)
    check.same(f"width of '{op.input}'", check.width(op.input), waves_of(op.width))
    if op.out == op.input:
        raise unsound(f"a transform reads and writes '{op.out}'")
    check.out(op.out, "tokens")
