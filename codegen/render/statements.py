# SPDX-License-Identifier: Apache-2.0
"""The statement of each op, by a small template of its own."""

from __future__ import annotations

import numpy as np

from ..ir import program as p
from ..ir.global_rows import Behind, GlobalRows
from ..ir.row_pooling import PooledScores, RowPooling
from ..ir.stage import Stage
from .embeddings import EMBEDDINGS, embedding_type
from .scope import Scope
from .scores import POOLED_BIAS, bias_name, rotary_name, soft_cap
from .shapes import HEADS, scale_of
from .text import constant, float_literal, named

ROW_POOLING = "kRowPooling"  # of all levels

RENDER: Stage[str] = Stage("render")  # the statement of an op


@RENDER.on(p.EmbeddingSum)
def _embedding_sum(op: p.EmbeddingSum, scope: Scope) -> str:
    values = {
        "embedding": embedding_type(op),
        "terms": constant(scope.embeddings.get(op.out.name, EMBEDDINGS)),
        "texts": scope.texts_of(op.out.rows),
        "ids": "token" if scope.step else "a.ids",
        "segments": ("kNoSegments" if scope.beams else "&kNoSegment") if scope.step else "a.segments",
        "out": scope.view(op.out),
    }
    return scope.statement("embedding_sum", values)


@RENDER.on(p.EmbeddingMean)
def _embedding_mean(op: p.EmbeddingMean, scope: Scope) -> str:
    table = constant(op.terms[0].table.name)
    return scope.statement(
        "embedding_mean", {"embedding": embedding_type(op), "table": table, "out": scope.view(op.out)}
    )


@RENDER.on(p.Norm)
def _norm(op: p.Norm, scope: Scope) -> str:
    input, out = scope.view(op.input), scope.view(op.out)
    rows = scope.rows(op.out)
    if op.heads > 1:
        rows = f"{op.heads} * {rows}"
        input, out = (f"{view}.in_rows_of({op.head_width})" for view in (input, out))
    has_own = op.heads_with_weights > 1
    operands = input if input == out and not has_own else f"{input}, {out}"
    if has_own:
        operands += f", {named('heads', op.heads)}"
    kind = {"layer": "LayerNorm", "rms": "RmsNorm", "affine": "Affine"}[op.kind]
    values = {"type": kind, "weights": scope.weights(op.weights), "rows": rows, "operands": operands}
    return scope.statement("norm", values)


@RENDER.on(p.Quantize)
def _quantize(op: p.Quantize, scope: Scope) -> str:
    values = {"rows": scope.rows(op.out), "input": scope.view(op.input), "out": scope.view(op.out)}
    return scope.statement("quantize", values)


@RENDER.on(p.Linear)
def _linear(op: p.Linear, scope: Scope) -> str:
    values = {
        "type": f"Linear{op.kind.upper()}",
        "weights": scope.weights(op.weights),
        "rows": scope.rows(op.out),
        "input": scope.view(op.input),
        "out": scope.view(op.out),
        "epilogue": _epilogue(op, None if op.residual is None else scope.view(op.residual)),
    }
    return scope.statement("linear", values)


@RENDER.on(p.Attention)
def _attention(op: p.Attention, scope: Scope) -> str:
    bias, relative = bias_name(op), _relative(op, scope)
    form = "Disentangled" if relative else "Global" if op.global_rows else "Biased" if bias else ""
    added = f"{bias}, {global_part(op.global_rows)}" if op.global_rows else relative or bias
    if op.pooled is not None:
        form, added = "Pooled", _pooled(op, op.pooled, scope)
    if op.sinks is not None:
        form = "Sink"
    if op.cap is not None:
        form, added = "Capped", f"{bias or '{}'}, {soft_cap(op.cap)}"
    values = {
        "type": f"{form}Attention{op.kind.upper()}",
        "added": added,
        "heads": scope.shape(op.keys),
        "scale": constant(scale_of(scope.heads.get(op.keys.name, HEADS))),
        "block": "rows" if scope.only else "block",
        "texts": scope.texts_of(op.keys.rows),
        "query": scope.view(op.query),
        "keys": scope.view(op.keys),
        "values": scope.view(op.values),
        "context": scope.view(op.context),
    }
    return scope.statement("attention", values)


def _relative(op: p.Attention, scope: Scope) -> str | None:
    """The arguments behind those of a plain attention; None where nothing is relative."""
    if op.relative_rows is None:
        return None
    tables = ("{}" if slot is None else scope.weights(slot) for slot in (op.relative_keys, op.relative_queries))
    key_rows = "{}" if op.key_rows is None else scope.view(op.key_rows)
    return ", ".join((key_rows, *tables, f"{op.relative_rows.name}_values"))


def _pooled(op: p.Attention, pooled: PooledScores, scope: Scope) -> str:
    """The same where rows are pooled."""
    assert op.relative_keys is not None and op.segment_keys is not None and op.bias is not None
    level = named("level", pooled.level)
    tables = (scope.weights(slot) for slot in (op.relative_keys, op.segment_keys))
    return ", ".join((ROW_POOLING, level, "texts", "a.segments", *tables, f"{scope.layer}.{POOLED_BIAS}"))


