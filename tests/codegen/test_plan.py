# SPDX-License-Identifier: Apache-2.0
"""The arena plan against oracles that know nothing of it: the program is stepped through, and what is alive is counted.

The oracle runs the op list as the generated code does, layer by layer and block by block, and follows every row of
every buffer: a row is alive from its write to its last read before the next write.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest
from tiny_checkpoint import write_tiny_checkpoint
from tiny_sentence import POOLINGS, write_tiny_sentence_model

from codegen import pipeline
from codegen import program as p
from codegen.errors import EtchError
from codegen.plan import MAX_ARENA_BYTES, Plan, _Life, _place, lower_bound, plan_memory
from codegen.targets import TARGETS, Target

BLOCKS = 3  # of rows, in the oracle's run
TOKENIZER_BYTES = 700


@dataclass(frozen=True)
class Event:
    """One op as it runs: the (buffer, row) cells that it reads and writes."""

    name: str
    reads: frozenset[tuple[str, int]]
    writes: frozenset[tuple[str, int]]


def cells(buffer: p.Buffer, block: int | None) -> set[tuple[str, int]]:
    """The rows that an op touches of a buffer: a block's where it runs for a block, row 0 of what has one row."""
    if buffer.rows == "tokens" and block is None:
        return {(buffer.name, row) for row in range(BLOCKS)}
    return {(buffer.name, block if buffer.rows == "tokens" and block is not None else 0)}


def event(op: p.Op, block: int | None) -> Event:
    everything = range(BLOCKS)
    if isinstance(op, p.EmbeddingSum):
        read, written = {("ids", 0), ("segments", 0)}, cells(op.out, block)
    elif isinstance(op, p.LayerNorm | p.Normalize):
        read = written = cells(op.rows, block)
    elif isinstance(op, p.Pool):
        read, written = cells(op.input, 0 if op.kind == "first" else None), cells(op.out, None)
    elif isinstance(op, p.Attention):
        caches = {(cache.name, row) for cache in (op.keys, op.values) for row in everything}
        read, written = cells(op.query, block) | caches, cells(op.context, block) | {("scratch", 0)}
    else:
        one = block is None and op.out.rows == "one"
        read, written = cells(op.input, 0 if one else block), cells(op.out, block)
        if isinstance(op, p.PackKeys | p.PackValues) and op.kind == "s8":
            written = written | {("scratch", 0)}
        if isinstance(op, p.Linear) and op.residual is not None:
            read = read | cells(op.residual, 0 if one else block)
    return Event(type(op).__name__, frozenset(read), frozenset(written))


def run(program: p.Program) -> list[Event]:
    """Tokenization and every op, loops and blocks unrolled; what follows the loops, once for each of two texts."""
    tokenized = {("tokenizer", 0), ("texts", 0), ("ids", 0), ("segments", 0)}
    events = [Event("tokenize", frozenset(), frozenset(tokenized))]
    last_loop = max(index for index, step in enumerate(program.steps) if isinstance(step, p.Loop))
    for step in program.steps[: last_loop + 1]:
        if not isinstance(step, p.Loop):
            events.append(event(step, None))
            continue
        for layer in range(step.count):
            for blocks in step.body:
                first_row_only = blocks.last_layer_first_row and layer == step.count - 1
                for block in range(1 if first_row_only else BLOCKS):
                    events += [event(op, block) for op in blocks.body]
    for _ in range(2):
        events += [event(step, None) for step in program.steps[last_loop + 1 :] if not isinstance(step, p.Loop)]
        events.append(Event("result", frozenset({(program.output.name, 0), ("texts", 0)}), frozenset()))
    return events


def alive_sets(events: list[Event]) -> list[set[str]]:
    """The buffers that each event needs to be intact, its own included; walked backwards."""
    needed: set[tuple[str, int]] = set()
    result: list[set[str]] = []
    for one in reversed(events):
        # What is read later, but for what this op makes, plus what it reads, must exist while it runs.
        during = (needed - one.writes) | one.reads | one.writes
        result.append({name for name, _ in during})
        needed = (needed - one.writes) | one.reads
    assert not needed, f"read before written: {needed}"
    return result[::-1]


