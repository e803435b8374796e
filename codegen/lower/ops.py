# SPDX-License-Identifier: Apache-2.0
"""Each op of a graph as ops of the runtime."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..ir import graph as g
from ..ir import program as p
from ..ir.constants import reciprocal, rounded, without_tiny
from ..ir.parameter import Array, F32Array
from ..ir.products import Product
from ..ir.stage import Stage
from ..process.progress import advance
from ..quantize.channels import quantize_rows
from .place import Place

LOWER: Stage[list[p.Op]] = Stage("lower")
PACK: Stage[list[p.Op]] = Stage("lower")  # the rows of a value that an op reads packed


@LOWER.on(g.Embed)
def _embed(op: g.Embed, at: Place) -> list[p.Op]:
    return [p.EmbeddingSum(at.recipe.kind, _terms(op, at), at.buffer(op.out))]


def _terms(op: g.Embed, at: Place) -> tuple[p.EmbeddingTerm, ...]:
    return tuple(_term(term, at) for term in op.terms)


def _term(term: g.Term, at: Place) -> p.EmbeddingTerm:
    # Positions before the first and past the last are never looked up.
    rows = slice(term.first, term.first + at.looked_up(term.table)) if term.by == "positions" else slice(None)
    slot = at.slot(
        term.table,
        lambda array, _: p.EmbeddingWeights(
            at.recipe.table(term.table.name, array.values[rows]), array.name, term.table.name in at.tied
        ),
    )
    factor = None if term.factor is None else rounded(term.factor)
    return p.EmbeddingTerm(slot, term.by, 0, factor, term.shift, term.outside, term.dropped, term.hashes)


@LOWER.on(g.Norm)
def _norm(op: g.Norm, at: Place) -> list[p.Op]:
    def weights(gamma: Array, index: int) -> p.NormWeights:
        return p.NormWeights(
            gamma=without_tiny(gamma.values.astype(np.float32)),
            beta=_beta(op, index),
            epsilon=None if op.epsilon is None else rounded(op.epsilon),
            inverse_width=None if op.epsilon is None else reciprocal(rows.width // op.heads),
            source=gamma.name,
        )

    rows = at.buffer(op.input)
    slot = p.WeightSlot(op.name, stored_arrays(op.gamma, weights), op.gamma.of_layer, op.gamma.common)
    return [p.Norm(op.kind, slot, rows, at.buffer(op.out), op.heads)]


def _beta(op: g.Norm, index: int) -> F32Array | None:
    """Of a layer norm without one it is 0: what the runtime adds."""
    if op.beta is not None:
        return without_tiny(op.beta.arrays[index].values.astype(np.float32))
    return np.zeros(op.gamma.shape, np.float32) if op.kind == "layer" else None


@LOWER.on(g.Linear)
def _linear(op: g.Linear, at: Place) -> list[p.Op]:
    kind: p.Kind = "f32" if op.exact else at.recipe.kind
    slot = linear_slot(op, at, op.exact)
    residual = None if op.residual is None else at.buffer(op.residual)
    source, out = at.buffer(op.input), at.buffer(op.out)
    if kind == "f32":
        return [p.Linear("f32", slot, source, op.activation, residual, out, op.only)]
    quantized = at.quantized(op.input)
    return [p.Quantize(source, quantized), p.Linear("s8", slot, quantized, op.activation, residual, out, op.only)]


def linear_slot(op: Product, at: Place, exact: bool = False) -> p.WeightSlot:
    """Weight and bias; a weight that is an embedding's table stays where it is."""
    table = at.slots[op.weight.name] if op.weight.name in at.tied else None

    def weights(array: Array, index: int) -> p.LinearWeights:
        if table is not None:
            (stored,) = table.stored
            assert isinstance(stored, p.EmbeddingWeights)
            matrix: p.Integers | p.F32Matrix = stored.matrix
        elif exact:
            matrix = p.F32Matrix(without_tiny(array.values.astype(np.float32)))
        else:
            matrix = at.recipe.matrix(op.name, index, array.values)
        bias = None if op.bias is None else without_tiny(op.bias.arrays[index].values.astype(np.float32))
        advance()
        return p.LinearWeights(matrix, bias, array.name, None if table is None else table.name)

    return p.WeightSlot(op.name, stored_arrays(op.weight, weights), op.weight.of_layer, op.weight.common)


