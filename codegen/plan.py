# SPDX-License-Identifier: Apache-2.0
"""Where every buffer lies in the arena.

Each buffer lives from the op that first writes it to the op that last reads it. A buffer that carries rows of all
tokens is alive through every loop that it is used in; one that holds a block's rows only inside the block. What follows
the loops runs once per text of a batch, so that the rows it reads live to its end. Two buffers may share bytes when no
op needs both. Offsets come from first-fit placements in several orders, the smallest result wins; the lower bound is
the most that any single op needs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from . import program as p
from .errors import EtchError
from .targets import ENCODED_PADDING, PANEL_WIDTH, Target, round_up

MAX_ARENA_BYTES = 1 << 31
_TEXT_ROWS_BYTES = 12  # sizeof(etch::TextRows)


@dataclass(frozen=True)
class Placement:
    """A buffer's bytes [offset, offset + size) and the ops [first, last] that it is alive for."""

    name: str
    offset: int
    size: int
    first: int
    last: int


@dataclass(frozen=True)
class Plan:
    row_block: int  # rows that a block holds
    placements: tuple[Placement, ...]  # by offset
    op_names: tuple[str, ...]  # what the op indices of the placements stand for
    arena_bytes: int
    lower_bound: int
    scratch_bytes: int
    quantized_scales: dict[str, int]  # of each quantized buffer: where its row scales begin, relative to its offset
    cache_scales: dict[str, int]  # of keys and values, likewise

    def offset(self, name: str) -> int:
        """The arena offset of buffer `name`."""
        return next(placement.offset for placement in self.placements if placement.name == name)


@dataclass
class _Life:
    size: int
    first: int
    last: int


