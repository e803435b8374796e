# SPDX-License-Identifier: Apache-2.0
"""Whether widths, kinds and weights of each op of a program agree."""

from __future__ import annotations

from ..errors import EtchError
from . import program as p
from .fourier_rows import waves_of
from .stage import Stage

STAGE = "check"
CHECK: Stage[None] = Stage(STAGE)


@CHECK.on(p.EmbeddingSum)
def _embedding_sum(op: p.EmbeddingSum) -> None:
    for term in op.terms:
        for entry in term.table.stored:
            _kind(entry, op.kind)
            entries, width = _matrix(entry).shape
            same(f"width of {entry.source}", width * (term.hashes or 1), op.out.width)
            same(f"entries of {entry.source} of {term.hashes} functions", entries % (term.hashes or 1), 0)
            if term.outside is not None and not 0 <= term.outside < _matrix(entry).shape[0]:
                raise refuse(f"id {term.outside} outside of a text, of {_matrix(entry).shape[0]} in {entry.source}")
        if (term.shift or term.outside is not None) and (term.by != "ids" or op.out.rows != "tokens"):
            raise refuse(f"{term.table.name} by {term.by} of {op.out.rows}, {term.shift} tokens away")
        plain = p.EmbeddingTerm(term.table, "hashes", hashes=term.hashes)
        same(f"whether {term.table.name} is by hashes", term == plain, term.by == "hashes" and term.hashes is not None)
        if term.dropped is not None and (term.by != "ids" or term.shift or op.out.rows != "tokens"):
            raise refuse(f"{term.table.name} by {term.by} of {op.out.rows}, of which id {term.dropped} is dropped")
    if sum(term.dropped is not None for term in op.terms) > 1:
        raise refuse(f"'{op.out.name}': several of its terms drop tokens")


@CHECK.on(p.EmbeddingMean)
def _embedding_mean(op: p.EmbeddingMean) -> None:
    same(f"terms of '{op.out.name}'", [term == p.EmbeddingTerm(term.table, "ids") for term in op.terms], [True])
    same(f"rows of '{op.out.name}'", op.out.rows, "one")
    for entry in op.terms[0].table.stored:
        _kind(entry, op.kind)
        same(f"width of {entry.source}", _matrix(entry).shape[1], op.out.width)
        assert isinstance(entry, p.EmbeddingWeights)
        same(f"{entry.source} tied", entry.tied, False)


@CHECK.on(p.Norm)
def _norm(op: p.Norm) -> None:
    _widths(op.input, op.out)
    for entry in op.weights.stored:
        assert isinstance(entry, p.NormWeights)
        same(f"heads of {op.input.width}", op.heads * op.head_width, op.input.width)
        has_own = op.kind != "affine" and op.heads_with_weights > 1
        same(f"width of {entry.source}", entry.gamma.shape[0], op.input.width if has_own else op.head_width)
        same(f"beta of {entry.source}", entry.beta is None, op.kind == "rms")
        same(f"epsilon of {entry.source}", entry.epsilon is None, op.kind == "affine")


@CHECK.on(p.Quantize)
def _quantize(op: p.Quantize) -> None:
    _widths(op.input, op.out)
    _stored(op.input, "f32")
    _stored(op.out, "quantized")


@CHECK.on(p.Linear)
def _linear(op: p.Linear) -> None:
    _stored(op.input, "quantized" if op.kind == "s8" else "f32")
    for buffer in (op.out, *([] if op.residual is None else [op.residual])):
        _stored(buffer, "f32")
        same(f"width of '{buffer.name}'", buffer.width, op.out.width)
    for entry in op.weights.stored:
        _kind(entry, op.kind)
        same(f"shape of {entry.source}", tuple(_matrix(entry).shape), (op.out.width, op.input.width))
        assert isinstance(entry, p.LinearWeights)
        if entry.bias is not None:
            same(f"bias of {entry.source}", entry.bias.shape, (op.out.width,))


@CHECK.on(p.Masked)
def _masked(op: p.Masked) -> None:
    _widths(op.input, op.out)


@CHECK.on(p.Best)
def _best(op: p.Best) -> None:
    _stored(op.input, "quantized" if op.kind == "s8" else "f32")
    for buffer, width in ((op.logits, p.VOCABULARY_BLOCK), (op.sums, 2), (op.out, 2 * op.count)):
        _stored(buffer, "f32")
        same(f"width of '{buffer.name}'", buffer.width, width)
    (entry,) = op.weights.stored
    _kind(entry, op.kind)
    assert isinstance(entry, p.LinearWeights)
    entries = _matrix(entry).shape[0]
    same(f"shape of {entry.source}", tuple(_matrix(entry).shape), (max(entries, op.count), op.input.width))
    if entry.bias is not None:
        same(f"bias of {entry.source}", entry.bias.shape, (entries,))


