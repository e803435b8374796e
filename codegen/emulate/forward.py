# SPDX-License-Identifier: Apache-2.0
"""Executes a program over texts. Blocks of rows, threads and batches do not change a bit, so all rows run at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..ir import program as p
from ..ir import walks
from ..ir.check_supported import check_phases
from ..ir.global_rows import GlobalRows, rows_of_text
from ..ir.op import at_layer
from ..ir.stage import Stage
from ..ir.text import Text
from .attention import Relative, attention, capped, split_heads
from .best import best
from .convolution import convolution
from .embedding import embedding_sum
from .experts import Routes, choose, expert_linear, mix
from .floats import F32Array, QuantizedRows, affine, layer_norm, quantize_rows, rms_norm
from .gru import gru
from .linear import linear
from .pooling import normalize, pool, softmax
from .word_weights import word_weights

Rows = F32Array | QuantizedRows | Routes
WeightsFor = Callable[[p.LinearWeights, Rows], p.LinearWeights]


def emulate(program: p.Program, ids: Sequence[int], segments: Sequence[int]) -> F32Array:
    """What the program computes for one text: logits, values or an embedding."""
    return emulate_texts(program, [Text(ids, segments)])[0]


def emulate_texts(
    program: p.Program, texts: Sequence[Text], weights_for: WeightsFor | None = None
) -> F32Array | list[F32Array]:
    """The same [texts, outputs], or [tokens, outputs] of each text where the task has a row per token: the same bits as
    text by text, in less time where texts are short.

    `weights_for` may exchange the weights of a linear when its inputs are known.
    """
    return emulate_outputs(program, texts, weights_for)[0]


def emulate_outputs(
    program: p.Program, texts: Sequence[Text], weights_for: WeightsFor | None = None
) -> list[F32Array | list[F32Array]]:
    """Of each output of the program [texts, width], or a list of [tokens, width] or [masks, width]."""
    check_phases(program, "emulate")
    forward = Forward(program, texts, weights_for)
    for step in program.steps:
        forward.step(step)
    return [forward.output(output) for output in program.outputs]


class _Value(NamedTuple):
    """What a buffer holds: one row per token of every text, or only one row per text."""

    rows: Rows
    per_text: bool


EMULATE: Stage[None] = Stage("emulate")


class Forward:
    """The values of some texts while a program runs."""

    def __init__(self, program: p.Program, texts: Sequence[Text], weights_for: WeightsFor | None = None) -> None:
        self.weights_for = weights_for
        ids = _joined([text.ids for text in texts], program.vocabulary)
        segments = _joined([text.segments for text in texts], program.segments)
        lengths = [len(text.ids) for text in texts]
        for text, length in zip(texts, lengths, strict=True):
            if not 1 <= length <= program.max_tokens or len(text.segments) != length:
                raise ValueError(f"{length} ids and {len(text.segments)} segments, at most {program.max_tokens} tokens")
        ends = np.cumsum(lengths)
        self._first_rows = ends - lengths
        self.spans = [slice(end - length, end) for end, length in zip(ends, lengths, strict=True)]
        self.keys = [text.keys for text in texts]  # that its rows attend to
        positions = np.concatenate([np.arange(length) for length in lengths])
        self.indices = {"ids": ids, "segments": segments, "positions": positions}
        # Keys and values, [heads, tokens, width] for each text, by name and the layer that they are kept for; of
        # states the last rows [rows, width].
        self.caches: dict[tuple[str, int], list[Rows]] = {}
        self._buffers: dict[str, _Value] = {}
        self.mask_spans: list[slice] = []  # of the rows of each text's masks
        self.layer = 0
        self.per_text = False  # only one row of each text is computed

    def fork(self) -> Forward:
        """The same values once more, to go on in another way: what is written here does not change there."""
        other = copy(self)
        other.caches, other._buffers = dict(self.caches), dict(self._buffers)
        return other

    def step(self, step: p.Step) -> None:
        """An op, or all that a step holds."""
        if isinstance(step, p.OPS):
            self.run((step,), 0, per_text=False)
        else:
            RUN(step, self)

    def run(self, ops: Sequence[p.Op], layer: int, per_text: bool) -> None:
        """Ops in layer `layer` of their loop, for all rows or for one of each text."""
        self.layer, self.per_text = layer, per_text
        for op in ops:
            EMULATE(at_layer(op, layer), self)

    def read(self, buffer: p.Buffer, per_text: bool | None = None) -> Rows:
        per_text = self.per_text if per_text is None else per_text
        value = self._buffers[buffer.name]
        if value.per_text and not per_text:
            raise ValueError(f"'{buffer.name}': only the first rows are up to date")
        return value.rows[self._first_rows] if per_text and not value.per_text else value.rows

    def rows_in(self, rows: GlobalRows | None, text: int) -> NDArray[np.int64]:
        """Which rows these are of a text, among those of all; None: every one."""
        span = slice(text, text + 1) if self.per_text else self.spans[text]
        of_text = np.arange(span.start, span.stop)
        return of_text if rows is None else of_text[rows_of_text(rows, self.indices["ids"][self.spans[text]])]

    def rows_of(self, rows: GlobalRows) -> NDArray[np.int64]:
        """The same of all texts."""
        return np.concatenate([self.rows_in(rows, text) for text in range(len(self.spans))])

    def place(self, cache: p.Buffer) -> tuple[str, int]:
        """Where keys or values are kept: those of a layer, or those that all layers have in turn."""
        return cache.name, self.layer if cache.layers > 1 else 0

    def output(self, output: p.Output) -> F32Array | list[F32Array]:
        """Of every text."""
        if output.task.rows == "text":
            return self.read(output.buffer, per_text=True)
        rows = self.read(output.buffer, per_text=False)
        return [rows[span] for span in (self.spans if output.task.rows == "tokens" else self.mask_spans)]

    def write(self, buffer: p.Buffer, rows: Rows) -> None:
        self._buffers[buffer.name] = _Value(rows, self.per_text)


RUN: Stage[None] = Stage("emulate")  # a step that holds others


@RUN.on(p.Loop)
def _loop(step: p.Loop, at: Forward) -> None:
    for layer in range(step.count):
        for blocks in step.body:
            at.run(blocks.body, layer, per_text=blocks.last_layer_first_row and layer == step.count - 1)


@RUN.on(p.Blocks)
def _blocks(step: p.Blocks, at: Forward) -> None:
    at.run(step.body, 0, per_text=False)


@RUN.on(p.Repeat)
def _repeat(step: p.Repeat, at: Forward) -> None:
    at.run(tuple(walks.ops_in(step)), 0, per_text=step.over == "texts")


@EMULATE.on(p.EmbeddingSum)
def _embedding_sum(op: p.EmbeddingSum, at: Forward) -> None:
    at.write(op.out, embedding_sum(op, at.layer, at.indices))


@EMULATE.on(p.EmbeddingMean)
def _embedding_mean(op: p.EmbeddingMean, at: Forward) -> None:
    rows = embedding_sum(op, at.layer, at.indices)
    at.write(op.out, np.concatenate([pool("mean", rows[span]) for span in at.spans]))


@EMULATE.on(p.Norm)
def _norm(op: p.Norm, at: Forward) -> None:
    w = op.weights.at(at.layer)
    assert isinstance(w, p.NormWeights)
    x = at.read(op.input)
    heads = x.reshape(*x.shape[:-1], op.heads, op.head_width)
    gamma, beta = (None if of is None else of.reshape(-1, op.head_width) for of in (w.gamma, w.beta))
    if op.kind == "affine":
        normed = affine(heads, gamma, beta)
    elif op.kind == "rms":
        normed = rms_norm(heads, gamma, w.epsilon, w.inverse_width)
    else:
        normed = layer_norm(heads, gamma, beta, w.epsilon, w.inverse_width)
    at.write(op.out, normed.reshape(x.shape))


@EMULATE.on(p.Quantize)
def _quantize(op: p.Quantize, at: Forward) -> None:
    at.write(op.out, quantize_rows(at.read(op.input)))


@EMULATE.on(p.Linear)
def _linear(op: p.Linear, at: Forward) -> None:
    residual = None if op.residual is None else at.read(op.residual)
    x = at.read(op.input)
    weights = op.weights.at(at.layer)
    assert isinstance(weights, p.LinearWeights)
    if at.weights_for is not None:
        weights = at.weights_for(weights, x if op.only is None else x[at.rows_of(op.only)])
    at.write(op.out, linear(x, weights, op.activation, residual))


@EMULATE.on(p.Multiply)
def _multiply(op: p.Multiply, at: Forward) -> None:
    at.write(op.out, at.read(op.a) * at.read(op.b))


@EMULATE.on(p.Add)
def _add(op: p.Add, at: Forward) -> None:
    at.write(op.out, at.read(op.a) + at.read(op.b))


@EMULATE.on(p.CausalConvolution)
def _causal_convolution(op: p.CausalConvolution, at: Forward) -> None:
    weights = op.weights.at(at.layer)
    assert isinstance(weights, p.ConvolutionWeights)
    rows = at.read(op.input)
    spans = [slice(i, i + 1) for i in range(len(rows))] if at.per_text else at.spans
    before: list[Rows] = [np.zeros((op.before, op.input.width), np.float32)] * len(spans)
    if op.state is not None:
        before = at.caches.get(at.place(op.state), before)
    found = [np.concatenate([first, rows[span]]) for first, span in zip(before, spans, strict=True)]
    if op.state is not None:
        at.caches[at.place(op.state)] = [of_text[-op.before :] for of_text in found]
    at.write(op.out, np.concatenate([convolution(of_text, weights) for of_text in found]))


@EMULATE.on(p.Rotary)
def _rotary(op: p.Rotary, at: Forward) -> None:
    assert isinstance(op.table, int)
    slots = op.cosines[op.table], op.sines[op.table]
    cosines, sines = (_floats(slot, at)[at.indices["positions"]][:, None] for slot in slots)
    rows = at.read(op.rows)
    heads = rows.reshape(len(rows), op.heads, -1).copy()
    half = cosines.shape[-1]
    first, second = heads[..., :half].copy(), heads[..., half : 2 * half].copy()
    if at.per_text:
        cosines, sines = cosines[:1], sines[:1]  # of position 0
    heads[..., :half] = first * cosines - second * sines
    heads[..., half : 2 * half] = second * cosines + first * sines
    at.write(op.rows, heads.reshape(rows.shape))


@EMULATE.on(p.PackKeys, p.PackKeyRows, p.PackValues)
def _pack(op: p.PackKeys | p.PackKeyRows | p.PackValues, at: Forward) -> None:
    heads = split_heads(at.read(op.input, per_text=False), op.shape.key_heads)
    packed = quantize_rows(heads) if op.out.kind == "s8" else heads
    place, rows = at.place(op.out), [packed[:, span] for span in at.spans]
    if op.out.rows == "steps" and place in at.caches:
        rows = [_joined_rows(*pair) for pair in zip(at.caches[place], rows, strict=True)]
    at.caches[place] = rows


def _joined_rows(first: Rows, second: Rows) -> Rows:
    if isinstance(first, QuantizedRows) and isinstance(second, QuantizedRows):
        pairs = (first.q, second.q), (first.scales, second.scales)
        return QuantizedRows(*(np.concatenate(pair, axis=1) for pair in pairs))
    assert isinstance(first, np.ndarray) and isinstance(second, np.ndarray)
    return np.concatenate([first, second], axis=1)


@EMULATE.on(p.Attention)
def _attention(op: p.Attention, at: Forward) -> None:
    query = at.read(op.query)
    bias = None if op.bias is None else _floats(op.bias, at)
    relative = _relative(op, at)
    found = np.zeros_like(query) if op.others is None else at.read(op.others).copy()
    caches = at.caches[at.place(op.keys)], at.caches[at.place(op.values)]
    for i, (keys, values) in enumerate(zip(*caches, strict=True)):
        rows = at.rows_in(op.only, i)
        if not len(rows):
            continue
        position = keys.shape[1] - len(rows) if op.keys.rows == "steps" else 0
        seen = rows_of_text(op.global_rows, at.indices["ids"][at.spans[i]])
        both = keys[:, : at.keys[i]], values[:, : at.keys[i]]
        found[rows] = attention(op, query[rows], *both, bias, relative, position, seen)
    at.write(op.context, found)


def _relative(op: p.Attention, at: Forward) -> Relative | None:
    if op.relative_rows is None:
        return None
    table = op.relative_rows.at(at.layer)
    assert isinstance(table, p.IndexTable)
    return Relative(_by_head(op.relative_keys, at), _by_head(op.relative_queries, at), table.values.astype(np.int64))


def _by_head(slot: p.WeightSlot | None, at: Forward) -> Rows | None:
    """[heads, rows, width]."""
    if slot is None:
        return None
    weights = slot.at(at.layer)
    assert isinstance(weights, p.RelativeWeights)
    matrix, shape = weights.matrix, weights.by_head
    if isinstance(matrix, p.F32Matrix):
        return matrix.values.reshape(shape)
    return QuantizedRows(matrix.q.reshape(shape), matrix.scales.reshape(shape[:2]))


@EMULATE.on(p.Gru)
def _gru(op: p.Gru, at: Forward) -> None:
    rows = at.read(op.input, per_text=False)
    directions = [slot.at(at.layer) for slot in op.weights]
    at.write(op.out, gru(rows, at.spans, directions))  # type: ignore[arg-type]


@EMULATE.on(p.ChooseExperts)
def _choose_experts(op: p.ChooseExperts, at: Forward) -> None:
    at.write(op.out, choose(at.read(op.scores), op.out.width, op.weighing))


@EMULATE.on(p.SelectRows)
def _select_rows(op: p.SelectRows, at: Forward) -> None:
    at.write(op.out, at.read(op.input)[_routes(op.routes, at).rows])


@EMULATE.on(p.ExpertLinear)
def _expert_linear(op: p.ExpertLinear, at: Forward) -> None:
    weights = op.weights.at(at.layer)
    assert isinstance(weights, p.LinearWeights)
    rows = at.read(op.input)
    at.write(op.out, expert_linear(rows, _routes(op.routes, at), weights, op.out.width, op.activation))


@EMULATE.on(p.MixExperts)
def _mix_experts(op: p.MixExperts, at: Forward) -> None:
    at.write(op.out, mix(at.read(op.input), _routes(op.routes, at)))


def _routes(buffer: p.Buffer, at: Forward) -> Routes:
    routes = at.read(buffer)
    assert isinstance(routes, Routes)
    return routes


@EMULATE.on(p.Pool)
def _pool(op: p.Pool, at: Forward) -> None:
    if op.kinds == ("first",):  # all that is up to date, where the last layer ran for the first rows only
        texts = [row[None] for row in at.read(op.input, per_text=True)]
    else:
        rows = at.read(op.input, per_text=False)
        texts = [rows[_up_to(op.end, span, at.indices["ids"])] for span in at.spans]
    at.write(op.out, np.concatenate([np.concatenate([pool(k, text) for k in op.kinds], axis=1) for text in texts]))


def _up_to(end: int | None, span: slice, ids: NDArray[np.int64]) -> slice:
    """Of a text's rows those up to the first token of an id."""
    found = np.flatnonzero(ids[span] == end)
    return slice(span.start, span.start + int(found[0]) + 1) if found.size else span


