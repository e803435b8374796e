# SPDX-License-Identifier: Apache-2.0
"""Refuses weights that could drive an activation past 2^50, where float32 sums of squares would overflow.

Interval analysis over the graph: for every value an upper bound of |x| that holds for any text. A norm resets the
bound, because |(x - mean) / deviation| <= sqrt(width), and as much for the root of the mean square; one that divides
nothing keeps its rows within 2^32 by definition, a state space within 2^24; an attention output is a weighted mean of
values; every activation function here satisfies |f(x)| <= max(|x|, 1); a sum of n rows / sqrt(n) is at most sqrt(n)
times a row; a pair of values that is turned grows by the largest |cosine| + |sine| of its tables, which is sqrt(2)
unless they are scaled or are a checkpoint's own; of a text whose tokens are dropped, all but one, that one grows by the
number of tokens.
"""

from __future__ import annotations

import math

import numpy as np

from ..errors import EtchError
from ..ir import graph as g
from ..ir.parameter import Array
from ..ir.products import Product
from ..ir.stage import Stage
from ..ir.state_space import OUTPUT_LIMIT

LIMIT = 2.0**50
_MOST_IN_SUMS = 2.0**120  # of a state space

BOUND: Stage[None] = Stage("quantize")


class _Bounds:
    """Of the values so far."""

    def __init__(self, graph: g.Graph) -> None:
        self.max_tokens = graph.max_tokens
        self.steps = graph.max_tokens if graph.target_rules is None else graph.target_rules.steps(graph.max_tokens)
        self.widths = graph.widths
        self.layer = 0
        self._of: dict[str, float] = {}
        self._growths: dict[tuple[int, int], float] = {}  # by the tables' places in memory

    def __getitem__(self, value: str) -> float:
        return self._of[value]

    def set(self, value: str, bound: float, tensor: Array | None, limit: float = LIMIT) -> None:
        if bound > limit:
            raise EtchError(
                "activation-bound",
                "quantize",
                f"'{value}' could reach {bound:.3g} in magnitude, the limit is 2^{math.log2(limit):g}",
                file=None if tensor is None else tensor.file,
                tensor=None if tensor is None else tensor.name,
            )
        self._of[value] = bound

    def growth(self, cosines: Array, sines: Array) -> float:
        """By how much what these tables turn grows at most; layers that share them ask once."""
        tables = id(cosines), id(sines)
        if tables not in self._growths:
            sums = np.abs(cosines.values).astype(np.float64) + np.abs(sines.values)
            self._growths[tables] = max(float(sums.max()), 1.0)  # of values that no pair has: 1
        return self._growths[tables]


def check_bounds(graph: g.Graph) -> None:
    """Raises EtchError where the bound of some value exceeds 2^50."""
    bounds = _Bounds(graph)
    for op, layer in g.runs_of(graph):
        bounds.layer = layer
        BOUND(op, bounds)


@BOUND.on(g.Embed)
def _embed(op: g.Embed, bounds: _Bounds) -> None:
    bounds.set(op.out, sum(_of_term(term, bounds.max_tokens) for term in op.terms), op.terms[0].table.arrays[0])


def _of_term(term: g.Term, max_tokens: int) -> float:
    growth = abs(1.0 if term.factor is None else term.factor) * (1 if term.dropped is None else max_tokens)
    return _largest(term.table.arrays[0]) * growth


