# SPDX-License-Identifier: Apache-2.0
"""The statements of the generated forward pass: one small template per op, loops where the program has loops."""

from __future__ import annotations

from dataclasses import dataclass

from jinja2 import Environment

from .. import program as p
from ..plan import buffers_of
from .text import annotated, constant, pascal

_INDENT = "    "
_Row = tuple[str, str]  # a statement and its comment


@dataclass(frozen=True)
class _Scope:
    """Where an op stands: how its weights and rows are called there."""

    layer: str | None  # the loop variable
    indent: int
    block: bool = False
    texts: str = "texts"
    text: bool = False  # one text's rows, handed in under the buffer's name


def forward_lines(program: p.Program, environment: Environment) -> list[str]:
    """The body of forward(): what all rows go through, the last loop included."""
    rows: list[_Row] = []
    for step in program.steps[: _head_begin(program)]:
        if isinstance(step, p.Loop):
            rows.extend(_loop_rows(step, environment))
        else:
            rows.append(_op_row(step, _Scope(None, 1), environment))
    return annotated(rows)


def head_lines(program: p.Program, environment: Environment) -> list[str]:
    """The body of head(): from the rows of one text to its output."""
    return annotated([_op_row(op, _Scope(None, 1, text=True), environment) for op in _head(program)])


def head_values(program: p.Program) -> dict[str, str | bool]:
    """How head() is called: the buffer of the rows it reads, where a text's begin, whether it wants their number."""
    head = _head(program)
    read = next(buffer for op in head for buffer in buffers_of(op)[0] if buffer.rows == "tokens")
    loops = [step for step in program.steps if isinstance(step, p.Loop)]
    first_rows = any(blocks.last_layer_first_row for loop in loops for blocks in loop.body)
    return {
        "head_input": read.name,
        "head_row": "text" if first_rows else "texts.texts[text].first",
        "head_counts": any(isinstance(op, p.Pool) for op in head),
    }


def _head_begin(program: p.Program) -> int:
    return max(index for index, step in enumerate(program.steps) if isinstance(step, p.Loop)) + 1


def _head(program: p.Program) -> list[p.Op]:
    return [step for step in program.steps[_head_begin(program) :] if not isinstance(step, p.Loop)]


def _loop_rows(loop: p.Loop, environment: Environment) -> list[_Row]:
    array, count = constant(loop.name + "s"), constant(loop.name + "_count")
    rows: list[_Row] = [(f"{_INDENT}for (const {pascal(loop.name)}& layer : {array}) {{", "")]
    for blocks in loop.body:
        texts, needed = "texts", "count"
        if blocks.last_layer_first_row:
            texts, needed = "needed", "needed.rows()"
            comment = "// Of the last layer only each text's first row is read afterwards: no other is computed."
            rows.append((f"{_INDENT * 2}{comment}", ""))
            rows.append((f"{_INDENT * 2}const bool last = &layer == &{array}[{count} - 1];", ""))
            rows.append((f"{_INDENT * 2}const Texts needed = last ? texts.first_rows() : texts;", ""))
            for buffer in _sliced(blocks):
                rows.append((f"{_INDENT * 2}if (last) run(FirstRows{{texts, a.{buffer.name}}});", ""))
        rows.append((f"{_INDENT * 2}for (const RowBlock block : RowBlocks({needed}, kRowBlock)) {{", ""))
        rows.append((f"{_INDENT * 3}if (skips(run, {len(blocks.body)})) continue;", ""))
        for buffer in _sliced(blocks):
            rows.append((f"{_INDENT * 3}const F32Rows {buffer.name} = a.{buffer.name}.from(block.first);", ""))
        scope = _Scope("layer", 3, block=True, texts=texts)
        rows.extend(_op_row(op, scope, environment) for op in blocks.body)
        rows.append((f"{_INDENT * 2}}}", ""))
    rows.append((f"{_INDENT}}}", ""))
    return rows