@LOWER.on(g.Gru)
def _gru(op: g.Gru, at: Place) -> list[p.Op]:
    slots = tuple(linear_slot(direction, at) for direction in op.directions)
    return [p.Gru(at.recipe.kind, slots, at.buffer(op.input), at.buffer(op.out))]


@LOWER.on(g.Masked)
def _masked(op: g.Masked, at: Place) -> list[p.Op]:
    return [p.Masked(op.id, at.buffer(op.input), at.buffer(op.out))]


@LOWER.on(g.Best)
def _best(op: g.Best, at: Place) -> list[p.Op]:
    logits = p.Buffer("logits", "f32", "masks", p.VOCABULARY_BLOCK)
    source, sums, out = at.buffer(op.input), p.Buffer("sums", "f32", "masks", 2), at.buffer(op.out)
    slot, kind = linear_slot(op, at), at.recipe.kind
    operand = source if kind == "f32" else at.quantized(op.input)
    best = p.Best(kind, slot, op.count, operand, logits, sums, out)
    return [best] if kind == "f32" else [p.Quantize(source, operand), best]


@LOWER.on(g.WordWeights)
def _word_weights(op: g.WordWeights, at: Place) -> list[p.Op]:
    source, slot, kind = at.buffer(op.input), linear_slot(op, at), at.recipe.kind
    operand = source if kind == "f32" else p.Buffer(f"{op.input}_q", "quantized", "tokens", source.width)
    weights = p.WordWeights(kind, slot, op.pooling, op.twice, operand, at.buffer(op.out))
    return [weights] if kind == "f32" else [p.Quantize(source, operand), weights]


@LOWER.on(g.Multiply)
def _multiply(op: g.Multiply, at: Place) -> list[p.Op]:
    return [p.Multiply(at.buffer(op.a), at.buffer(op.b), at.buffer(op.out))]


@LOWER.on(g.Add)
def _add(op: g.Add, at: Place) -> list[p.Op]:
    return [p.Add(at.buffer(op.a), at.buffer(op.b), at.buffer(op.out))]


@LOWER.on(g.Xielu)
def _xielu(op: g.Xielu, at: Place) -> list[p.Op]:
    def weights(array: Array, _: int) -> p.XieluWeights:
        square, power, most, linear = without_tiny(array.values.astype(np.float32))
        return p.XieluWeights(square, power, most, linear, array.name)

    slot = p.WeightSlot(op.name, stored_arrays(op.numbers, weights), op.numbers.of_layer, op.numbers.common)
    return [p.Xielu(slot, at.buffer(op.value))]


@LOWER.on(g.CausalConvolution)
def _causal_convolution(op: g.CausalConvolution, at: Place) -> list[p.Op]:
    state = at.state(op.input, op.weight.shape[1] - 1) if op.input in at.steps else None
    return [p.CausalConvolution(_taps(op), at.buffer(op.input), at.buffer(op.out), state)]


@LOWER.on(g.CenteredConvolution)
def _centered_convolution(op: g.CenteredConvolution, at: Place) -> list[p.Op]:
    return [p.CenteredConvolution(_taps(op), at.packed_rows(op.input), at.buffer(op.out))]


def _taps(op: g.CausalConvolution | g.CenteredConvolution) -> p.WeightSlot:
    def weights(array: Array, index: int) -> p.ConvolutionWeights:
        taps = np.ascontiguousarray(without_tiny(array.values.astype(np.float32)).T)
        bias = None if op.bias is None else without_tiny(op.bias.arrays[index].values.astype(np.float32))
        return p.ConvolutionWeights(taps, bias, array.name)

    return p.WeightSlot(op.name, stored_arrays(op.weight, weights), op.weight.of_layer, op.weight.common)