def row_pooling(pooling: RowPooling) -> str:
    """The initializer of a RowPooling."""
    by = {"mean": "mean", "max": "maximum"}[pooling.by]
    flags = (
        named(name, "true" if value else "false") for name, value in (("apart", pooling.apart), ("cut", pooling.cut))
    )
    return f"{{{', '.join((f'PooledBy::{by}', *flags))}}}"


def texts_of_level(level: int) -> str:
    """What the code calls the texts of a level."""
    return f"texts_{level}" if level else "texts"


@RENDER.on(p.Upsample)
def _upsample(op: p.Upsample, scope: Scope) -> str:
    levels = f"{named('level', op.level)}, texts, {texts_of_level(op.level)}"
    values = f"{ROW_POOLING}, {levels}, {scope.view(op.input)}, {scope.view(op.rows)}"
    return f"run(Upsample{{{values}}});"


@RENDER.on(p.Copy)
def _copy(op: p.Copy, scope: Scope) -> str:
    return f"run(CopyRows{{{scope.rows(op.out)}, {scope.view(op.input)}, {scope.view(op.out)}}});"


@RENDER.on(p.PackKeys, p.PackKeyRows, p.PackValues)
def _pack(op: p.PackKeys | p.PackKeyRows | p.PackValues, scope: Scope) -> str:
    kind = f"{type(op).__name__}{op.out.kind.upper()}"
    values = {
        "type": kind,
        "heads": scope.shape(op.out),
        "texts": scope.texts_of(op.out.rows),
        "input": scope.view(op.input),
        "out": scope.view(op.out),
    }
    return scope.statement("pack", values)


@RENDER.on(p.Gru)
def _gru(op: p.Gru, scope: Scope) -> str:
    values = {
        "kind": op.kind.upper(),
        "forward": scope.weights(op.weights[0]),
        "backward": f"&{scope.weights(op.weights[1])}" if len(op.weights) > 1 else "nullptr",
        "texts": scope.texts,
        "input": scope.view(op.input),
        "out": scope.view(op.out),
    }
    return scope.statement("gru", values)


@RENDER.on(p.ChooseExperts)
def _choose_experts(op: p.ChooseExperts, scope: Scope) -> str:
    values = {
        "rows": scope.rows(op.scores),
        "top": str(op.out.width),
        "weighing": op.weighing,
        "scores": scope.view(op.scores),
        "out": scope.view(op.out),
        "chosen_by": _chosen_by(op, scope),
    }
    return scope.statement("choose_experts", values)


def _chosen_by(op: p.ChooseExperts, scope: Scope) -> str:
    """The arguments behind those of experts that scores choose and weigh."""
    if op.bias is None and op.shares is None:
        return ""
    bias = "ExpertBias{}" if op.bias is None else scope.weights(op.bias)
    if op.shares is None:
        return f", {bias}"
    added, least = (float_literal(np.float32(of)) for of in (op.shares.added, op.shares.least))
    return f", {bias}, ExpertShares{{{named('added', added)}, {named('least', least)}}}"


@RENDER.on(p.SelectRows)
def _select_rows(op: p.SelectRows, scope: Scope) -> str:
    values = {
        "routes": scope.view(op.routes),
        "rows": scope.rows(op.out),
        "input": scope.view(op.input),
        "out": scope.view(op.out),
    }
    return scope.statement("select_rows", values)


@RENDER.on(p.ExpertLinear)
def _expert_linear(op: p.ExpertLinear, scope: Scope) -> str:
    values = {
        "type": f"ExpertLinear{op.kind.upper()}",
        "weights": scope.weights(op.weights),
        "routes": scope.view(op.routes),
        "rows": scope.rows(op.out),
        "input": scope.view(op.input),
        "out": scope.view(op.out),
        "activation": "" if op.activation == "none" else f", Activation::{op.activation}",
    }
    return scope.statement("expert_linear", values)


@RENDER.on(p.MixExperts)
def _mix_experts(op: p.MixExperts, scope: Scope) -> str:
    values = {
        "rows": scope.rows(op.out),
        "top": str(op.routes.width),
        "routes": scope.view(op.routes),
        "input": scope.view(op.input),
        "out": scope.view(op.out),
    }
    return scope.statement("mix_experts", values)


@RENDER.on(p.Pool)
def _pool(op: p.Pool, scope: Scope) -> str:
    count = "count" if op.end is None else f"rows_up_to({op.end}, texts.texts[text], a.ids)"
    input, out = scope.view(op.input), scope.view(op.out)
    outs = [out] if not op.beside else [_part_of(out, i, op.input.width) for i in range(len(op.kinds))]
    rows = {"count": count, "input": input}
    values = [{"kind": kind, "out": to, **rows} for kind, to in zip(op.kinds, outs, strict=True)]
    return "\n".join(scope.statement("pool", each) for each in values)


def _part_of(row: str, number: int, width: int) -> str:
    """Of a single row the part of this number."""
    at = f" + {number * width}" if number else ""
    return f"F32Rows{{{row}.data{at}, {width}}}"


