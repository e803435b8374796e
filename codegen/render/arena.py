# SPDX-License-Identifier: Apache-2.0
"""The arena of the generated code: a typed view per buffer at the offset that the plan gave it."""

from __future__ import annotations

from dataclasses import dataclass

from codegen import program as p
from codegen.plan import Plan, buffers_of

_FIXED = {
    "ids": ("std::int32_t* ids = reinterpret_cast<std::int32_t*>(base + {offset});", "[kMaxTokens]"),
    "segments": ("std::uint8_t* segments = base + {offset};", "[kMaxTokens]"),
    "tokenizer": ("std::uint8_t* tokenizer = base + {offset};", "the word that is being split into pieces"),
    "scratch": ("std::uint8_t* scratch = base + {offset};", "[kScratchBytes]"),
}
_ROWS = {"tokens": "kMaxTokens", "block": "kRowBlock", "one": "1"}


@dataclass(frozen=True)
class ArenaField:
    declaration: str
    shape: str


def arena_fields(program: p.Program, plan: Plan) -> list[ArenaField]:
    """The members of struct Arena, by offset."""
    buffers = _buffers(program)
    fields = []
    for placement in plan.placements:
        if placement.name in _FIXED:
            declaration, shape = _FIXED[placement.name]
            fields.append(ArenaField(declaration.format(offset=placement.offset), shape))
        else:
            fields.append(_field(buffers[placement.name], placement.offset, program, plan))
    return fields


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


def _field(buffer: p.Buffer, offset: int, program: p.Program, plan: Plan) -> ArenaField:
    name, rows = buffer.name, _ROWS[buffer.rows]
    if buffer.storage == "f32":
        return ArenaField(
            f"F32Rows {name}{{reinterpret_cast<float*>(base + {offset}), {buffer.width}}};",
            f"f32 [{rows}, {buffer.width}]",
        )
    if buffer.storage == "quantized":
        scales = offset + plan.quantized_scales[name]
        return ArenaField(
            f"QuantizedRows {name}{{base + {offset}, reinterpret_cast<float*>(base + {scales}), "
            f"encoded_row_bytes(kPacking, {buffer.width})}};",
            f"s8 [{rows}, {buffer.width}], a scale per row",
        )
    matrix = "[kMaxTokens, head width]" if buffer.storage == "keys" else "[head width, kMaxTokens]"
    if _caches_are_f32(program):
        return ArenaField(
            f"F32HeadCache {name}{{reinterpret_cast<float*>(base + {offset})}};", f"f32 per head {matrix}, packed"
        )
    scales = offset + plan.cache_scales[name]
    return ArenaField(
        f"S8HeadCache {name}{{reinterpret_cast<std::int8_t*>(base + {offset}), "
        f"reinterpret_cast<float*>(base + {scales})}};",
        f"s8 per head {matrix}, packed, a scale per (head, token)",
    )
