# SPDX-License-Identifier: Apache-2.0
"""Executes any graph in float64, op by op, as its docstrings say: what a program is compared with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..ir import graph as g
from ..ir.global_rows import rows_of_text
from ..ir.hashes import rows_of_ids
from ..ir.parameter import Array
from ..ir.search import Search
from . import experts, fourier_rows, row_groups, state_space  # noqa: F401 - their entries
from .beams import Written, search
from .delta_rule import delta_rule
from .functions import FUNCTIONS, F64Array
from .pooled_rows import pooled_scores
from .state import INTERPRET, State, split_heads


class Interpreter:
    """One graph; takes 8 bytes of memory per parameter that is not an embedding table."""

    def __init__(self, graph: g.Graph) -> None:
        self.graph = graph
        self._runs = {phase.kind: list(g.runs_of_phase(phase)) for phase in graph.phases}
        self._float64: dict[int, F64Array] = {}

    def output(self, ids: Sequence[int], segments: Sequence[int], keys: int | None = None) -> F64Array:
        """Logits, values or the embedding of the token ids and segments of one text, special tokens included; [tokens,
        outputs] where the task has a row per token, [masks, outputs] where it has one per mask. All attend to the first
        `keys` tokens, or to every one."""
        return self.outputs(ids, segments, keys)[0]

    def outputs(self, ids: Sequence[int], segments: Sequence[int], keys: int | None = None) -> list[F64Array]:
        """The same of each head."""
        state = self._run("once", {}, ids, segments, keys)
        values = ((head.task.rows, state.values[head.value]) for head in self.graph.heads)
        return [value[0] if rows == "text" else value for rows, value in values]

    def logits(self, ids: Sequence[int], segments: Sequence[int], written: Sequence[int]) -> F64Array:
        """[written + 1, vocabulary]: of a graph that generates, what each step computes where the target is `written`.

        All steps at once, from nothing but the ids: there is no cache that could be wrong.
        """
        return self._logits(self._once(ids, segments), ids, written)

    def generate(self, ids: Sequence[int], segments: Sequence[int], max_tokens: int | None = None) -> list[int]:
        """The target of one text, its end included where there is one: of each step the token with the largest logit,
        the lower one of equals."""
        rules = self._rules
        most = rules.max_tokens if max_tokens is None else max_tokens
        memory = self._once(ids, segments)
        begin = rules.read_first(ids)
        written: list[int] = []
        while len(written) < most and not rules.ended(written):
            forced = rules.forced_end and len(written) == most - 1
            written.append(
                rules.ends[0] if forced else rules.best(self._logits(memory, ids, written)[-1], begin, written)
            )
        return written

    def beams(self, ids: Sequence[int], segments: Sequence[int], settings: Search) -> list[Written]:
        """The same by beam search, the best first."""
        memory = self._once(ids, segments)
        begin = self._rules.read_first(ids)
        return search(lambda written: self._logits(memory, ids, written)[-1], begin, self._rules, settings)

    @property
    def _rules(self) -> g.TargetRules:
        if self.graph.target_rules is None:
            raise ValueError("the graph generates nothing")
        return self.graph.target_rules

    def _once(self, ids: Sequence[int], segments: Sequence[int]) -> dict[str, F64Array]:
        return self._run("once", {}, ids, segments).values if self.graph.body else {}

    def _logits(self, memory: dict[str, F64Array], ids: Sequence[int], written: Sequence[int]) -> F64Array:
        begin = self._rules.read_first(ids)
        read = [*begin, *written]
        state = self._run("repeat", memory, read, [0] * len(read))
        return state.values[self.graph.heads[0].value][len(begin) - 1 :]

    def _run(
        self,
        phase: Literal["once", "repeat"],
        values: dict[str, F64Array],
        ids: Sequence[int],
        segments: Sequence[int],
        keys: int | None = None,
    ) -> State:
        state = State(self.float64, ids, segments, keys)
        state.values |= values
        for op, layer in self._runs[phase]:
            state.layer = layer
            INTERPRET(op, state)
        return state

    def float64(self, array: Array) -> F64Array:
        """A weight in float64, converted once."""
        found = self._float64.get(id(array))
        if found is None:
            found = self._float64[id(array)] = array.values.astype(np.float64)
        return found


@INTERPRET.on(g.Embed)
def _embed(op: g.Embed, at: State) -> None:
    # Tables are read where they are looked up, for they are large.
    at.values[op.out] = sum(_entries(term, at) for term in op.terms)  # type: ignore[assignment]


def _entries(term: g.Term, at: State) -> F64Array:
    """Of one table."""
    if term.hashes is not None:
        rows = rows_of_ids(at.indices["ids"], term.hashes, term.table.shape[0] // term.hashes)
        return term.table.at(0).values[rows].astype(np.float64).reshape(len(rows), -1)
    index = list(at.indices[term.by] + term.first)
    if term.shift > 0:
        index = index[term.shift :] + [term.outside] * min(term.shift, len(index))
    elif term.shift < 0:
        index = [term.outside] * min(-term.shift, len(index)) + index[: term.shift]
    table = term.table.at(0).values
    found: F64Array = table[[i or 0 for i in index]].astype(np.float64) * (1.0 if term.factor is None else term.factor)
    found[[i is None for i in index]] = 0
    if term.dropped is not None:
        left = at.indices["ids"] != term.dropped
        found *= np.where(left, len(left) / max(left.sum(), 1), 0)[:, None]
    return found


@INTERPRET.on(g.Norm)
def _norm(op: g.Norm, at: State) -> None:
    rows = at.values[op.input]
    x = rows.reshape(*rows.shape[:-1], op.heads, rows.shape[-1] // op.heads)
    if op.kind == "layer":
        x = x - x.mean(axis=-1, keepdims=True)
    if op.kind != "affine":
        x = x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + op.epsilon)
    # [heads that have weights of their own, width of a head]
    x = x * at.weight(op.gamma).reshape(-1, x.shape[-1])
    if op.beta is not None:
        x = x + at.weight(op.beta).reshape(-1, x.shape[-1])
    at.values[op.out] = x.reshape(rows.shape)


@INTERPRET.on(g.Linear)
def _linear(op: g.Linear, at: State) -> None:
    y = at.values[op.input] @ at.weight(op.weight).T
    y = FUNCTIONS[op.activation](y if op.bias is None else y + at.weight(op.bias))
    at.values[op.out] = y if op.residual is None else y + at.values[op.residual]


@INTERPRET.on(g.Multiply)
def _multiply(op: g.Multiply, at: State) -> None:
    at.values[op.out] = at.values[op.a] * at.values[op.b]


@INTERPRET.on(g.Add)
def _add(op: g.Add, at: State) -> None:
    at.values[op.out] = at.values[op.a] + at.values[op.b]


@INTERPRET.on(g.Xielu)
def _xielu(op: g.Xielu, at: State) -> None:
    x = at.values[op.value]
    square, power, most, linear = at.weight(op.numbers)
    below = power * (np.expm1(np.minimum(x, most)) - x)
    at.values[op.value] = np.where(x > 0, square * x**2, below) + linear * x


@INTERPRET.on(g.CausalConvolution)
def _causal_convolution(op: g.CausalConvolution, at: State) -> None:
    taps = op.weight.shape[1]
    padded = np.pad(at.values[op.input], ((taps - 1, 0), (0, 0)))
    at.values[op.out] = _convolved(op, padded, at)


@INTERPRET.on(g.DeltaRule)
def _delta_rule(op: g.DeltaRule, at: State) -> None:
    at.values[op.out] = delta_rule(op, at.weight(op.rates), *(at.values[of] for of in (op.input, op.decay, op.beta)))


@INTERPRET.on(g.CenteredConvolution)
def _centered_convolution(op: g.CenteredConvolution, at: State) -> None:
    half = op.weight.shape[1] // 2
    at.values[op.out] = _convolved(op, np.pad(at.values[op.input], ((half, half), (0, 0))), at)


def _convolved(op: g.CausalConvolution | g.CenteredConvolution, padded: F64Array, at: State) -> F64Array:
    """`padded` has the rows that the first one takes from before it, and the last one behind it."""
    weight = at.weight(op.weight)
    count = len(padded) - (weight.shape[1] - 1)
    y = np.sum([padded[i : i + count] * weight[:, i] for i in range(weight.shape[1])], axis=0)
    return y if op.bias is None else y + at.weight(op.bias)


@INTERPRET.on(g.DynamicConvolution)
def _dynamic_convolution(op: g.DynamicConvolution, at: State) -> None:
    rows = at.values[op.input]
    taps = at.values[op.taps].reshape(len(rows), op.heads, -1)
    half = taps.shape[2] // 2
    # [heads, width of a head, tokens, taps]
    around = np.lib.stride_tricks.sliding_window_view(np.pad(rows, ((half, half), (0, 0))), 2 * half + 1, axis=0)
    by_head = around.reshape(len(rows), op.heads, -1, 2 * half + 1)
    at.values[op.out] = np.einsum("thwi,thi->thw", by_head, taps).reshape(rows.shape)


@INTERPRET.on(g.Rotary)
def _rotary(op: g.Rotary, at: State) -> None:
    rows = at.values[op.value]
    assert isinstance(op.table, int)
    cosines, sines = (at.weight(tables[op.table])[: len(rows), None] for tables in (op.cosines, op.sines))
    heads = rows.reshape(len(rows), op.heads, -1)
    half = cosines.shape[-1]
    first, second, rest = heads[..., :half], heads[..., half : 2 * half], heads[..., 2 * half :]
    turned = (first * cosines - second * sines, second * cosines + first * sines, rest)
    at.values[op.value] = np.concatenate(turned, axis=-1).reshape(rows.shape)


@INTERPRET.on(g.Attention)
def _attention(op: g.Attention, at: State) -> None:
    query = split_heads(at.values[op.query], op.heads)
    key_heads = op.key_heads or op.heads
    key, value = (
        np.repeat(split_heads(at.values[name][: at.keys], key_heads), op.heads // key_heads, axis=0)
        for name in (op.key, op.value)
    )
    scale = 1 / math.sqrt(query.shape[-1]) if op.scale is None else op.scale
    assert not isinstance(op.window, g.ByLayer)
    scores = query @ key.swapaxes(1, 2)
    distance = np.arange(key.shape[1])[None, :] - np.arange(query.shape[1])[:, None]
    scores = (scores + _relative(op, at, query, key, distance)) * scale
    if op.pooled is not None:
        scores = scores + pooled_scores(op, op.pooled, at, query, key.shape[1], scale)
    if op.cap is not None:
        scores = op.cap * np.tanh(scores / op.cap)
    if op.bias is not None and op.pooled is None:
        bias = at.weight(op.bias)
        scores = scores + bias[:, distance + bias.shape[1] // 2]
    if op.mask in ("causal", "past"):
        scores = np.where(distance <= 0, scores, -np.inf)
    if op.mask == "blocks" and op.window is not None:
        block = np.arange(key.shape[1]) // op.window
        scores = np.where(block[: query.shape[1], None] == block, scores, -np.inf)
    elif op.window is not None:
        near = np.abs(distance) <= op.window
        near[:, rows_of_text(op.global_rows, at.indices["ids"])] = True
        scores = np.where(near, scores, -np.inf)
    if op.sinks is not None:  # as the score of a key before all others, which has no value
        sinks = np.broadcast_to(at.weight(op.sinks)[:, None, None], (*scores.shape[:2], 1))
        scores = np.concatenate([sinks, scores], axis=-1)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    weights = weights if op.sinks is None else weights[..., 1:]
    mixed = (weights @ value).swapaxes(0, 1).reshape(query.shape[1], -1)
    if op.only is not None and op.others is not None:
        only, computed = rows_of_text(op.only, at.indices["ids"]), mixed
        mixed = at.values[op.others].copy()
        mixed[only] = computed[only]
    at.values[op.out] = mixed


def _relative(op: g.Attention, at: State, query: F64Array, key: F64Array, distance: NDArray[np.int64]) -> F64Array:
    """Of each query and key the products with relative keys and queries [heads, queries, keys]."""
    found: F64Array = np.zeros((1, 1, 1))
    rows = np.array(op.relative_rows)[distance + len(op.relative_rows) // 2] if op.relative_rows else distance
    if op.relative_keys is not None and op.pooled is None:
        products = query @ split_heads(at.weight(op.relative_keys), op.heads).swapaxes(1, 2)
        found = found + np.stack([products[:, i, row] for i, row in enumerate(rows)], axis=1)
    if op.relative_queries is not None:
        products = key @ split_heads(at.weight(op.relative_queries), op.heads).swapaxes(1, 2)
        found = found + np.stack([products[:, j, row] for j, row in enumerate(rows.T)], axis=2)
    return found


@INTERPRET.on(g.Gru)
def _gru(op: g.Gru, at: State) -> None:
    rows = at.values[op.input]
    found = []
    for index, direction in enumerate(op.directions):
        of_input = np.split(rows, len(op.directions), axis=1)[index]
        states = _states(of_input[::-1] if index else of_input, direction, at)
        found.append(states[::-1] if index else states)
    at.values[op.out] = np.concatenate(found, axis=1)


def _states(rows: F64Array, direction: g.Recurrence, at: State) -> F64Array:
    """One after the other."""
    weight = at.weight(direction.weight)
    states: list[F64Array] = []
    h: F64Array = np.zeros(weight.shape[1])
    for row in rows:
        b = weight @ h
        if direction.bias is not None:
            b = b + at.weight(direction.bias)
        (a_r, a_z, a_n), (b_r, b_z, b_n) = np.split(row, 3), np.split(b, 3)
        r, z = FUNCTIONS["sigmoid"](a_r + b_r), FUNCTIONS["sigmoid"](a_z + b_z)
        h = (1 - z) * FUNCTIONS["tanh"](a_n + r * b_n) + z * h
        states.append(h)
    return np.array(states)


@INTERPRET.on(g.Pool)
def _pool(op: g.Pool, at: State) -> None:
    x = at.values[op.input]
    if op.end is not None and op.end in at.indices["ids"]:
        x = x[: int(np.argmax(at.indices["ids"] == op.end)) + 1]
    rows = {
        "first": lambda: x[0],
        "last": lambda: x[-1],
        "mean": lambda: x.mean(axis=0),
        "max": lambda: x.max(axis=0),
        "mean_sqrt": lambda: x.sum(axis=0) / math.sqrt(len(x)),
        "weighted_mean": lambda: np.average(x, axis=0, weights=np.arange(1, len(x) + 1)),
        "ends": lambda: np.concatenate([x[-1, : x.shape[1] // 2], x[0, x.shape[1] // 2 :]]),
    }
    at.values[op.out] = np.concatenate([rows[kind]() for kind in (op.kind, *op.beside)])[None, : op.columns]


@INTERPRET.on(g.Masked)
def _masked(op: g.Masked, at: State) -> None:
    at.values[op.out] = at.values[op.input][at.indices["ids"] == op.id]


@INTERPRET.on(g.Best)
def _best(op: g.Best, at: State) -> None:
    logits = at.values[op.input] @ at.weight(op.weight).T
    logits = logits if op.bias is None else logits + at.weight(op.bias)
    order = np.argsort(-logits, axis=-1, kind="stable")[:, : op.count]
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    probabilities = np.take_along_axis(weights, order, axis=-1) / weights.sum(axis=-1, keepdims=True)
    at.values[op.out] = np.concatenate([order, probabilities], axis=-1)


@INTERPRET.on(g.WordWeights)
def _word_weights(op: g.WordWeights, at: State) -> None:
    logits = at.values[op.input] @ at.weight(op.weight).T
    weights = np.log1p(np.maximum(logits if op.bias is None else logits + at.weight(op.bias), 0))
    weights = np.log1p(weights) if op.twice else weights
    at.values[op.out] = (weights.max(axis=0) if op.pooling == "max" else weights.sum(axis=0))[None]


@INTERPRET.on(g.Normalize)
def _normalize(op: g.Normalize, at: State) -> None:
    x = at.values[op.value]
    at.values[op.value] = x / np.maximum(np.sqrt((x**2).sum(axis=-1, keepdims=True)), 1e-12)


@INTERPRET.on(g.Cap)
def _cap(op: g.Cap, at: State) -> None:
    at.values[op.value] = op.limit * np.tanh(at.values[op.value] / op.limit)


@INTERPRET.on(g.Softmax)
def _softmax(op: g.Softmax, at: State) -> None:
    rows = at.values[op.value]
    x = rows.reshape(-1, rows.shape[-1] // op.heads)
    weights = np.exp(x - x.max(axis=-1, keepdims=True))
    at.values[op.value] = (weights / weights.sum(axis=-1, keepdims=True)).reshape(rows.shape)