@BOUND.on(g.Norm)
def _norm(op: g.Norm, bounds: _Bounds) -> None:
    gamma = op.gamma.at(bounds.layer)
    if op.kind == "affine":
        assert op.beta is not None
        bounds.set(op.out, bounds[op.input] * _largest(gamma) + _largest(op.beta.at(bounds.layer)), gamma)
        bounds.set(op.out, min(bounds[op.out], g.AFFINE_LIMIT), gamma)
        return
    # A quotient that rounding may push past sqrt(width) by a little stays far below the slack in LIMIT.
    bound = math.sqrt(bounds.widths[op.input] // op.heads) * _largest(gamma)
    if op.beta is not None:
        bound += _largest(op.beta.at(bounds.layer))
    bounds.set(op.out, bound, gamma)


@BOUND.on(g.Linear)
def _linear(op: g.Linear, bounds: _Bounds) -> None:
    weight = op.weight.at(bounds.layer)
    bound = max(_product(op, bounds), 1.0)
    if op.residual is not None:
        bound += bounds[op.residual]
    bounds.set(op.out, bound, weight)


@BOUND.on(g.Multiply)
def _multiply(op: g.Multiply, bounds: _Bounds) -> None:
    bounds.set(op.out, bounds[op.a] * bounds[op.b], None)


@BOUND.on(g.Add)
def _add(op: g.Add, bounds: _Bounds) -> None:
    bounds.set(op.out, bounds[op.a] + bounds[op.b], None)


@BOUND.on(g.Xielu)
def _xielu(op: g.Xielu, bounds: _Bounds) -> None:
    numbers = op.numbers.at(bounds.layer)
    square, power, most, linear = (abs(float(number)) for number in numbers.values)
    x = bounds[op.value]
    bounds.set(op.value, max(square * x * x, power * (x + most)) + linear * x, numbers)


@BOUND.on(g.CausalConvolution, g.CenteredConvolution)
def _convolution(op: g.CausalConvolution | g.CenteredConvolution, bounds: _Bounds) -> None:
    weight = op.weight.at(bounds.layer)
    bound = bounds[op.input] * _largest_row_sum(weight)
    bounds.set(op.out, bound if op.bias is None else bound + _largest(op.bias.at(bounds.layer)), weight)


@BOUND.on(g.DeltaRule)
def _delta_rule(op: g.DeltaRule, bounds: _Bounds) -> None:
    """A row adds at most its values times beta to the columns of a state, as keys are no longer than 1; nor are
    queries. Beta is a sigmoid, or twice one: up to 2 what it takes away makes no column longer."""
    rates = op.rates.at(bounds.layer)
    bounds.set(op.rates.name, math.log2(math.e) * _largest(rates), rates)  # as powers of 2
    bounds.set(op.out, 2 * bounds.steps * bounds[op.input], rates)


@BOUND.on(g.StateSpace)
def _state_space(op: g.StateSpace, bounds: _Bounds) -> None:
    """Of n steps d each adds at most d * x^2 to a state, of which exp(-rate * d) is left by the next one: at most
    d / (1 - exp(-rate * d)) <= d + 1 / rate remains of all of them together. Sums only have to stay below what float32
    holds, for what comes out of them is kept within a limit."""
    rates, skips = op.rates.at(bounds.layer), op.skips.at(bounds.layer)
    bounds.set(op.rates.name, math.log2(math.e) * _largest(rates), rates)  # as powers of 2
    x, least = bounds[op.input], float(np.abs(rates.values).min())
    time = max(min(bounds[op.time] + 1, op.times[1]), op.times[0])
    held = min(bounds.steps * time, time + (1 / least if least else math.inf))
    state = held * x * x
    sums = op.state_width * x * state + _largest(skips) * x
    bounds.set(op.out, max(state, sums), rates, _MOST_IN_SUMS)
    bounds.set(op.out, min(sums, OUTPUT_LIMIT), rates)


@BOUND.on(g.FourierRows)
def _fourier_rows(op: g.FourierRows, bounds: _Bounds) -> None:
    bounds.set(op.out, 2 * bounds.max_tokens * bounds[op.input], None)


@BOUND.on(g.DynamicConvolution)
def _dynamic_convolution(op: g.DynamicConvolution, bounds: _Bounds) -> None:
    taps = bounds.widths[op.taps] // op.heads
    bounds.set(op.out, taps * bounds[op.taps] * bounds[op.input], None)


@BOUND.on(g.Rotary)
def _rotary(op: g.Rotary, bounds: _Bounds) -> None:
    assert isinstance(op.table, int)  # that of the layer
    cosines, sines = op.cosines[op.table].at(bounds.layer), op.sines[op.table].at(bounds.layer)
    bounds.set(op.value, bounds.growth(cosines, sines) * bounds[op.value], cosines)


@BOUND.on(g.Attention)
def _attention(op: g.Attention, bounds: _Bounds) -> None:
    bounds.set(op.out, max(bounds[value] for value in (op.value, op.others) if value is not None), None)
    if op.bias is not None:  # of scores, as powers of 2
        bias = op.bias.at(bounds.layer)
        bounds.set(op.bias.name, math.log2(math.e) * _largest(bias), bias)
    if op.sinks is not None:
        sinks = op.sinks.at(bounds.layer)
        bounds.set(op.sinks.name, math.log2(math.e) * _largest(sinks), sinks)


@BOUND.on(g.PoolRows)
def _pooled_rows(op: g.PoolRows, bounds: _Bounds) -> None:
    """A mean of two, or one of them."""


@BOUND.on(g.Upsample)
def _upsample(op: g.Upsample, bounds: _Bounds) -> None:
    bounds.set(op.value, bounds[op.value] + bounds[op.input], None)


@BOUND.on(g.GroupRows)
def _grouped(op: g.GroupRows, bounds: _Bounds) -> None:
    bounds.set(op.out, bounds[op.input], None)


@BOUND.on(g.FirstRow)
def _first_row(op: g.FirstRow, bounds: _Bounds) -> None:
    bounds.set(op.value, max(bounds[op.input], bounds[op.value]), None)


@BOUND.on(g.SpreadRows)
def _spread(op: g.SpreadRows, bounds: _Bounds) -> None:
    bounds.set(op.out, max(bounds[op.input], bounds[op.groups]), None)


@BOUND.on(g.Copy, g.RowOfToken)
def _copy(op: g.Copy | g.RowOfToken, bounds: _Bounds) -> None:
    bounds.set(op.out, bounds[op.input], None)


@BOUND.on(g.Gru)
def _gru(op: g.Gru, bounds: _Bounds) -> None:
    for direction in op.directions:  # of rows within -1 and 1
        weight, bias = direction.weight.at(bounds.layer), direction.bias
        product = _largest_row_sum(weight) + (0.0 if bias is None else _largest(bias.at(bounds.layer)))
        bounds.set(op.out, bounds[op.input] + product, weight)
    bounds.set(op.out, 1.0, None)


@BOUND.on(g.Experts)
def _experts(op: g.Experts, bounds: _Bounds) -> None:
    *widening, narrowing = op.linears
    inner = 1.0
    for linear in widening:
        weight = linear.weight.at(bounds.layer)
        bounds.set(op.out, max(_of_rows(linear, bounds[op.input], bounds), 1.0) * inner, weight)
        inner = bounds[op.out] if op.clamped is None else 1.0
    if op.clamped is not None:  # far below 0 the sigmoid makes a gate small
        inner = (op.clamped.limit + 1) * max(op.clamped.limit, 1 / op.clamped.alpha)
    if op.bias is not None:
        bias = op.bias.at(bounds.layer)
        bounds.set(op.bias.name, 1 + _largest(bias), bias)
    most = op.top if op.weighing == "each" and op.shares is None else 1  # what weights add up to
    bounds.set(op.out, most * _of_rows(narrowing, inner, bounds), narrowing.weight.at(bounds.layer))


@BOUND.on(g.Masked)
def _masked(op: g.Masked, bounds: _Bounds) -> None:
    bounds.set(op.out, bounds[op.input], None)


@BOUND.on(g.Best)
def _best(op: g.Best, bounds: _Bounds) -> None:
    bounds.set(op.out, _product(op, bounds), op.weight.at(bounds.layer))


@BOUND.on(g.WordWeights)
def _word_weights(op: g.WordWeights, bounds: _Bounds) -> None:
    weight = op.weight.at(bounds.layer)
    bounds.set(op.out, _product(op, bounds), weight)  # of the logits
    bounds.set(op.out, math.log1p(bounds[op.out]) * (bounds.max_tokens if op.pooling == "sum" else 1), weight)


@BOUND.on(g.Pool)
def _pool(op: g.Pool, bounds: _Bounds) -> None:
    growth = math.sqrt(bounds.max_tokens) if "mean_sqrt" in (op.kind, *op.beside) else 1.0
    bounds.set(op.out, growth * bounds[op.input], None)


@BOUND.on(g.Normalize, g.Softmax)
def _at_most_1(op: g.Normalize | g.Softmax, bounds: _Bounds) -> None:
    bounds.set(op.value, 1.0, None)


@BOUND.on(g.Cap)
def _cap(op: g.Cap, bounds: _Bounds) -> None:
    bounds.set(op.value, op.limit, None)


def _product(op: g.Linear | g.Best | g.WordWeights, bounds: _Bounds) -> float:
    """Of input W^T + b."""
    return _of_rows(op, bounds[op.input], bounds)


def _of_rows(op: Product, largest: float, bounds: _Bounds) -> float:
    """The same of rows of values up to `largest`."""
    bound = largest * _largest_row_sum(op.weight.at(bounds.layer))
    return bound if op.bias is None else bound + _largest(op.bias.at(bounds.layer))


def _largest(array: Array) -> float:
    return float(np.abs(array.values).max())


def _largest_row_sum(weight: Array) -> float:
    # A bound, not a bit: any summation order will do.
    return max(float(np.abs(row).sum(dtype=np.float64)) for row in weight.values)
