# SPDX-License-Identifier: Apache-2.0
"""The arena of the generated code: a typed view per buffer at the offset that the plan gave it."""

from __future__ import annotations

from .. import program as p
from ..plan import Plan, buffers_of, expanded_inputs
from .text import annotated

_FIXED = {
    "ids": ("std::int32_t* ids = s32({at});", "[kMaxTokens]"),
    "segments": ("std::uint8_t* segments = {at};", "[kMaxTokens]"),
    "texts": ("TextRows* texts = reinterpret_cast<TextRows*>({at});", "[most_texts(kMaxTokens)]"),
    "tokenizer": ("std::uint8_t* tokenizer = {at};", "one word and its pieces"),
    "scratch": ("std::uint8_t* scratch = {at};", "[kScratchBytes]"),
}
_ROWS = {"tokens": "kMaxTokens", "block": "kRowBlock", "one": "1"}


_Row = tuple[str, str]  # a declaration and its comment


def arena_lines(program: p.Program, plan: Plan) -> list[str]:
    """The members of struct Arena, by offset."""
    buffers = _buffers(program)
    fields: list[_Row] = []
    for placement in plan.placements:
        if placement.name in _FIXED:
            declaration, shape = _FIXED[placement.name]
            fields.append((declaration.format(at=_at(placement.offset)), shape))
        else:
            fields.append(_field(buffers[placement.name], placement.offset, program, plan))
    return annotated([(f"    {declaration}", shape) for declaration, shape in fields])


def size_checks(program: p.Program, plan: Plan) -> list[str]:
    """Conditions under which the runtime's idea of a buffer's size equals the plan's."""
    f32 = _caches_are_f32(program)
    checks = []
    for name, buffer in _buffers(program).items():
        if buffer.storage in ("keys", "values"):
            size = f"{'f32' if f32 else 's8'}_{'key' if buffer.storage == 'keys' else 'value'}"
            if f32:
                placed = next(item.size for item in plan.placements if item.name == name)
                checks.append(f"kHeads.heads * {size}_elements(kHeads) * sizeof(float) <= {placed}")
            else:
                checks.append(f"kHeads.heads * {size}_bytes(kHeads) == {plan.cache_scales[name]}")
        elif buffer.storage == "quantized":
            rows = _ROWS[buffer.rows]
            checks.append(f"{rows} * encoded_row_bytes(kPacking, {buffer.width}) <= {plan.quantized_scales[name]}")
    widest = expanded_inputs(program)
    if widest:
        checks.append(f"expanded_bytes(kPacking, {widest}) <= kScratchBytes")
    return checks


def _buffers(program: p.Program) -> dict[str, p.Buffer]:
    found: dict[str, p.Buffer] = {}
    for op in p.ops_of(program):
        read, written = buffers_of(op)
        for buffer in (*read, written):
            found[buffer.name] = buffer
    return found


def _caches_are_f32(program: p.Program) -> bool:
    return any(isinstance(op, p.Attention) and op.kind == "f32" for op in p.ops_of(program))


def _at(offset: int) -> str:
    return f"base + {offset}" if offset else "base"


def _field(buffer: p.Buffer, offset: int, program: p.Program, plan: Plan) -> _Row:
    name, rows = buffer.name, _ROWS[buffer.rows]
    if buffer.storage == "f32":
        return (
            f"F32Rows {name}{{f32({_at(offset)}), {buffer.width}}};",
            f"f32 [{rows}, {buffer.width}]",
        )
    if buffer.storage == "quantized":
        scales = offset + plan.quantized_scales[name]
        return (
            f"QuantizedRows {name}{{{_at(offset)}, f32({_at(scales)}), encoded_row_bytes(kPacking, {buffer.width})}};",
            f"s8 [{rows}, {buffer.width}]",
        )
    matrix = "[kMaxTokens, head width]" if buffer.storage == "keys" else "[head width, kMaxTokens]"
    if _caches_are_f32(program):
        return (f"F32HeadCache {name}{{f32({_at(offset)})}};", f"f32 {matrix} per head, packed")
    scales = offset + plan.cache_scales[name]
    return (
        f"S8HeadCache {name}{{s8({_at(offset)}), f32({_at(scales)})}};",
        f"s8 {matrix} per head, packed",
    )
