# SPDX-License-Identifier: Apache-2.0
"""Each op of a program over all rows of some texts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..ir import program as p
from ..ir.global_rows import rows_of_text
from ..ir.row_pooling import PooledScores
from ..ir.stage import Stage
from .activations import clamped_gate, xielu
from .attention import Pooled, Relative, attention, capped, split_heads
from .best import best
from .convolution import centered, dynamic
from .embedding import embedding_sum
from .experts import choose, expert_linear, mix
from .floats import F32Array, QuantizedRows, affine, layer_norm, quantize_rows, rms_norm
from .fourier import fourier_rows
from .gru import gru
from .linear import linear
from .pooled_rows import of_pooled_rows, upsampled
from .pooling import normalize, pool, softmax
from .row_groups import grouped, spread
from .values import Rows, Values
from .word_weights import word_weights

EMULATE: Stage[None] = Stage("emulate")


@EMULATE.on(p.EmbeddingSum)
def _embedding_sum(op: p.EmbeddingSum, at: Values) -> None:
    at.write(op.out, embedding_sum(op, at.layer, at.indices))


@EMULATE.on(p.EmbeddingMean)
def _embedding_mean(op: p.EmbeddingMean, at: Values) -> None:
    rows = embedding_sum(op, at.layer, at.indices)
    at.write(op.out, np.concatenate([pool("mean", rows[span]) for span in at.spans]))


@EMULATE.on(p.Norm)
def _norm(op: p.Norm, at: Values) -> None:
    w = at.weights(op.weights, p.NormWeights)
    x = at.floats(op.input)
    heads = x.reshape(*x.shape[:-1], op.heads, op.head_width)
    gamma = w.gamma.reshape(-1, op.head_width)
    beta = np.zeros_like(gamma) if w.beta is None else w.beta.reshape(-1, op.head_width)
    if w.epsilon is None or w.inverse_width is None:
        normed = affine(heads, gamma, beta)
    elif op.kind == "rms":
        normed = rms_norm(heads, gamma, w.epsilon, w.inverse_width)
    else:
        normed = layer_norm(heads, gamma, beta, w.epsilon, w.inverse_width)
    at.write(op.out, normed.reshape(x.shape))


@EMULATE.on(p.Quantize)
def _quantize(op: p.Quantize, at: Values) -> None:
    at.write(op.out, quantize_rows(at.floats(op.input)))


@EMULATE.on(p.Linear)
def _linear(op: p.Linear, at: Values) -> None:
    residual = None if op.residual is None else at.floats(op.residual)
    x = at.read(op.input)
    weights = at.weights(op.weights, p.LinearWeights)
    if at.weights_for is not None:
        weights = at.weights_for(weights, x if op.only is None else x[at.rows_of(op.only)])
    at.write(op.out, linear(x, weights, op.activation, residual))


@EMULATE.on(p.Multiply)
def _multiply(op: p.Multiply, at: Values) -> None:
    a, b = at.floats(op.a), at.floats(op.b)
    at.write(op.out, a * b if op.clamped is None else clamped_gate(a, b, op.clamped))


@EMULATE.on(p.Add)
def _add(op: p.Add, at: Values) -> None:
    at.write(op.out, at.floats(op.a) + at.floats(op.b))


@EMULATE.on(p.Xielu)
def _xielu(op: p.Xielu, at: Values) -> None:
    weights = at.weights(op.weights, p.XieluWeights)
    at.write(op.rows, xielu(at.floats(op.rows), weights))


@EMULATE.on(p.PackRows)
def _pack_rows(op: p.PackRows, at: Values) -> None:
    rows = at.floats(op.input, per_text=False)
    at.caches[at.place(op.out)] = [rows[span] for span in at.spans]


@EMULATE.on(p.CenteredConvolution)
def _centered_convolution(op: p.CenteredConvolution, at: Values) -> None:
    weights = at.weights(op.weights, p.ConvolutionWeights)
    texts = (centered(rows, weights) for rows in at.kept_floats(op.input))
    at.write(op.out, np.concatenate([rows[:1] if at.per_text else rows for rows in texts]))


@EMULATE.on(p.DynamicConvolution)
def _dynamic_convolution(op: p.DynamicConvolution, at: Values) -> None:
    taps, texts = at.floats(op.taps), at.kept_floats(op.input)
    found = [dynamic(rows, taps[at.rows_in(None, i)], op.heads) for i, rows in enumerate(texts)]
    at.write(op.out, np.concatenate(found))


@EMULATE.on(p.FourierRows)
def _fourier_rows(op: p.FourierRows, at: Values) -> None:
    texts = (fourier_rows(rows, op.out.width, first=at.per_text) for rows in at.kept_floats(op.input))
    at.write(op.out, np.concatenate(list(texts)))


@EMULATE.on(p.Rotary)
def _rotary(op: p.Rotary, at: Values) -> None:
    assert isinstance(op.table, int)
    slots = op.cosines[op.table], op.sines[op.table]
    cosines, sines = (_floats(slot, at)[at.indices["positions"]][:, None] for slot in slots)
    rows = at.floats(op.rows)
    heads = rows.reshape(len(rows), op.heads, -1).copy()
    half = cosines.shape[-1]
    first, second = heads[..., :half].copy(), heads[..., half : 2 * half].copy()
    if at.per_text:
        cosines, sines = cosines[:1], sines[:1]  # of position 0
    heads[..., :half] = first * cosines - second * sines
    heads[..., half : 2 * half] = second * cosines + first * sines
    at.write(op.rows, heads.reshape(rows.shape))


@EMULATE.on(p.PackKeys, p.PackKeyRows, p.PackValues)
def _pack(op: p.PackKeys | p.PackKeyRows | p.PackValues, at: Values) -> None:
    heads = split_heads(at.floats(op.input, per_text=False), op.shape.key_heads)
    packed = quantize_rows(heads) if op.out.kind == "s8" else heads
    place = at.place(op.out)
    rows: list[Rows] = [packed[:, span] for span in at.spans]
    if op.out.rows == "steps" and place in at.caches:
        rows = [_joined_rows(*pair) for pair in zip(at.caches[place], rows, strict=True)]
    at.caches[place] = rows


def _joined_rows(first: Rows, second: Rows) -> Rows:
    if isinstance(first, QuantizedRows) and isinstance(second, QuantizedRows):
        joined = np.concatenate([first.scales, second.scales], axis=1)
        return QuantizedRows(np.concatenate([first.q, second.q], axis=1), joined)
    assert isinstance(first, np.ndarray) and isinstance(second, np.ndarray)
    return np.concatenate([first, second], axis=1)


@EMULATE.on(p.Attention)
def _attention(op: p.Attention, at: Values) -> None:
    query = at.floats(op.query)
    bias = None if op.bias is None or op.pooled is not None else _floats(op.bias, at)
    relative = _relative(op, at)
    sinks = None if op.sinks is None else _floats(op.sinks, at)
    found = np.zeros_like(query) if op.others is None else at.floats(op.others).copy()
    caches = at.caches[at.place(op.keys)], at.caches[at.place(op.values)]
    for i, (keys, values) in enumerate(zip(*caches, strict=True)):
        rows = at.rows_in(op.only, i)
        if not len(rows):
            continue
        position = keys.shape[1] - len(rows) if op.keys.rows == "steps" else 0
        seen = rows_of_text(op.global_rows, at.indices["ids"][at.token_spans[i]])
        both = keys[:, : at.keys[i]], values[:, : at.keys[i]]
        of_text = relative if op.pooled is None else _pooled(op, op.pooled, at, i, len(rows), keys.shape[1])
        found[rows] = attention(op, query[rows], *both, bias, of_text, position, seen, sinks)
    at.write(op.context, found)


def _relative(op: p.Attention, at: Values) -> Relative | None:
    if op.relative_rows is None:
        return None
    table = at.weights(op.relative_rows, p.IndexTable)
    return Relative(_by_head(op.relative_keys, at), _by_head(op.relative_queries, at), table.values.astype(np.int64))


def _pooled(op: p.Attention, scores: PooledScores, at: Values, text: int, queries: int, keys: int) -> Pooled:
    of_distance, of_segments = (_by_head(slot, at) for slot in (op.relative_keys, op.segment_keys))
    assert of_distance is not None and of_segments is not None and op.bias is not None
    bias = _floats(op.bias, at).reshape(op.shape.heads, 2, -1)
    rows, segments = at.spans[text], at.indices["segments"][at.token_spans[text]]
    of = of_pooled_rows(scores, queries, rows.stop - rows.start, keys, bias.shape[2], segments)
    return Pooled(of_distance, of_segments, bias, of)


@EMULATE.on(p.Upsample)
def _upsample(op: p.Upsample, at: Values) -> None:
    """Rows are of tokens from here on."""
    rows, value = at.floats(op.input, per_text=False), at.floats(op.rows, per_text=False)
    spans = zip(at.spans, at.token_spans, strict=True)
    found = [upsampled(rows[level], op.level, op.pooling, value[tokens]) for level, tokens in spans]
    at.spans = at.token_spans
    at.write(op.rows, np.concatenate(found))


@EMULATE.on(p.GroupRows)
def _group_rows(op: p.GroupRows, at: Values) -> None:
    """Rows are of groups from here on."""
    rows = at.floats(op.input, per_text=False)
    found = [grouped(rows[span], op) for span in at.token_spans]
    at.set_counts([len(groups) for groups in found])
    at.write(op.out, np.concatenate(found))


@EMULATE.on(p.FirstRow)
def _first_row(op: p.FirstRow, at: Values) -> None:
    rows, value = at.floats(op.input, per_text=False), at.floats(op.rows, per_text=False).copy()
    value[[span.start for span in at.spans]] = rows[[span.start for span in at.token_spans]]
    at.write(op.rows, value)


@EMULATE.on(p.SpreadRows)
def _spread_rows(op: p.SpreadRows, at: Values) -> None:
    """Rows are of tokens from here on."""
    rows, groups = at.floats(op.input, per_text=False), at.floats(op.groups, per_text=False)
    spans = zip(at.token_spans, at.spans, strict=True)
    found = [spread(rows[tokens], groups[of_text], op) for tokens, of_text in spans]
    at.spans = at.token_spans
    at.write(op.out, np.concatenate(found))


@EMULATE.on(p.RowOfToken)
def _row_of_token(op: p.RowOfToken, at: Values) -> None:
    rows, found = at.floats(op.input, per_text=False), at.indices["ids"] == op.id
    firsts = [span.start + int(np.argmax(found[span])) for span in at.token_spans]
    counts = [span.stop - span.start for span in at.token_spans]
    at.write(op.out, rows[np.repeat(firsts, counts)])


@EMULATE.on(p.Copy)
def _copy(op: p.Copy, at: Values) -> None:
    at.write(op.out, at.floats(op.input))


def _by_head(slot: p.WeightSlot | None, at: Values) -> Rows | None:
    """[heads, rows, width]."""
    if slot is None:
        return None
    weights = at.weights(slot, p.RelativeWeights)
    matrix, shape = weights.matrix, weights.by_head
    if isinstance(matrix, p.F32Matrix):
        return matrix.values.reshape(shape)
    return QuantizedRows(matrix.q.reshape(shape), matrix.scales.reshape(shape[:2]))


@EMULATE.on(p.Gru)
def _gru(op: p.Gru, at: Values) -> None:
    rows = at.floats(op.input, per_text=False)
    directions = [at.weights(slot, p.LinearWeights) for slot in op.weights]
    at.write(op.out, gru(rows, at.spans, directions))


@EMULATE.on(p.ChooseExperts)
def _choose_experts(op: p.ChooseExperts, at: Values) -> None:
    bias = None if op.bias is None else at.weights(op.bias, p.ExpertBias)
    at.write(op.out, choose(at.floats(op.scores), op.out.width, op.weighing, bias, op.shares))


@EMULATE.on(p.SelectRows)
def _select_rows(op: p.SelectRows, at: Values) -> None:
    at.write(op.out, at.read(op.input)[at.routes(op.routes).rows])


@EMULATE.on(p.ExpertLinear)
def _expert_linear(op: p.ExpertLinear, at: Values) -> None:
    weights = at.weights(op.weights, p.LinearWeights)
    rows = at.read(op.input)
    at.write(op.out, expert_linear(rows, at.routes(op.routes), weights, op.out.width, op.activation))


@EMULATE.on(p.MixExperts)
def _mix_experts(op: p.MixExperts, at: Values) -> None:
    at.write(op.out, mix(at.floats(op.input), at.routes(op.routes)))


@EMULATE.on(p.Pool)
def _pool(op: p.Pool, at: Values) -> None:
    if op.kinds == ("first",):  # all that is up to date, where the last layer ran for the first rows only
        texts = [row[None] for row in at.floats(op.input, per_text=True)]
    else:
        rows = at.floats(op.input, per_text=False)
        texts = [rows[_up_to(op.end, span, at.indices["ids"])] for span in at.spans]
    pooled = np.concatenate([np.concatenate([pool(k, text) for k in op.kinds], axis=1) for text in texts])
    at.write(op.out, pooled[:, : op.out.width])


def _up_to(end: int | None, span: slice, ids: NDArray[np.int64]) -> slice:
    """Of a text's rows those up to the first token of an id."""
    found = np.flatnonzero(ids[span] == end)
    return slice(span.start, span.start + int(found[0]) + 1) if found.size else span