@CHECK.on(p.WordWeights)
def _word_weights(op: p.WordWeights) -> None:
    _stored(op.input, "quantized" if op.kind == "s8" else "f32")
    _stored(op.out, "f32")
    same(f"rows of '{op.input.name}' and '{op.out.name}'", (op.input.rows, op.out.rows), ("tokens", "one"))
    (entry,) = op.weights.stored
    _kind(entry, op.kind)
    assert isinstance(entry, p.LinearWeights)
    same(f"shape of {entry.source}", tuple(_matrix(entry).shape), (op.out.width, op.input.width))
    if entry.bias is not None:
        same(f"bias of {entry.source}", entry.bias.shape, (op.out.width,))


@CHECK.on(p.Multiply, p.Add)
def _value_by_value(op: p.Multiply | p.Add) -> None:
    _widths(op.a, op.b, op.out)


@CHECK.on(p.CausalConvolution)
def _causal_convolution(op: p.CausalConvolution) -> None:
    _widths(op.input, op.out)
    same(f"whether '{op.input.name}' has all rows", op.input.rows == "tokens", op.state is None)
    for entry in op.weights.stored:
        assert isinstance(entry, p.ConvolutionWeights)
        same(f"shape of {entry.source}", entry.taps.shape, (op.before + 1, op.input.width))
        if entry.bias is not None:
            same(f"bias of {entry.source}", entry.bias.shape, (op.out.width,))
    if op.state is not None:
        _stored(op.state, "state")
        same(f"rows of '{op.state.name}'", op.state.rows, "sequences")
        same(f"width of '{op.state.name}'", op.state.width, op.before * op.input.width)


@CHECK.on(p.DeltaRule)
def _delta_rule(op: p.DeltaRule) -> None:
    for buffer in (op.input, op.decay, op.beta, op.out):
        _stored(buffer, "f32")
    _heads(op.out, op.heads)
    same(f"width of '{op.input.name}'", op.input.width, 2 * op.key_heads * op.key_width + op.out.width)
    for buffer in (op.decay, op.beta):
        same(f"width of '{buffer.name}'", buffer.width, op.heads)
    for entry in op.weights.stored:
        assert isinstance(entry, p.DeltaWeights)
        same(f"shape of {entry.source}", entry.rates.shape, (op.heads,))
    _carried(op, op.key_width)


@CHECK.on(p.StateSpace)
def _state_space(op: p.StateSpace) -> None:
    for buffer in (op.input, op.time, op.out):
        _stored(buffer, "f32")
    _heads(op.out, op.heads)
    same(f"width of '{op.input.name}'", op.input.width, 2 * op.groups * op.state_width + op.out.width)
    same(f"width of '{op.time.name}'", op.time.width, op.heads)
    for entry in op.weights.stored:
        assert isinstance(entry, p.StateSpaceWeights)
        same(f"shape of {entry.source}", entry.rates.shape, (op.heads,))
        same(f"skips of {entry.source}", entry.skips.shape, (op.heads,))
    _carried(op, op.state_width)


def _carried(op: p.DeltaRule | p.StateSpace, rows: int) -> None:
    """The matrices that it keeps."""
    _stored(op.state, "state")
    same(f"rows of '{op.state.name}'", op.state.rows, "sequences" if op.out.rows == "one" else "carried")
    same(f"width of '{op.state.name}'", op.state.width, rows * op.out.width)


@CHECK.on(p.PackRows)
def _pack_rows(op: p.PackRows) -> None:
    _stored(op.input, "f32")
    _packed_rows(op.out)
    _widths(op.input, op.out)


@CHECK.on(p.CenteredConvolution)
def _centered_convolution(op: p.CenteredConvolution) -> None:
    _packed_rows(op.input)
    _stored(op.out, "f32")
    _widths(op.input, op.out)
    for entry in op.weights.stored:
        assert isinstance(entry, p.ConvolutionWeights)
        same(f"shape of {entry.source}", entry.taps.shape, (op.count, op.input.width))
        same(f"whether {entry.source} has a tap of the row itself", op.count % 2, 1)
        if entry.bias is not None:
            same(f"bias of {entry.source}", entry.bias.shape, (op.out.width,))


