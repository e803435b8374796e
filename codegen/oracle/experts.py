# SPDX-License-Identifier: Apache-2.0
"""Mixtures of experts in float64, expert by expert."""

from __future__ import annotations

import numpy as np

from ..ir import graph as g
from ..ir.experts import ExpertLinear, ExpertWeighing
from .functions import FUNCTIONS, F64Array
from .state import INTERPRET, State


@INTERPRET.on(g.Experts)
def _experts(op: g.Experts, at: State) -> None:
    rows, scores = at.values[op.input], at.values[op.scores]
    of_all = _of_all(op.weighing, scores)
    order_by = scores if op.bias is None else of_all + at.weight(op.bias)
    chosen = np.argsort(-order_by, axis=-1, kind="stable")[:, : op.top]
    weights = np.take_along_axis(of_all, chosen, axis=-1)
    if op.weighing == "chosen":
        weights = _softmax(weights)
    if op.shares is not None:
        weights = weights / np.maximum(weights.sum(axis=-1, keepdims=True) + op.shares.added, op.shares.least)
    mixed = np.zeros((len(rows), op.linears[-1].weight.shape[0] // op.experts))
    for expert in range(op.experts):
        of_expert, place = np.nonzero(chosen == expert)
        if len(of_expert):
            mixed[of_expert] += weights[of_expert, place, None] * _block(op, rows[of_expert], expert, at)
    at.values[op.out] = mixed


def _of_all(weighing: ExpertWeighing, scores: F64Array) -> F64Array:
    """What weighs each of all experts, or before those that are chosen are known their scores."""
    return {"all": _softmax, "each": FUNCTIONS["sigmoid"], "chosen": lambda x: x}[weighing](scores)


def _softmax(scores: F64Array) -> F64Array:
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def _block(op: g.Experts, rows: F64Array, expert: int, at: State) -> F64Array:
    """What one expert makes of some rows."""

    def product(linear: ExpertLinear, x: F64Array) -> F64Array:
        y = x @ np.split(at.weight(linear.weight), op.experts)[expert].T
        return y if linear.bias is None else y + np.split(at.weight(linear.bias), op.experts)[expert]

    first, *up, last = op.linears
    if op.clamped is not None:
        gate, factor = product(first, rows), product(up[0], rows)
        alpha, limit = op.clamped.alpha, op.clamped.limit
        gate = np.minimum(gate, limit)
        return product(last, (np.clip(factor, -limit, limit) + 1) * gate * FUNCTIONS["sigmoid"](alpha * gate))
    inner = FUNCTIONS[op.activation](product(first, rows))
    for linear in up:
        inner = inner * product(linear, rows)
    return product(last, inner)