def check(program: p.Program, plan: Plan, target: Target) -> None:
    placed = {item.name: item for item in plan.placements}
    assert len(placed) == len(plan.placements)
    every = alive_sets(run(program))
    assert set().union(*every) == set(placed)
    for alive in every:
        for one, other in itertools.combinations(sorted(alive), 2):
            a, b = placed[one], placed[other]
            assert a.offset + a.size <= b.offset or b.offset + b.size <= a.offset, (one, other)
    for item in plan.placements:
        assert item.offset >= 0
        assert item.offset % target.alignment == 0
        assert item.size > 0
    assert plan.arena_bytes == max(item.offset + item.size for item in plan.placements)
    assert plan.arena_bytes < MAX_ARENA_BYTES
    really_needed = max(sum(placed[name].size for name in alive) for alive in every)
    planned = max(
        sum(item.size for item in plan.placements if item.first <= op <= item.last) for op in range(len(plan.op_names))
    )
    assert really_needed <= plan.lower_bound == planned <= plan.arena_bytes


def least_sizes(program: p.Program, plan: Plan, target: Target) -> dict[str, int]:
    """Bytes that each buffer's elements take, without any padding."""
    rows = {"tokens": program.max_tokens, "block": plan.row_block, "one": 1}
    sizes = {"ids": 4 * program.max_tokens, "segments": program.max_tokens, "tokenizer": TOKENIZER_BYTES}
    for op in p.ops_of(program):
        for buffer in vars(op).values():
            if not isinstance(buffer, p.Buffer):
                continue
            count = rows[buffer.rows] * buffer.width
            size = 4 * count
            if buffer.storage == "quantized":
                size = count * target.encoded_bytes_per_value + 4 * rows[buffer.rows]
            elif buffer.storage in ("keys", "values") and program.recipe != "fp32":
                size = count + 4 * rows[buffer.rows] * program.heads.heads
            sizes[buffer.name] = max(sizes.get(buffer.name, 0), size)
    return sizes


SHAPES = [
    {},
    {"hidden": 36, "heads": 3, "layers": 3},
    {"layers": 2, "max_positions": 3},
    {"hidden": 64, "heads": 4, "intermediate": 256, "layers": 2, "max_positions": 512},
    {"hidden": 8, "heads": 8, "intermediate": 1, "labels": 1000},
    {"hidden": 192, "heads": 3, "intermediate": 768, "max_positions": 1024, "labels": 2},
]


@pytest.mark.parametrize("target", TARGETS.values(), ids=lambda target: target.name)
@pytest.mark.parametrize("recipe", ["w8a8", "fp32"])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "-".join(map(str, shape.values())) or "tiny")
def test_nothing_alive_overlaps(shape: dict[str, int], recipe: str, target: Target, tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path, **shape)  # type: ignore[arg-type]
    check_lengths(tmp_path, recipe, target)


@pytest.mark.parametrize("recipe", ["w8a8", "fp32"])
@pytest.mark.parametrize("pooling", POOLINGS)
def test_nothing_alive_overlaps_in_embeddings(pooling: str, recipe: str, tmp_path: Path) -> None:
    write_tiny_sentence_model(tmp_path, pooling=pooling, hidden=36, heads=3, layers=2, max_positions=300)
    for target in TARGETS.values():
        check_lengths(tmp_path, recipe, target)


def check_lengths(folder: Path, recipe: str, target: Target) -> None:
    checkpoint = pipeline.load(folder)
    for tokens in sorted({3, 17, checkpoint.default_max_tokens} & set(range(checkpoint.default_max_tokens + 1))):
        program = pipeline.lower(checkpoint, recipe, tokens)
        plan = plan_memory(program, target, TOKENIZER_BYTES)
        check(program, plan, target)
        assert 1 <= plan.row_block <= tokens
        placed = {item.name: item.size for item in plan.placements}
        for name, size in least_sizes(program, plan, target).items():
            assert placed[name] >= size, name