@CHECK.on(p.FourierRows)
def _fourier_rows(op: p.FourierRows) -> None:
    _packed_rows(op.input)
    _stored(op.out, "f32")
    same(f"width of '{op.input.name}'", op.input.width, waves_of(op.out.width))


@CHECK.on(p.DynamicConvolution)
def _dynamic_convolution(op: p.DynamicConvolution) -> None:
    _packed_rows(op.input)
    for buffer in (op.taps, op.out):
        _stored(buffer, "f32")
        _heads(buffer, op.heads)
    _widths(op.input, op.out)
    same(f"whether '{op.taps.name}' has a tap of the row itself", op.count % 2, 1)


@CHECK.on(p.Rotary)
def _rotary(op: p.Rotary) -> None:
    _stored(op.rows, "f32")


_PACKED: dict[type, p.Storage] = {p.PackKeys: "keys", p.PackKeyRows: "key_rows", p.PackValues: "values"}


@CHECK.on(*_PACKED)
def _pack(op: p.PackKeys | p.PackKeyRows | p.PackValues) -> None:
    _stored(op.input, "f32")
    _stored(op.out, _PACKED[type(op)])
    _cache(op.out, op.shape)
    _widths(op.input, op.out)


@CHECK.on(p.Attention)
def _attention(op: p.Attention) -> None:
    same("rows of keys for relative queries", op.key_rows is None, op.relative_queries is None)
    caches: tuple[tuple[p.Buffer | None, p.Storage], ...]
    caches = ((op.keys, "keys"), (op.values, "values"), (op.key_rows, "key_rows"))
    for cache, storage in ((cache, storage) for cache, storage in caches if cache is not None):
        _stored(cache, storage)
        _cache(cache, op.shape)
        same(f"kind of '{cache.name}'", cache.kind, op.kind)
    for buffer in (op.query, op.context):
        _stored(buffer, "f32")
        same(f"width of '{buffer.name}'", buffer.width, op.shape.heads * op.shape.width)
    same("rows that stay", op.others, None if op.only is None else op.context)
    for entry in () if op.sinks is None else op.sinks.stored:
        assert isinstance(entry, p.FloatTable)
        same(f"shape of {entry.source}", entry.values.shape, (op.shape.heads,))
    relative = (op.relative_keys, op.relative_queries, op.segment_keys)
    for slot in (slot for slot in relative if slot is not None):
        for entry in slot.stored:
            assert isinstance(entry, p.RelativeWeights)
            same(f"{entry.source} in float", isinstance(entry.matrix, p.F32Matrix), op.kind == "f32")
            heads, _, width = entry.by_head
            same(f"heads of {entry.source}", (heads, width), (op.shape.heads, op.shape.width))


@CHECK.on(p.Upsample)
def _upsample(op: p.Upsample) -> None:
    _stored(op.input, "f32")
    _stored(op.rows, "f32")
    _widths(op.input, op.rows)


@CHECK.on(p.GroupRows)
def _group_rows(op: p.GroupRows) -> None:
    _stored(op.input, "f32")
    _stored(op.out, "f32")
    same(f"width of '{op.out.name}'", op.out.width, op.rate * op.input.width)


@CHECK.on(p.FirstRow)
def _first_row(op: p.FirstRow) -> None:
    _stored(op.input, "f32")
    _stored(op.rows, "f32")
    _widths(op.input, op.rows)


@CHECK.on(p.SpreadRows)
def _spread_rows(op: p.SpreadRows) -> None:
    for buffer in (op.input, op.groups, op.out):
        _stored(buffer, "f32")
    same(f"width of '{op.out.name}'", op.out.width, op.taps * (op.input.width + op.groups.width))


@CHECK.on(p.Copy, p.RowOfToken)
def _copy(op: p.Copy | p.RowOfToken) -> None:
    _stored(op.input, "f32")
    _stored(op.out, "f32")
    _widths(op.input, op.out)


@CHECK.on(p.Gru)
def _gru(op: p.Gru) -> None:
    for buffer, parts in ((op.input, 3), (op.out, 1)):
        _stored(buffer, "f32")
        same(f"width of '{buffer.name}'", buffer.width, parts * len(op.weights) * op.width)
    for entry in (entry for slot in op.weights for entry in slot.stored):
        _kind(entry, op.kind)
        same(f"shape of {entry.source}", tuple(_matrix(entry).shape), (3 * op.width, op.width))
        assert isinstance(entry, p.LinearWeights)
        if entry.bias is not None:
            same(f"bias of {entry.source}", entry.bias.shape, (3 * op.width,))


