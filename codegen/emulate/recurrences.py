# SPDX-License-Identifier: Apache-2.0
"""Ops that carry something from row to row of a text: the last rows of a convolution, a matrix of each head."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..ir import program as p
from .convolution import convolution
from .delta_rule import delta_rule
from .floats import F32Array
from .ops import EMULATE
from .state_space import state_space
from .values import Values

# State, rows and which they are of all to rows and state.
_OfText = Callable[[F32Array, F32Array, slice], tuple[F32Array, F32Array]]


@EMULATE.on(p.CausalConvolution)
def _causal_convolution(op: p.CausalConvolution, at: Values) -> None:
    weights = at.weights(op.weights, p.ConvolutionWeights)
    rows = at.floats(op.input)
    spans = [slice(i, i + 1) for i in range(len(rows))] if at.per_text else at.spans
    before: list[F32Array] = [np.zeros((op.before, op.input.width), np.float32)] * len(spans)
    if op.state is not None and at.place(op.state) in at.caches:
        before = at.kept_floats(op.state)
    found = [np.concatenate([first, rows[span]]) for first, span in zip(before, spans, strict=True)]
    if op.state is not None:
        at.caches[at.place(op.state)] = [of_text[-op.before :] for of_text in found]
    at.write(op.out, np.concatenate([convolution(of_text, weights) for of_text in found]))


@EMULATE.on(p.DeltaRule)
def _delta_rule(op: p.DeltaRule, at: Values) -> None:
    weights = at.weights(op.weights, p.DeltaWeights)
    decay, beta = at.floats(op.decay), at.floats(op.beta)

    def of_text(state: F32Array, rows: F32Array, span: slice) -> tuple[F32Array, F32Array]:
        return delta_rule(op, weights, state, rows, decay[span], beta[span])

    _carry(op, op.key_width, at, of_text)


@EMULATE.on(p.StateSpace)
def _state_space(op: p.StateSpace, at: Values) -> None:
    weights = at.weights(op.weights, p.StateSpaceWeights)
    time = at.floats(op.time)

    def of_text(state: F32Array, rows: F32Array, span: slice) -> tuple[F32Array, F32Array]:
        return state_space(op, weights, state, rows, time[span])

    _carry(op, op.state_width, at, of_text)


def _carry(op: p.DeltaRule | p.StateSpace, rows_of_state: int, at: Values, of_text: _OfText) -> None:
    """From text to text, or from step to step of each."""
    rows = at.floats(op.input)
    zeros = np.zeros((op.heads, rows_of_state, op.value_width), np.float32)
    spans = [slice(i, i + 1) for i in range(len(rows))] if at.per_text else at.spans
    states: list[F32Array] = [zeros] * len(spans)
    if op.state.rows == "sequences" and at.place(op.state) in at.caches:
        states = at.kept_floats(op.state)
    found = [of_text(state, rows[span], span) for state, span in zip(states, spans, strict=True)]
    at.caches[at.place(op.state)] = [state for _, state in found]
    at.write(op.out, np.concatenate([out for out, _ in found]))