@RENDER.on(p.Masked)
def _masked(op: p.Masked, scope: Scope) -> str:
    return scope.statement("masked", {"input": scope.view(op.input), "out": scope.view(op.out)})


@RENDER.on(p.Best)
def _best(op: p.Best, scope: Scope) -> str:
    values = {
        "kind": op.kind.upper(),
        "weights": scope.weights(op.weights),
        "rows": scope.rows(op.logits),
        "input": scope.view(op.input),
        "logits": scope.view(op.logits),
        "sums": scope.view(op.sums),
        "out": scope.view(op.out),
    }
    return scope.statement("best", values)


@RENDER.on(p.WordWeights)
def _word_weights(op: p.WordWeights, scope: Scope) -> str:
    values = {
        "kind": op.kind.upper(),
        "weights": scope.weights(op.weights),
        "input": scope.view(op.input),
        "out": scope.view(op.out),
        "pooling": op.pooling,
        "twice": "true" if op.twice else "false",
    }
    return scope.statement("word_weights", values)


@RENDER.on(p.Normalize)
def _normalize(op: p.Normalize, scope: Scope) -> str:
    return scope.statement("normalize", {"rows": scope.rows(op.rows), "values": scope.view(op.rows)})


@RENDER.on(p.Softmax)
def _softmax(op: p.Softmax, scope: Scope) -> str:
    rows, values = scope.rows(op.rows), scope.view(op.rows)
    if op.heads > 1:
        rows, values = f"{op.heads} * {rows}", f"{values}.in_rows_of({op.rows.width // op.heads})"
    return scope.statement("softmax", {"rows": rows, "values": values})


@RENDER.on(p.Cap)
def _cap(op: p.Cap, scope: Scope) -> str:
    values = {"rows": scope.rows(op.rows), "values": scope.view(op.rows), "cap": soft_cap(op.limit)}
    return scope.statement("cap", values)


@RENDER.on(p.Multiply, p.Add)
def _value_by_value(op: p.Multiply | p.Add, scope: Scope) -> str:
    values = {
        "type": type(op).__name__,
        "rows": scope.rows(op.out),
        "a": scope.view(op.a),
        "b": scope.view(op.b),
        "out": scope.view(op.out),
        "by": "",
    }
    if isinstance(op, p.Multiply) and op.clamped is not None:
        alpha, limit = (float_literal(np.float32(of)) for of in (op.clamped.alpha, op.clamped.limit))
        values |= {"type": "ClampedGate", "by": f"{named('alpha', alpha)}, {named('limit', limit)}"}
    return scope.statement("value_by_value", values)


@RENDER.on(p.Xielu)
def _xielu(op: p.Xielu, scope: Scope) -> str:
    values = {"weights": scope.weights(op.weights), "rows": scope.rows(op.rows), "values": scope.view(op.rows)}
    return scope.statement("xielu", values)


@RENDER.on(p.CausalConvolution)
def _causal_convolution(op: p.CausalConvolution, scope: Scope) -> str:
    values = {
        "weights": scope.weights(op.weights),
        "texts": scope.texts_of(op.out.rows),
        "input": f"a.{op.input.name}",  # with the rows before those of a block
        "state": None if op.state is None else scope.view(op.state),
        "out": scope.view(op.out),
        "room": ", kRoom" if scope.beams else "",
    }
    return scope.statement("convolution" if op.state is None else "convolution_step", values)


@RENDER.on(p.PackRows, p.CenteredConvolution, p.DynamicConvolution, p.FourierRows)
def _around(op: p.PackRows | p.CenteredConvolution | p.DynamicConvolution | p.FourierRows, scope: Scope) -> str:
    own = ""
    if isinstance(op, p.CenteredConvolution):
        own = f"{scope.weights(op.weights)}, "
    elif isinstance(op, p.DynamicConvolution):
        own = f"{named('heads', op.heads)}, "
    taps = f"{scope.view(op.taps)}, " if isinstance(op, p.DynamicConvolution) else ""
    values = {
        "type": type(op).__name__,
        "own": own,
        "texts": scope.texts,
        "operands": f"{taps}{scope.view(op.input)}, {scope.view(op.out)}",
    }
    return scope.statement("around", values)


@RENDER.on(p.Rotary)
def _rotary(op: p.Rotary, scope: Scope) -> str:
    return scope.statement(
        "rotary", {"table": rotary_name(op), "texts": scope.texts_of(op.rows.rows), "rows": scope.view(op.rows)}
    )


def _epilogue(op: p.Linear, residual: str | None) -> str:
    """The arguments behind `out`; both have defaults."""
    activation = f", Activation::{op.activation}"
    if residual is not None:
        return f"{activation}, {residual}"
    return "" if op.activation == "none" else activation


def global_part(rows: GlobalRows) -> str:
    """The initializer of a GlobalPart."""
    if isinstance(rows, int):
        return f"{{{rows}}}"
    return f"{{kMaxTokens, a.ids, {rows.id}{', true' if isinstance(rows, Behind) else ''}}}"