def plan_memory(program: p.Program, target: Target, tokenizer_scratch_bytes: int) -> Plan:
    """The arena of `program` for texts of up to its max_tokens. Raises EtchError where it would pass 2 GiB."""
    buffers = _buffers(program)
    row_block = _choose_row_block(program, target, buffers)
    scratch = max(attention_scratch_bytes(program, target), expanded_bytes(program, target))
    sizes: dict[str, int] = {}
    scales: dict[str, int] = {}
    for buffer in buffers:
        data, row_scales = _bytes(buffer, _rows(buffer, program, row_block), program, target)
        sizes[buffer.name] = max(sizes.get(buffer.name, 0), data + row_scales)
        if row_scales:
            scales[buffer.name] = max(scales.get(buffer.name, 0), data)
    lives, op_names = _lifetimes(program)
    tokens = program.max_tokens
    begin, end = 0, op_names.index("embedding_sum")
    texts = -(-tokens // PANEL_WIDTH)  # etch::most_texts
    planned = {
        "texts": _Life(_aligned(_TEXT_ROWS_BYTES * texts, target), begin, len(op_names) - 1),
        "ids": _Life(_aligned(4 * tokens, target), begin, end),
        "segments": _Life(_aligned(tokens, target), begin, end),
        "tokenizer": _Life(_aligned(tokenizer_scratch_bytes, target), begin, begin),
    }
    planned |= {name: _Life(_aligned(sizes[name], target), first, last) for name, (first, last) in lives.items()}
    users = ("pack_keys", "pack_values", "attention") if _attention_kind(program) == "s8" else ("attention",)
    users += tuple(op.weights.name for op in _expanded_linears(program))
    scratched = [index for index, name in enumerate(op_names) if name in users]
    planned["scratch"] = _Life(_aligned(scratch, target), scratched[0], scratched[-1])
    placements = _place(planned)
    arena = max(item.offset + item.size for item in placements)
    if arena >= MAX_ARENA_BYTES:
        raise EtchError("arena-too-large", "plan", f"the arena would take {arena} bytes: lower --max-tokens")
    kinds = {buffer.name: buffer.storage for buffer in buffers}
    return Plan(
        row_block=row_block,
        placements=placements,
        op_names=tuple(op_names),
        arena_bytes=arena,
        lower_bound=lower_bound(planned.values(), len(op_names)),
        scratch_bytes=_aligned(scratch, target),
        quantized_scales={name: at for name, at in scales.items() if kinds[name] == "quantized"},
        cache_scales={name: at for name, at in scales.items() if kinds[name] in ("keys", "values")},
    )


def lower_bound(lives: Collection[_Life], ops: int) -> int:
    """The most bytes that are alive at one op: no placement can be smaller."""
    return max(sum(life.size for life in lives if life.first <= op <= life.last) for op in range(ops))


def encoded_row_bytes(width: int, target: Target) -> int:
    """etch::encoded_row_bytes."""
    return round_up(width, ENCODED_PADDING) * target.encoded_bytes_per_value


def attention_scratch_bytes(program: p.Program, target: Target) -> int:
    """etch::attention_s8_scratch_bytes or attention_f32_scratch_bytes."""
    tile, tokens = target.attention_tile_rows, program.max_tokens
    scores = round_up(tile * round_up(tokens, PANEL_WIDTH) * 4, 64)
    factors = round_up(tile * 4, 64)
    if _attention_kind(program) == "f32":
        return scores + factors
    query = round_up(tile * encoded_row_bytes(program.heads.width, target), 64)
    return query + scores + round_up(tile * encoded_row_bytes(tokens, target), 64) + factors


def expanded_inputs(program: p.Program) -> int:
    """The most inputs of a linear whose weights of 4 bits are expanded in scratch; 0 where there is none."""
    return max((op.input.width for op in _expanded_linears(program)), default=0)


def expanded_bytes(program: p.Program, target: Target) -> int:
    """etch::expanded_bytes."""
    inputs = expanded_inputs(program)
    return PANEL_WIDTH * (4 * round_up(inputs, 4) if target.packing == "panel" else round_up(inputs, 16))


def _expanded_linears(program: p.Program) -> list[p.Linear]:
    linears = [op for op in p.ops_of(program) if isinstance(op, p.Linear)]
    return [op for op in linears if any(isinstance(weights.matrix, p.S4Matrix) for weights in op.weights.per_layer)]


def _attention_kind(program: p.Program) -> p.Kind:
    return next(op.kind for op in p.ops_of(program) if isinstance(op, p.Attention))


def _aligned(size: int, target: Target) -> int:
    return round_up(size, target.alignment)


def buffers_of(op: p.Op) -> tuple[tuple[p.Buffer, ...], p.Buffer]:
    """What an op reads, and what it writes."""
    if isinstance(op, p.EmbeddingSum):
        return (), op.out
    if isinstance(op, p.LayerNorm | p.Normalize):
        return (op.rows,), op.rows
    if isinstance(op, p.Linear):
        return (op.input,) if op.residual is None else (op.input, op.residual), op.out
    if isinstance(op, p.Attention):
        return (op.query, op.keys, op.values), op.context
    return (op.input,), op.out


def _buffers(program: p.Program) -> list[p.Buffer]:
    found: dict[p.Buffer, None] = {}
    for op in p.ops_of(program):
        read, written = buffers_of(op)
        for buffer in (*read, written):
            found[buffer] = None
    return list(found)


def _rows(buffer: p.Buffer, program: p.Program, row_block: int) -> int:
    return {"tokens": program.max_tokens, "block": row_block, "one": 1}[buffer.rows]


def _bytes(buffer: p.Buffer, rows: int, program: p.Program, target: Target) -> tuple[int, int]:
    """Data bytes and, behind them, scale bytes of a buffer."""
    if buffer.storage == "f32":
        return 4 * rows * buffer.width, 0
    if buffer.storage == "quantized":
        return round_up(rows * encoded_row_bytes(buffer.width, target), target.alignment), 4 * rows
    heads, width = program.heads.heads, program.heads.width
    n, k = (rows, width) if buffer.storage == "keys" else (width, rows)
    panel = target.packing == "panel"
    if _attention_kind(program) == "f32":
        elements = round_up(n, PANEL_WIDTH) * k if panel else n * k
        return 4 * heads * elements, 0
    packed = round_up(n, PANEL_WIDTH) * round_up(k, 4) if panel else n * round_up(k, 16)
    return heads * round_up(packed, 16), 4 * heads * rows


def _choose_row_block(program: p.Program, target: Target, buffers: list[p.Buffer]) -> int:
    """As many rows as keep a block's buffers within the target's block_bytes, a multiple of its granule, but not fewer
    than its least."""
    row_bytes = sum(sum(_bytes(buffer, 1, program, target)) for buffer in buffers if buffer.rows == "block")
    rows = max(target.block_bytes // row_bytes // target.block_granule * target.block_granule, target.block_least_rows)
    return min(rows, program.max_tokens)


def _lifetimes(program: p.Program) -> tuple[dict[str, tuple[int, int]], list[str]]:
    """First and last op of each buffer, with ops numbered through; op 0 is tokenization."""
    names = ["tokenize"]
    lives: dict[str, tuple[int, int]] = {}

    def extend(name: str, first: int, last: int) -> None:
        known = lives.get(name, (first, last))
        lives[name] = (min(known[0], first), max(known[1], last))

    def visit(ops: tuple[p.Op, ...], through: Callable[[p.Buffer], tuple[int, int] | None]) -> None:
        for op in ops:
            index = len(names)
            names.append(_op_name(op))
            read, written = buffers_of(op)
            for buffer in (*read, written):
                span = through(buffer)
                extend(buffer.name, *(span or (index, index)))

    carried = _carried(program)
    for step in program.steps:
        if not isinstance(step, p.Loop):
            visit((step,), lambda _: None)
            continue
        loop = (len(names), len(names) + sum(len(blocks.body) for blocks in step.body) - 1)
        for blocks in step.body:
            body = (len(names), len(names) + len(blocks.body) - 1)

            def span(
                buffer: p.Buffer, loop: tuple[int, int] = loop, body: tuple[int, int] = body
            ) -> tuple[int, int] | None:
                if buffer.name in carried:
                    return loop
                return body if buffer.rows == "tokens" else None

            visit(blocks.body, span)
    for name in carried:
        extend(name, lives[name][0], len(names) - 1)
    return lives, names


def _carried(program: p.Program) -> set[str]:
    """Values that one layer hands to the next."""
    return {step.out.name for step in program.steps if isinstance(step, p.EmbeddingSum)}


def _op_name(op: p.Op) -> str:
    words = {
        p.EmbeddingSum: "embedding_sum",
        p.LayerNorm: "layer_norm",
        p.Quantize: "quantize",
        p.PackKeys: "pack_keys",
        p.PackValues: "pack_values",
        p.Attention: "attention",
        p.Pool: "pool",
        p.Normalize: "normalize",
    }
    return op.weights.name if isinstance(op, p.Linear | p.LayerNorm) else words[type(op)]


def _place(lives: dict[str, _Life]) -> tuple[Placement, ...]:
    def length(name: str) -> int:
        return lives[name].last - lives[name].first

    names = sorted(lives)
    orders = (
        sorted(names, key=lambda name: -lives[name].size),
        sorted(names, key=lambda name: (-length(name), -lives[name].size)),
        sorted(names, key=lambda name: -lives[name].size * (length(name) + 1)),
        sorted(names, key=lambda name: (lives[name].first, -lives[name].size)),
        sorted(names, key=lambda name: (-lives[name].last, -lives[name].size)),
    )
    results = [_first_fit(order, lives) for order in orders]
    best = min(results, key=lambda result: max(item.offset + item.size for item in result))
    return tuple(sorted(best, key=lambda item: (item.offset, item.name)))


def _first_fit(order: list[str], lives: dict[str, _Life]) -> list[Placement]:
    placed: list[Placement] = []
    for name in order:
        life = lives[name]
        offset = 0
        for other in sorted(placed, key=lambda item: item.offset):
            if other.first <= life.last and life.first <= other.last and other.size:
                if offset + life.size <= other.offset:
                    break
                offset = max(offset, other.offset + other.size)
        placed.append(Placement(name, offset, life.size, life.first, life.last))
    return placed