@LOWER.on(g.DynamicConvolution)
def _dynamic_convolution(op: g.DynamicConvolution, at: Place) -> list[p.Op]:
    return [p.DynamicConvolution(op.heads, at.buffer(op.taps), at.packed_rows(op.input), at.buffer(op.out))]


@LOWER.on(g.FourierRows)
def _fourier_rows(op: g.FourierRows, at: Place) -> list[p.Op]:
    return [p.FourierRows(at.packed_rows(op.input), at.buffer(op.out))]


@PACK.on(g.CenteredConvolution, g.DynamicConvolution, g.FourierRows)
def _packed_rows(op: g.CenteredConvolution | g.DynamicConvolution | g.FourierRows, value: str, at: Place) -> list[p.Op]:
    return [p.PackRows(at.buffer(value), at.packed_rows(value))]


@LOWER.on(g.Rotary)
def _rotary(op: g.Rotary, at: Place) -> list[p.Op]:
    rows = at.positions
    cosines, sines = (
        tuple(at.slot(table, lambda a, _: _floats(a, a.values[:rows])) for table in tables)
        for tables in (op.cosines, op.sines)
    )
    return [p.Rotary(cosines, sines, op.heads, at.buffer(op.value), op.table)]


@LOWER.on(g.Attention)
def _attention(op: g.Attention, at: Place) -> list[p.Op]:
    shape = at.shape(op)
    keys, values = at.caches(op)
    scale = 1.0 / math.sqrt(shape.width) if op.scale is None else op.scale
    # As runtime/ARITHMETIC.md has it where the scale is the usual one: log2(e) / sqrt(d), one division.
    score_scale = math.log2(math.e) / math.sqrt(shape.width) if op.scale is None else math.log2(math.e) * scale
    bias = None if op.bias is None else at.slot(op.bias, _bias)
    query, context = at.buffer(op.query), at.buffer(op.out)
    return [
        p.Attention(
            *(at.recipe.kind, shape, rounded(score_scale), query, keys, values, context),
            mask=op.mask,
            window=op.window,
            bias=bias,
            relative_keys=_relative(op.relative_keys, op.heads, at),
            relative_queries=_relative(op.relative_queries, op.heads, at),
            relative_rows=_relative_rows(op, at),
            key_rows=None if op.relative_queries is None else at.key_rows(op),
            global_rows=op.global_rows,
            only=op.only,
            others=None if op.others is None else at.buffer(op.others),
            cap=None if op.cap is None else _soft_cap(math.log2(math.e) * op.cap),
            pooled=op.pooled,
            segment_keys=_relative(op.segment_keys, op.heads, at),
            sinks=None if op.sinks is None else at.slot(op.sinks, _bias),
        )
    ]


def _relative(parameter: g.Parameter | None, heads: int, at: Place) -> p.WeightSlot | None:
    """Quantized as the rows of a key are: each head's part of a row with a scale of its own."""
    if parameter is None:
        return None

    def weights(array: Array, _: int) -> p.RelativeWeights:
        values = array.values.reshape(len(array.values), heads, -1)
        by_head = np.ascontiguousarray(values.swapaxes(0, 1)).reshape(-1, values.shape[2])
        if at.recipe.kind == "s8":
            return p.RelativeWeights(quantize_rows(by_head), heads, array.name)
        return p.RelativeWeights(p.F32Matrix(without_tiny(by_head.astype(np.float32))), heads, array.name)

    return at.slot(parameter, weights)


def _relative_rows(op: g.Attention, at: Place) -> p.WeightSlot | None:
    table = op.relative_keys or op.relative_queries
    if table is None or op.pooled is not None:  # whose rows are as far apart as the distances
        return None
    stored = (p.IndexTable(np.array(op.relative_rows, np.uint16), table.arrays[0].name),)
    return at.slots.setdefault("relative_rows", p.WeightSlot("relative_rows", stored, (), True))