def test_the_oracle_sees_an_overlap(tmp_path: Path) -> None:
    """A plan with two of its buffers laid onto each other is found out, whichever two are alive together."""
    write_tiny_checkpoint(tmp_path, layers=2)
    program = pipeline.lower(pipeline.load(tmp_path), "w8a8", None)
    plan = plan_memory(program, TARGETS["host"], TOKENIZER_BYTES)
    hidden = plan.offset("hidden")
    for name in ("keys", "values", "hidden_q", "projection", "inner", "scratch"):
        moved = tuple(
            item if item.name != name else type(item)(name, hidden, item.size, item.first, item.last)
            for item in plan.placements
        )
        broken = Plan(**(vars(plan) | {"placements": moved}))
        with pytest.raises(AssertionError):
            check(program, broken, TARGETS["host"])


def assert_disjoint(lives: dict[str, _Life], arena: Iterable[tuple[str, int, int]]) -> None:
    spans = {name: (offset, offset + size) for name, offset, size in arena}
    assert set(spans) == set(lives)
    for one, other in itertools.combinations(lives, 2):
        together = lives[one].first <= lives[other].last and lives[other].first <= lives[one].last
        if together and lives[one].size and lives[other].size:
            assert spans[one][1] <= spans[other][0] or spans[other][1] <= spans[one][0]


@pytest.mark.parametrize("seed", range(60))
def test_random_lives(seed: int) -> None:
    source = random.Random(seed)
    ops = source.randint(1, 30)
    lives = {}
    for index in range(source.randint(1, 25)):
        first = source.randrange(ops)
        size = source.choice((0, 1, 2, 3, 5, 8, 13)) * source.choice((16, 64, 4096))
        lives[f"b{index}"] = _Life(size, first, source.randrange(first, ops))
    placements = _place(lives)
    assert_disjoint(lives, [(item.name, item.offset, item.size) for item in placements])
    most = max((sum(life.size for life in lives.values() if life.first <= op <= life.last)) for op in range(ops))
    arena = max(item.offset + item.size for item in placements)
    assert lower_bound(lives.values(), ops) == most <= arena <= sum(life.size for life in lives.values())
    shuffled = list(lives.items())
    source.shuffle(shuffled)
    assert _place(dict(shuffled)) == placements  # whatever the order they are named in


def test_nested_lives_reach_the_bound() -> None:
    lives = {"all": _Life(64, 0, 9), "left": _Life(128, 0, 4), "right": _Life(128, 5, 9), "inner": _Life(64, 6, 7)}
    placements = _place(lives)
    assert max(item.offset + item.size for item in placements) == 256


def test_row_block_is_the_largest_that_fits(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path, hidden=192, heads=3, intermediate=768, max_positions=1024)
    program = pipeline.lower(pipeline.load(tmp_path), "w8a8", None)
    for target in TARGETS.values():
        plan = plan_memory(program, target, TOKENIZER_BYTES)
        assert plan.row_block % target.block_granule == 0
        assert plan.row_block < program.max_tokens
        row = 0
        for buffer in {b for op in p.ops_of(program) for b in vars(op).values() if isinstance(b, p.Buffer)}:
            if buffer.rows == "block":
                f32 = buffer.storage == "f32"
                width = buffer.width if f32 else -(-buffer.width // 16) * 16
                data = width * (4 if f32 else target.encoded_bytes_per_value)
                row += data if f32 else -(-data // target.alignment) * target.alignment + 4
        if plan.row_block > target.block_least_rows:
            assert plan.row_block * row <= target.block_bytes
        assert (plan.row_block + target.block_granule) * row > target.block_bytes


def test_an_arena_past_2_gib_is_refused(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path, hidden=512, heads=2, max_positions=4096)
    program = pipeline.lower(pipeline.load(tmp_path), "w8a8", None)
    huge = p.Program(**(vars(program) | {"max_tokens": 1 << 20}))
    with pytest.raises(EtchError) as caught:
        plan_memory(huge, TARGETS["host"], TOKENIZER_BYTES)
    assert (caught.value.code, caught.value.stage) == ("arena-too-large", "plan")
    assert "--max-tokens" in str(caught.value)
