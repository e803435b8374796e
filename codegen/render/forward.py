# SPDX-License-Identifier: Apache-2.0
"""The lines of the generated forward pass: statements of ops, loops where the program has loops."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby

from jinja2 import Environment

from ..ir import program as p
from ..ir import walks
from ..ir.op import reads, writes
from ..ir.stage import Stage
from . import delta_rule, row_groups, state_space  # noqa: F401 - their entries
from .embeddings import embedding_names
from .scope import Scope
from .shapes import heads_of
from .statements import RENDER, ROW_POOLING, global_part, texts_of_level
from .text import annotated, constant, pascal

INDENT = "    "
Line = tuple[str, str]  # a statement and its comment


def forward_lines(program: p.Program, environment: Environment, blocks_fit: bool) -> list[str]:
    """The body of forward(): what all rows go through."""
    lines: list[Line] = []
    heads, embeddings = heads_of(program), embedding_names(program)
    scope = Scope(environment, 1, blocks_fit=blocks_fit, heads=heads, embeddings=embeddings)
    lines.extend(_level_lines(program))
    for step in program.steps:
        lines.extend(op_lines(step, scope) if isinstance(step, p.Op) else STEP_LINES(step, scope))
    return annotated(lines)


def _level_lines(program: p.Program) -> list[Line]:
    """The texts of each level that rows are pooled to, and those whose keys are of the level before."""
    levels = walks.levels_of(program)
    if not levels:
        return []
    rate = walks.group_rate(program)
    comment = "// Of each level the texts, and these on keys of the level before."
    if rate is not None:
        comment = f"// The texts with a row for every {rate} tokens."
    lines: list[Line] = [(f"{INDENT}{comment}", "")]
    before = "texts"
    loops = [step for step in program.steps if isinstance(step, p.Loop)]
    on_keys = {loop.level for loop in loops if any(blocks.pools for blocks in loop.body[1:])}
    for level in range(1, levels + 1):
        name, first, second = texts_of_level(level), *(_room(2 * level - 2 + i) for i in range(2))
        made = f"grouped_texts({rate}" if rate is not None else f"pooled_texts({ROW_POOLING}"
        lines.append((f"{INDENT}const Texts {name} = {made}, {before}, {first});", ""))
        if level in on_keys:
            lines.append((f"{INDENT}const Texts on_{before} = on_keys_of({before}, {name}, {second});", ""))
        before = name
    return lines


def _room(index: int) -> str:
    """For the rows of texts, behind those of as many others."""
    return "a.pooled_texts" + (" + " + (f"{index} * " if index > 1 else "") + "most_texts(kMaxTokens)" if index else "")


# The lines of forward() for a step that holds others.
STEP_LINES: Stage[list[Line]] = Stage("render")


def layer_lines(loop: p.Loop, scope: Scope) -> list[Line]:
    """The head of a loop over layers, and the caches of each where they have their own."""
    caches = {b: None for op in walks.ops_in(loop) for b in (*reads(op), *writes(op)) if b.layers > 1}
    array, indent = constant(loop.name + "s"), INDENT * (scope.indent + 1)
    lines: list[Line] = [(f"{INDENT * scope.indent}for (const {pascal(loop.name)}& layer : {array}) {{", "")]
    if caches:
        lines.append((f"{indent}const std::uint32_t index = static_cast<std::uint32_t>(&layer - {array});", ""))
    for cache in caches:
        kind = f"{cache.kind.upper()}HeadCache"
        view = f"{cache.storage}_of_layer(a.{cache.name}, {scope.shape(cache)}, index)"
        if cache.storage == "state":
            kind, view = "F32Rows", f"a.{cache.name}.from({'kBeams * ' if scope.beams else ''}index)"
        lines.append((f"{indent}const {kind} {cache.name} = {view};", ""))
    return lines


@STEP_LINES.on(p.Loop)
def _loop_lines(loop: p.Loop, scope: Scope) -> list[Line]:
    array, count = constant(loop.name + "s"), constant(loop.name + "_count")
    lines = layer_lines(loop, scope)
    moved = False
    own = texts_of_level(loop.level)
    pooled = next((index for index, blocks in enumerate(loop.body) if blocks.pools is not None), None)
    if pooled is not None:
        before = texts_of_level(loop.level - 1)
        keyed = "pooled" if pooled else own
        lines.append((f"{INDENT * 2}// The first layer pools the rows that the one before it has left.", ""))
        lines.append((f"{INDENT * 2}const bool first = &layer == &{array}[0];", ""))
        if pooled:  # keys and values are those of the rows before
            lines.append((f"{INDENT * 2}const Texts& keyed = first ? {before} : {own};", ""))
            lines.append((f"{INDENT * 2}const Texts& pooled = first ? on_{before} : {own};", ""))
    for index, blocks in enumerate(loop.body):
        texts = "keyed" if pooled is not None and index < pooled else own if pooled is None else keyed
        needed = "count" if texts == "texts" else f"{texts}.rows()"
        if blocks.pools is not None:
            for buffer in sliced(blocks):
                values = f"{ROW_POOLING}, {before}, {own}, a.{buffer.name}"
                lines.append((f"{INDENT * 2}if (first) run(PoolRows{{{values}}});", ""))
        if blocks.last_layer_first_row:
            of_layer = texts
            texts, needed = "needed", "needed.rows()"
            if not moved:
                comment = "// Of the last layer only each text's first row is read afterwards: no other is computed."
                lines.append((f"{INDENT * 2}{comment}", ""))
                lines.append((f"{INDENT * 2}const bool last = &layer == &{array}[{count} - 1];", ""))
                lines.append((f"{INDENT * 2}const Texts needed = last ? {of_layer}.first_rows() : {of_layer};", ""))
                moved = True
            for buffer in sliced(blocks):
                lines.append((f"{INDENT * 2}if (last) run(FirstRows{{{of_layer}, a.{buffer.name}}});", ""))
        within = replace(scope, indent=3, layer="layer", block=True, texts=texts)
        lines.extend(_blocks_lines(blocks, within, needed))
    lines.append((f"{INDENT}}}", ""))
    return lines


@STEP_LINES.on(p.Blocks)
def _all_blocks(blocks: p.Blocks, scope: Scope) -> list[Line]:
    texts = texts_of_level(blocks.level)
    needed = f"{texts}.rows()" if blocks.level else "count"
    return _blocks_lines(blocks, replace(scope, indent=2, block=True, texts=texts), needed)


@STEP_LINES.on(p.Repeat)
def _elsewhere(repeat: p.Repeat, scope: Scope) -> list[Line]:
    """The head and the pass of a token are functions of their own."""
    return []


def _blocks_lines(blocks: p.Blocks, scope: Scope, needed: str) -> list[Line]:
    outer, inner = INDENT * (scope.indent - 1), INDENT * scope.indent
    most = "kRowBlock" if scope.blocks_fit else f"block_rows(run.kernels(), {needed}, kRowBlock)"
    lines: list[Line] = [(f"{outer}for (const RowBlock block : RowBlocks({needed}, {most})) {{", "")]
    some = [only for op in blocks.body if (only := walks.only_rows(op)) is not None]
    count = str(len(blocks.body) - len(some))
    if some:
        lines.append((f"{inner}const GlobalRows global({scope.texts}, block, {global_part(some[0])});", ""))
        count = f"{count} + {len(some)} * global.texts()"
    lines.append((f"{inner}if (skips(run, {count})) continue;", "the number of ops below"))
    for buffer in sliced(blocks):
        lines.append((f"{inner}const F32Rows {buffer.name} = a.{buffer.name}.from(block.first);", ""))
    for only, ops in groupby(blocks.body, walks.only_rows):
        lines.extend((_lines_of_ops if only is None else _lines_of_global_rows)(ops, scope))
    lines.append((f"{outer}}}", ""))
    return lines


def _lines_of_ops(ops: Iterable[p.Op], scope: Scope) -> list[Line]:
    return [line for op in ops for line in op_lines(op, scope)]


def _lines_of_global_rows(ops: Iterable[p.Op], scope: Scope) -> list[Line]:
    """The lines of ops on the global rows of each text that the block has any of."""
    outer, inner = INDENT * scope.indent, INDENT * (scope.indent + 1)
    return [
        (f"{outer}for (const RowBlock rows : global) {{", ""),
        (f"{inner}const std::uint32_t row = rows.first - block.first;", ""),
        *_lines_of_ops(ops, replace(scope, indent=scope.indent + 1, only=True)),
        (f"{outer}}}", ""),
    ]


def sliced(blocks: p.Blocks) -> list[p.Buffer]:
    """The buffers with a row per token that the body uses a block of."""
    return walks.rows_of_tokens(blocks)


def op_lines(op: p.Op, scope: Scope) -> list[Line]:
    """The lines of an op; where it is one, with the shape of what it writes."""
    lines = [f"{INDENT * scope.indent}{line}" for line in RENDER(op, scope).split("\n")]
    rows = "rows" if scope.only else "block" if scope.block or scope.beams else None
    comment = _shape(writes(op)[0], rows) if len(lines) == 1 else ""
    return [(line, comment) for line in lines]


def _shape(buffer: p.Buffer, of_block: str | None) -> str:
    """What a buffer holds after the op: in a block so many rows."""
    if buffer.storage in ("keys", "values"):
        return f"{buffer.kind} per head, packed"
    if buffer.storage == "key_rows":
        return f"{buffer.kind} per head"
    if buffer.storage == "rows":
        return f"f32 [count, {buffer.width}], kept"
    if buffer.storage == "routes":
        return f"{buffer.width} of {buffer.heads} experts a row"
    one, tokens, block = (of_block,) * 3 if of_block else ("1", "count", "block")
    rows = {"tokens": tokens, "block": block, "one": one, "masks": "block"}[buffer.rows]
    rows = rows if buffer.times == 1 else f"{buffer.times} * {rows}"
    return f"{'s8' if buffer.storage == 'quantized' else 'f32'} [{rows}, {buffer.width}]"