@EMULATE.on(p.Masked)
def _masked(op: p.Masked, at: Forward) -> None:
    masks = at.indices["ids"] == op.id
    ends = np.cumsum([np.count_nonzero(masks[span]) for span in at.spans]).tolist()
    at.mask_spans = [slice(begin, end) for begin, end in zip([0, *ends], ends, strict=False)]
    at.write(op.out, at.read(op.input)[masks])


@EMULATE.on(p.Best)
def _best(op: p.Best, at: Forward) -> None:
    weights = op.weights.at(at.layer)
    assert isinstance(weights, p.LinearWeights)
    at.write(op.out, best(linear(at.read(op.input), weights, "none", None), op.count))


@EMULATE.on(p.WordWeights)
def _word_weights(op: p.WordWeights, at: Forward) -> None:
    weights = op.weights.at(at.layer)
    assert isinstance(weights, p.LinearWeights)
    rows = at.read(op.input, per_text=False)
    texts = [word_weights(rows[span], weights, op.pooling, op.twice) for span in at.spans]
    at.write(op.out, np.concatenate(texts))


@EMULATE.on(p.Normalize)
def _normalize(op: p.Normalize, at: Forward) -> None:
    at.write(op.rows, normalize(at.read(op.rows)))


@EMULATE.on(p.Softmax)
def _softmax(op: p.Softmax, at: Forward) -> None:
    at.write(op.rows, softmax(at.read(op.rows)))


@EMULATE.on(p.Cap)
def _cap(op: p.Cap, at: Forward) -> None:
    at.write(op.rows, capped(at.read(op.rows), op.limit))


def _floats(slot: p.WeightSlot, at: Forward) -> F32Array:
    table = slot.at(at.layer)
    assert isinstance(table, p.FloatTable)
    return table.values


def _joined(lists: list[Sequence[int]], limit: int) -> NDArray[np.int64]:
    """One array of all; every entry in [0, limit)."""
    joined = np.concatenate([np.asarray(values, np.int64) for values in lists])
    if joined.size and (joined.min() < 0 or joined.max() >= limit):
        raise ValueError(f"ids or segments out of range: {joined.min()}..{joined.max()}, limit {limit}")
    return joined