def _sliced(blocks: p.Blocks) -> list[p.Buffer]:
    """The buffers with a row per token that the body uses a block of."""
    found: dict[p.Buffer, None] = {}
    for op in blocks.body:
        read, written = buffers_of(op)
        found |= {buffer: None for buffer in (*read, written) if buffer.rows == "tokens" and buffer.storage == "f32"}
    return list(found)


def _op_row(op: p.Op, scope: _Scope, environment: Environment) -> _Row:
    template, values, out = _op(op, scope)
    text = environment.get_template(f"ops/{template}.j2").render(values).strip()
    return f"{_INDENT * scope.indent}{text}", _shape(out, op, scope.block)


def _op(op: p.Op, scope: _Scope) -> tuple[str, dict[str, str], p.Buffer]:
    """Template, its values, and the buffer that the op writes."""

    def view(buffer: p.Buffer) -> str:
        return buffer.name if (scope.block or scope.text) and buffer.rows == "tokens" else f"a.{buffer.name}"

    def weights(slot: p.WeightSlot) -> str:
        return f"{scope.layer}.{slot.name}" if scope.layer else constant(slot.name)

    def rows(buffer: p.Buffer) -> str:
        if scope.block:
            return "block.count"
        return "count" if buffer.rows == "tokens" else "1"

    if isinstance(op, p.EmbeddingSum):
        values = {
            "embedding": "S8Embedding" if op.kind == "s8" else "F32Embedding",
            "word": weights(op.word),
            "segment": weights(op.segment),
            "position": weights(op.position),
            "out": view(op.out),
        }
        return "embedding_sum", values, op.out
    if isinstance(op, p.LayerNorm):
        return "layer_norm", {"weights": weights(op.weights), "rows": rows(op.rows), "value": view(op.rows)}, op.rows
    if isinstance(op, p.Quantize):
        return "quantize", {"rows": rows(op.out), "input": view(op.input), "out": view(op.out)}, op.out
    if isinstance(op, p.Linear):
        values = {
            "type": f"Linear{op.kind.upper()}",
            "weights": weights(op.weights),
            "rows": rows(op.out),
            "input": view(op.input),
            "out": view(op.out),
            "epilogue": _epilogue(op, None if op.residual is None else view(op.residual)),
        }
        return "linear", values, op.out
    if isinstance(op, p.Attention):
        values = {
            "type": f"Attention{op.kind.upper()}",
            "block": "block",
            "texts": scope.texts,
            "query": view(op.query),
            "keys": f"a.{op.keys.name}",
            "values": f"a.{op.values.name}",
            "context": view(op.context),
        }
        return "attention", values, op.context
    if isinstance(op, p.Pool):
        return "pool", {"kind": op.kind, "input": view(op.input), "out": view(op.out)}, op.out
    if isinstance(op, p.Normalize):
        return "normalize", {"rows": view(op.rows)}, op.rows
    kind = "PackKeys" if isinstance(op, p.PackKeys) else "PackValues"
    return "pack", {"type": kind + op.kind.upper(), "input": view(op.input), "out": f"a.{op.out.name}"}, op.out


def _epilogue(op: p.Linear, residual: str | None) -> str:
    """The arguments behind `out`; both have defaults."""
    activation = f", Activation::{op.activation}"
    if residual is not None:
        return f"{activation}, {residual}"
    return "" if op.activation == "none" else activation


def _shape(buffer: p.Buffer, op: p.Op, in_block: bool) -> str:
    """What a buffer holds after the op."""
    rows = {"tokens": "block" if in_block else "count", "block": "block", "one": "1"}[buffer.rows]
    if buffer.storage in ("keys", "values"):
        element = "s8" if getattr(op, "kind", "s8") == "s8" else "f32"
        return f"{element} per head, packed"
    return f"{'s8' if buffer.storage == 'quantized' else 'f32'} [{rows}, {buffer.width}]"