@CHECK.on(p.ChooseExperts)
def _choose_experts(op: p.ChooseExperts) -> None:
    _stored(op.scores, "f32")
    _stored(op.out, "routes")
    same(f"experts of '{op.out.name}'", op.out.heads, op.scores.width)
    for entry in () if op.bias is None else op.bias.stored:
        assert isinstance(entry, p.ExpertBias)
        same(f"shape of {entry.source}", entry.values.shape, (op.scores.width,))


@CHECK.on(p.SelectRows)
def _select_rows(op: p.SelectRows) -> None:
    _chosen(op.routes, op.out)
    _widths(op.input, op.out)
    for buffer in (op.input, op.out):
        _stored(buffer, "f32")


@CHECK.on(p.ExpertLinear)
def _expert_linear(op: p.ExpertLinear) -> None:
    _chosen(op.routes, op.input, op.out)
    _stored(op.input, "quantized" if op.kind == "s8" else "f32")
    _stored(op.out, "f32")
    outputs = op.routes.heads * op.out.width
    for entry in op.weights.stored:
        _kind(entry, op.kind)
        same(f"shape of {entry.source}", tuple(_matrix(entry).shape), (outputs, op.input.width))
        assert isinstance(entry, p.LinearWeights)
        same(f"experts of {entry.source}", entry.experts, op.routes.heads)
        if entry.bias is not None:
            same(f"bias of {entry.source}", entry.bias.shape, (outputs,))


@CHECK.on(p.MixExperts)
def _mix_experts(op: p.MixExperts) -> None:
    _chosen(op.routes, op.input)
    _widths(op.input, op.out)
    for buffer in (op.input, op.out):
        _stored(buffer, "f32")


def _chosen(routes: p.Buffer, *buffers: p.Buffer) -> None:
    """Rows by expert."""
    _stored(routes, "routes")
    for buffer in buffers:
        same(f"rows of '{buffer.name}'", (buffer.rows, buffer.times), (routes.rows, routes.width))


@CHECK.on(p.Pool)
def _pool(op: p.Pool) -> None:
    if len(op.kinds) > 1 or op.kind == "ends" or op.out.width > op.input.width:
        same(f"width of '{op.out.name}'", op.out.width, len(op.kinds) * op.input.width)


@CHECK.on(p.Normalize, p.Cap, p.Xielu)
def _in_place(op: p.Normalize | p.Cap | p.Xielu) -> None:
    _stored(op.rows, "f32")


@CHECK.on(p.Softmax)
def _softmax(op: p.Softmax) -> None:
    _stored(op.rows, "f32")
    _heads(op.rows, op.heads)


def _cache(cache: p.Buffer, shape: p.HeadShape) -> None:
    same(f"heads of '{cache.name}'", (cache.heads, cache.width), (shape.key_heads, shape.key_heads * shape.width))
    same(f"rows of '{cache.name}'", cache.rows in ("tokens", "steps"), True)


def _packed_rows(buffer: p.Buffer) -> None:
    _stored(buffer, "rows")
    same(f"rows of '{buffer.name}'", buffer.rows, "tokens")


def _heads(buffer: p.Buffer, heads: int) -> None:
    same(f"what {heads} heads leave of '{buffer.name}'", buffer.width % heads, 0)


def _kind(entry: p.Weights, kind: p.Kind) -> None:
    same(f"{entry.source} in float", isinstance(_matrix(entry), p.F32Matrix), kind == "f32")


def _matrix(entry: p.Weights) -> p.Integers | p.F32Matrix:
    assert isinstance(entry, p.LinearWeights | p.EmbeddingWeights)
    return entry.matrix


def _stored(buffer: p.Buffer, storage: p.Storage) -> None:
    same(f"storage of '{buffer.name}'", buffer.storage, storage)


def _widths(first: p.Buffer, *others: p.Buffer) -> None:
    for other in others:
        same(f"width of '{other.name}'", other.width, first.width)


def same(what: str, found: object, wanted: object) -> None:
    """Refuses what is not as it should be."""
    if found != wanted:
        raise refuse(f"{what}: {found}, expected {wanted}")


def refuse(message: str) -> EtchError:
    """That a program is not sound."""
    return EtchError("program-not-sound", STAGE, message)
