# SPDX-License-Identifier: Apache-2.0
"""The statements of the generated forward pass: one small template per op, loops where the program has loops."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby

from jinja2 import Environment

from ..ir import program as p
from ..ir import walks
from ..ir.global_rows import Behind, GlobalRows
from ..ir.op import reads, writes
from ..ir.stage import Stage
from .embeddings import EMBEDDINGS, embedding_names, embedding_type
from .scores import bias_name, rotary_name, soft_cap
from .shapes import HEADS, heads_of, scale_of
from .text import annotated, constant, named, pascal

INDENT = "    "
Row = tuple[str, str]  # a statement and its comment


@dataclass(frozen=True)
class Scope:
    """Where an op stands: how its weights and rows are called there."""

    environment: Environment
    indent: int
    layer: str | None = None  # the loop variable
    block: bool = False
    blocks_fit: bool = True  # kRowBlock rows keep what they compute in the second cache
    texts: str = "texts"
    text: bool = False  # one text's rows, handed in under the buffer's name
    masks: bool = False  # a block of one text's masks
    only: bool = False  # of a block the rows of a text that are global
    step: bool = False  # the row of a token that is written,
    beams: bool = False  # or one of each beam
    heads: Mapping[str, str] = field(default_factory=dict)  # what the constants of caches are called by
    embeddings: Mapping[str, str] = field(default_factory=dict)  # and those of embedding sums, by what they write

    def view(self, buffer: p.Buffer) -> str:
        """A buffer as an op here sees it."""
        if buffer.layers > 1:
            return buffer.name  # those of the layer, handed in under the buffer's name
        storages = ("f32", "quantized") if self.text else ("f32",) if self.block else ()
        sliced = buffer.rows == "tokens" and buffer.storage in storages
        name = buffer.name if sliced else f"a.{buffer.name}"
        return f"{name}.from(row)" if self.only and buffer.storage not in p.CACHES else name

    def weights(self, slot: p.WeightSlot) -> str:
        """The struct of a slot."""
        return f"{self.layer}.{slot.name}" if self.layer and not slot.common else constant(slot.name)

    def rows(self, buffer: p.Buffer) -> str:
        """How many rows an op computes of what it writes."""
        if self.only:
            return "rows.count"
        if self.block or self.masks or self.beams:
            return "block.count"
        return "count" if buffer.rows == "tokens" and not self.text else "1"

    def shape(self, cache: p.Buffer) -> str:
        """The constant of the heads of a cache."""
        return constant(self.heads.get(cache.name, HEADS))

    def texts_of(self, rows: p.Rows) -> str:
        """Whose rows they are: those of a step, or of the text that it attends to."""
        return "steps" if self.step and rows != "tokens" else self.texts

    def statement(self, template: str, values: dict[str, str | None]) -> str:
        """One call, from the template of its op."""
        return self.environment.get_template(f"ops/{template}.j2").render(values).strip()


def forward_lines(program: p.Program, environment: Environment, blocks_fit: bool) -> list[str]:
    """The body of forward(): what all rows go through."""
    rows: list[Row] = []
    heads, embeddings = heads_of(program), embedding_names(program)
    scope = Scope(environment, 1, blocks_fit=blocks_fit, heads=heads, embeddings=embeddings)
    for step in program.steps:
        rows.extend(op_rows(step, scope) if isinstance(step, p.OPS) else STEP_ROWS(step, scope))
    return annotated(rows)


# The lines of forward() for a step that holds others.
STEP_ROWS: Stage[list[Row]] = Stage("render")


def layer_rows(loop: p.Loop, scope: Scope) -> list[Row]:
    """The head of a loop over layers, and the caches of each where they have their own."""
    caches = {b: None for op in walks.ops_in(loop) for b in (*reads(op), *writes(op)) if b.layers > 1}
    array, indent = constant(loop.name + "s"), INDENT * (scope.indent + 1)
    rows: list[Row] = [(f"{INDENT * scope.indent}for (const {pascal(loop.name)}& layer : {array}) {{", "")]
    if caches:
        rows.append((f"{indent}const std::uint32_t index = static_cast<std::uint32_t>(&layer - {array});", ""))
    for cache in caches:
        kind = f"{cache.kind.upper()}HeadCache"
        view = f"{cache.storage}_of_layer(a.{cache.name}, {scope.shape(cache)}, index)"
        if cache.storage == "state":
            kind, view = "F32Rows", f"a.{cache.name}.from({'kBeams * ' if scope.beams else ''}index)"
        rows.append((f"{indent}const {kind} {cache.name} = {view};", ""))
    return rows


@STEP_ROWS.on(p.Loop)
def _loop_rows(loop: p.Loop, scope: Scope) -> list[Row]:
    array, count = constant(loop.name + "s"), constant(loop.name + "_count")
    rows = layer_rows(loop, scope)
    moved = False
    for blocks in loop.body:
        texts, needed = "texts", "count"
        if blocks.last_layer_first_row:
            texts, needed = "needed", "needed.rows()"
            if not moved:
                comment = "// Of the last layer only each text's first row is read afterwards: no other is computed."
                rows.append((f"{INDENT * 2}{comment}", ""))
                rows.append((f"{INDENT * 2}const bool last = &layer == &{array}[{count} - 1];", ""))
                rows.append((f"{INDENT * 2}const Texts needed = last ? texts.first_rows() : texts;", ""))
                moved = True
            for buffer in sliced(blocks):
                rows.append((f"{INDENT * 2}if (last) run(FirstRows{{texts, a.{buffer.name}}});", ""))
        within = replace(scope, indent=3, layer="layer", block=True, texts=texts)
        rows.extend(_blocks_rows(blocks, within, needed))
    rows.append((f"{INDENT}}}", ""))
    return rows


@STEP_ROWS.on(p.Blocks)
def _all_blocks(blocks: p.Blocks, scope: Scope) -> list[Row]:
    return _blocks_rows(blocks, replace(scope, indent=2, block=True), "count")


@STEP_ROWS.on(p.Repeat)
def _elsewhere(repeat: p.Repeat, scope: Scope) -> list[Row]:
    """The head and the pass of a token are functions of their own."""
    return []


def _blocks_rows(blocks: p.Blocks, scope: Scope, needed: str) -> list[Row]:
    outer, inner = INDENT * (scope.indent - 1), INDENT * scope.indent
    most = "kRowBlock" if scope.blocks_fit else f"block_rows(run.kernels(), {needed}, kRowBlock)"
    rows: list[Row] = [(f"{outer}for (const RowBlock block : RowBlocks({needed}, {most})) {{", "")]
    some = [only for op in blocks.body if (only := walks.only_rows(op)) is not None]
    count = str(len(blocks.body) - len(some))
    if some:
        rows.append((f"{inner}const GlobalRows global({scope.texts}, block, {_part(some[0])});", ""))
        count = f"{count} + {len(some)} * global.texts()"
    rows.append((f"{inner}if (skips(run, {count})) continue;", "the number of ops below"))
    for buffer in sliced(blocks):
        rows.append((f"{inner}const F32Rows {buffer.name} = a.{buffer.name}.from(block.first);", ""))
    for only, ops in groupby(blocks.body, walks.only_rows):
        rows.extend((_op_rows if only is None else _global_rows)(ops, scope))
    rows.append((f"{outer}}}", ""))
    return rows


def _part(rows: GlobalRows) -> str:
    """The initializer of a GlobalPart."""
    if isinstance(rows, int):
        return f"{{{rows}}}"
    return f"{{kMaxTokens, a.ids, {rows.id}{', true' if isinstance(rows, Behind) else ''}}}"


def _op_rows(ops: Iterable[p.Op], scope: Scope) -> list[Row]:
    return [row for op in ops for row in op_rows(op, scope)]


def _global_rows(ops: Iterable[p.Op], scope: Scope) -> list[Row]:
    """The lines of ops on the global rows of each text that the block has any of."""
    outer, inner = INDENT * scope.indent, INDENT * (scope.indent + 1)
    return [
        (f"{outer}for (const RowBlock rows : global) {{", ""),
        (f"{inner}const std::uint32_t row = rows.first - block.first;", ""),
        *_op_rows(ops, replace(scope, indent=scope.indent + 1, only=True)),
        (f"{outer}}}", ""),
    ]


def sliced(blocks: p.Blocks) -> list[p.Buffer]:
    """The buffers with a row per token that the body uses a block of."""
    found: dict[p.Buffer, None] = {}
    for op in blocks.body:
        touched = (*reads(op), *writes(op))
        found |= {buffer: None for buffer in touched if buffer.rows == "tokens" and buffer.storage == "f32"}
    return list(found)


def op_rows(op: p.Op, scope: Scope) -> list[Row]:
    """The lines of an op; where it is one, with the shape of what it writes."""
    lines = [f"{INDENT * scope.indent}{line}" for line in RENDER(op, scope).split("\n")]
    rows = "rows" if scope.only else "block" if scope.block or scope.beams else None
    comment = _shape(writes(op)[0], rows) if len(lines) == 1 else ""
    return [(line, comment) for line in lines]


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
    added = f"{bias}, {_part(op.global_rows)}" if op.global_rows else relative or bias
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
    return scope.statement("softmax", {"rows": scope.rows(op.rows), "values": scope.view(op.rows)})


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
    }
    return scope.statement("value_by_value", values)


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


def _shape(buffer: p.Buffer, of_block: str | None) -> str:
    """What a buffer holds after the op: in a block so many rows."""
    if buffer.storage in ("keys", "values"):
        return f"{buffer.kind} per head, packed"
    if buffer.storage == "key_rows":
        return f"{buffer.kind} per head"
    one, tokens, block = (of_block,) * 3 if of_block else ("1", "count", "block")
    rows = {"tokens": tokens, "block": block, "one": one, "masks": "block"}[buffer.rows]
    return f"{'s8' if buffer.storage == 'quantized' else 'f32'} [{rows}, {buffer.width}]"