@LOWER.on(g.PoolRows)
def _pool_rows(op: g.PoolRows, at: Place) -> list[p.Op]:
    """None: the blocks of its stage pool their rows before they begin."""
    return []


@LOWER.on(g.Upsample)
def _upsample(op: g.Upsample, at: Place) -> list[p.Op]:
    return [p.Upsample(op.pooling, op.level, at.buffer(op.input), at.buffer(op.value))]


@LOWER.on(g.GroupRows)
def _group_rows(op: g.GroupRows, at: Place) -> list[p.Op]:
    return [p.GroupRows(op.rate, at.buffer(op.input), at.buffer(op.out))]


@LOWER.on(g.FirstRow)
def _first_row(op: g.FirstRow, at: Place) -> list[p.Op]:
    return [p.FirstRow(at.buffer(op.input), at.buffer(op.value))]


@LOWER.on(g.SpreadRows)
def _spread_rows(op: g.SpreadRows, at: Place) -> list[p.Op]:
    rows, groups = at.buffer(op.input), at.buffer(op.groups)
    return [p.SpreadRows(op.rate, op.taps, op.before, rows, groups, at.buffer(op.out))]


@LOWER.on(g.RowOfToken)
def _row_of_token(op: g.RowOfToken, at: Place) -> list[p.Op]:
    return [p.RowOfToken(op.id, at.buffer(op.input), at.buffer(op.out))]


@LOWER.on(g.Copy)
def _copy(op: g.Copy, at: Place) -> list[p.Op]:
    return [p.Copy(at.buffer(op.input), at.buffer(op.out))]


@PACK.on(g.Attention)
def _packed(op: g.Attention, value: str, at: Place) -> list[p.Op]:
    """As the keys, the values or both."""
    keys, values = at.caches(op)
    source, shape = at.buffer(value), at.shape(op)
    packed: list[p.Op] = [p.PackKeys(shape, source, keys)] if value == op.key else []
    if value == op.key and op.relative_queries is not None:
        packed.append(p.PackKeyRows(shape, source, at.key_rows(op)))
    return packed + ([p.PackValues(shape, source, values)] if value == op.value else [])


@LOWER.on(g.Pool)
def _pool(op: g.Pool, at: Place) -> list[p.Op]:
    embed = at.averaged.get(op.input)
    if embed is not None:
        return [p.EmbeddingMean(at.recipe.kind, _terms(embed, at), at.buffer(op.out))]
    source, out = at.buffer(op.input), at.buffer(op.out)
    return [] if source == out else [p.Pool(op.kind, source, out, op.end, op.beside)]


@LOWER.on(g.Normalize)
def _normalize(op: g.Normalize, at: Place) -> list[p.Op]:
    return [p.Normalize(at.buffer(op.value))]


@LOWER.on(g.Softmax)
def _softmax(op: g.Softmax, at: Place) -> list[p.Op]:
    return [p.Softmax(at.buffer(op.value), op.heads)]


@LOWER.on(g.Cap)
def _cap(op: g.Cap, at: Place) -> list[p.Op]:
    return [p.Cap(at.buffer(op.value), _soft_cap(op.limit))]


def _soft_cap(limit: float) -> p.SoftCap:
    """Both in float64, rounded once."""
    return p.SoftCap(rounded(limit), rounded(1 / limit))


def stored_arrays(parameter: g.Parameter, make: Callable[[Array, int], p.Weights]) -> tuple[p.Weights, ...]:
    """Each of its arrays as `make` stores it."""
    return tuple(make(array, index) for index, array in enumerate(parameter.arrays))


def _floats(array: Array, values: np.ndarray) -> p.FloatTable:
    return p.FloatTable(without_tiny(values), array.name)


def _bias(array: Array, _: int) -> p.FloatTable:
    """Times log2(e) in float64, rounded once."""
    return _floats(array, (array.values.astype(np.float64) * math.log2(math.e)).astype(np.float32))