@EMULATE.on(p.Masked)
def _masked(op: p.Masked, at: Values) -> None:
    masks = at.indices["ids"] == op.id
    ends = np.cumsum([np.count_nonzero(masks[span]) for span in at.spans]).tolist()
    at.mask_spans = [slice(begin, end) for begin, end in zip([0, *ends], ends, strict=False)]
    at.write(op.out, at.floats(op.input)[masks])


@EMULATE.on(p.Best)
def _best(op: p.Best, at: Values) -> None:
    weights = at.weights(op.weights, p.LinearWeights)
    at.write(op.out, best(linear(at.read(op.input), weights, "none", None), op.count))


@EMULATE.on(p.WordWeights)
def _word_weights(op: p.WordWeights, at: Values) -> None:
    weights = at.weights(op.weights, p.LinearWeights)
    rows = at.read(op.input, per_text=False)
    texts = [word_weights(rows[span], weights, op.pooling, op.twice) for span in at.spans]
    at.write(op.out, np.concatenate(texts))


@EMULATE.on(p.Normalize)
def _normalize(op: p.Normalize, at: Values) -> None:
    at.write(op.rows, normalize(at.floats(op.rows)))


@EMULATE.on(p.Softmax)
def _softmax(op: p.Softmax, at: Values) -> None:
    rows = at.floats(op.rows)
    at.write(op.rows, softmax(rows.reshape(-1, op.rows.width // op.heads)).reshape(rows.shape))


@EMULATE.on(p.Cap)
def _cap(op: p.Cap, at: Values) -> None:
    at.write(op.rows, capped(at.floats(op.rows), op.limit))


def _floats(slot: p.WeightSlot, at: Values) -> F32Array:
    table = at.weights(slot, p.FloatTable)
    return table.values
