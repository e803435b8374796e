# SPDX-License-Identifier: Apache-2.0
"""The arena plan against oracles that know nothing of it: the program is stepped through, and what is alive is counted.

The oracle runs the op list as the generated code does, layer by layer and block by block, and follows every row of
every buffer: a row is alive from its write to its last read before the next write.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from tiny_checkpoint import write_tiny_checkpoint
from tiny_sentence import POOLINGS, write_tiny_sentence_model

from codegen import pipeline
from codegen.emulate import emulate_texts
from codegen.errors import EtchError
from codegen.ir import program as p
from codegen.ir import walks
from codegen.ir.check_program import check_program
from codegen.ir.global_rows import Before, Behind
from codegen.ir.program_changes import map_ops
from codegen.ir.text import Text
from codegen.memory.plan import MAX_ARENA_BYTES, Plan, plan_memory
from codegen.quantize import RECIPES
from codegen.render.model import render_model
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


def of_packed(
    op: p.Attention | p.CenteredConvolution | p.DynamicConvolution | p.FourierRows, block: int | None
) -> tuple[set[tuple[str, int]], set[tuple[str, int]]]:
    """What an op reads and writes that has all rows of some buffers."""
    if isinstance(op, p.Attention):
        packed, own = (op.keys, op.values, op.key_rows), (op.query, op.others)
        written = cells(op.context, block) | {("scratch", 0)}
    else:
        packed, own = (op.input,), (op.taps,) if isinstance(op, p.DynamicConvolution) else ()
        written = cells(op.out, block) | ({("scratch", 0)} if isinstance(op, p.FourierRows) else set())
    caches = {(cache.name, row) for cache in packed if cache is not None for row in range(BLOCKS)}
    return caches.union(*(cells(buffer, block) for buffer in own if buffer is not None)), written


def of_any_rows(
    op: p.Gru | p.WordWeights | p.GroupRows | p.FirstRow | p.SpreadRows | p.RowOfToken, block: int | None
) -> tuple[set[tuple[str, int]], set[tuple[str, int]]]:
    """The same of one that reads any rows as they are."""
    read = cells(op.input, None)
    if isinstance(op, p.Gru | p.WordWeights):
        return read, cells(op.out, None) | {("scratch", 0)}
    if isinstance(op, p.RowOfToken):
        return read | {("ids", 0)}, cells(op.out, block)
    if isinstance(op, p.FirstRow):
        return read | cells(op.rows, block), cells(op.rows, block)
    return read | (cells(op.groups, None) if isinstance(op, p.SpreadRows) else set()), cells(op.out, block)


def event(op: p.Op, block: int | None) -> Event:
    if isinstance(op, p.EmbeddingSum | p.EmbeddingMean):
        read = {("ids", 0)} | ({("segments", 0)} if isinstance(op, p.EmbeddingSum) else set())
        written = cells(op.out, block)
    elif isinstance(op, p.Norm):
        read, written = cells(op.input, block), cells(op.out, block)
    elif isinstance(op, p.Normalize | p.Rotary | p.Softmax | p.Cap | p.Xielu):
        read = written = cells(op.rows, block)
    elif isinstance(op, p.Multiply | p.Add):
        read, written = cells(op.a, block) | cells(op.b, block), cells(op.out, block)
    elif isinstance(op, p.Masked):
        read, written = cells(op.input, None) | {("masks", 0)}, cells(op.out, None)
    elif isinstance(op, p.Best):
        read, written = (
            cells(op.input, None),
            cells(op.logits, None) | cells(op.sums, None) | {(op.out.name, block or 0)},
        )
    elif isinstance(op, p.Gru | p.WordWeights | p.GroupRows | p.FirstRow | p.SpreadRows | p.RowOfToken):
        read, written = of_any_rows(op, block)
    elif isinstance(op, p.Pool):
        read, written = cells(op.input, 0 if op.kind == "first" else None), cells(op.out, None)
        read |= set() if op.end is None else {("ids", 0)}
    elif isinstance(op, p.Attention | p.CenteredConvolution | p.DynamicConvolution | p.FourierRows):
        read, written = of_packed(op, block)
    else:
        one = block is None and op.out.rows == "one"
        source = op.scores if isinstance(op, p.ChooseExperts) else op.input
        read, written = cells(source, 0 if one else block), cells(op.out, block)
        if isinstance(op, p.ChooseExperts) or (isinstance(op, p.PackKeys | p.PackValues) and op.out.kind == "s8"):
            written = written | {("scratch", 0)}
        if isinstance(op, p.Linear) and op.residual is not None:
            read = read | cells(op.residual, 0 if one else block)
        routes = getattr(op, "routes", None)
        read |= set() if routes is None else cells(routes, block)
    by_id = any(isinstance(value, Before | Behind) for value in vars(op).values())
    return Event(type(op).__name__, frozenset(read | {("ids", 0)} if by_id else read), frozenset(written))


def run(program: p.Program) -> list[Event]:
    """Tokenization and every op, loops and blocks unrolled; what follows the loops, once for each of two texts."""
    noted = {(name, 0) for name in (*program.task.token_bytes, *program.task.call_bytes)}
    tokenized = {("tokenizer", 0), ("texts", 0), ("ids", 0), ("segments", 0)} | noted
    if program.target_rules is not None:
        tokenized.add(("writing", 0))
    levels = {("pooled_texts", 0)} if walks.levels_of(program) else set()
    tokenized |= levels
    results = {(output.buffer.name, 0) for output in program.outputs}
    events = [Event("tokenize", frozenset(), frozenset(tokenized))]
    if program.target_rules is not None:
        events += [one for step in program.steps[:-1] if not is_packed_for_steps(step) for one in unrolled(step)]
        return events + run_generation(program)
    for step in program.steps:
        if isinstance(step, p.Repeat) and step.over in ("texts", "masks"):
            blocks = range(BLOCKS) if step.over == "masks" else (None,)
            head = [event(op, block) for block in blocks for op in walks.ops_in(step)]
            found = {(name, block or 0) for name, _ in results for block in blocks}
            events += 2 * [*head, Event("result", frozenset({*found, *noted, *levels, ("texts", 0)}), frozenset())]
        else:
            events += unrolled(step)
    return events


LAYER = 1000  # cells of a cache that belong to one layer


def step_event(op: p.Op, layer: int, step: int | None, block: int | None = None) -> Event:
    """The event of an op that is repeated for each step (the number of it), or that packs for those: a row of a cache
    belongs to a layer and to a step."""
    if isinstance(op, p.EmbeddingSum):
        return Event("embed", frozenset({("written", 0)}), frozenset(cells(op.out, None)))

    def rows(cache: p.Buffer) -> set[tuple[str, int]]:
        first = LAYER * layer if cache.layers > 1 else 0
        return {(cache.name, first + row) for row in range(BLOCKS if cache.rows == "tokens" else (step or 0) + 1)}

    base = event(op, block)
    if isinstance(op, p.Attention):
        return Event("attend", frozenset(cells(op.query, None) | rows(op.keys) | rows(op.values)), base.writes)
    if isinstance(op, p.PackKeys | p.PackValues):
        row = (LAYER * layer if op.out.layers > 1 else 0) + (block if step is None else step)  # type: ignore[operator]
        scratch = {cell for cell in base.writes if cell[0] == "scratch"}
        return Event("append", base.reads, frozenset({(op.out.name, row), *scratch}))
    return base


def run_generation(program: p.Program) -> list[Event]:
    """What is packed for the steps, and three of them, each with what chooses its token."""
    *steps, repeat = program.steps
    assert isinstance(repeat, p.Repeat)
    events: list[Event] = []
    for step in filter(is_packed_for_steps, steps):
        for layer in range(step.count if isinstance(step, p.Loop) else 1):
            events += [step_event(op, layer, None, block) for block in range(BLOCKS) for op in walks.ops_in(step)]
    events.append(Event("begin", frozenset(), frozenset({("written", 0)})))
    prompt = () if program.target_rules is None or program.target_rules.begin else (("ids", 0),)
    for number in range(3):
        events.append(Event("next", frozenset((*prompt, ("writing", 0))), frozenset()))
        for part in repeat.body:
            for layer in range(part.count if isinstance(part, p.Loop) else 1):
                events += [step_event(op, layer, number) for op in walks.ops_in(part)]
        kept = frozenset({("written", 0), ("writing", 0)})
        events.append(Event("choose", kept | {("texts", 0), (program.output.name, 0)}, kept))
    return events


def is_packed_for_steps(step: p.Step) -> bool:
    """Whether what it packs is read in the steps."""
    ops = tuple(walks.ops_in(step))
    return any(isinstance(op, p.PackKeys) for op in ops) and not any(isinstance(op, p.Attention) for op in ops)


def unrolled(step: p.Step) -> list[Event]:
    if isinstance(step, p.Blocks):
        return [event(op, block) for block in range(BLOCKS) for op in step.body]
    if isinstance(step, p.Repeat):
        return 3 * [one for inner in step.body for one in unrolled(inner)]
    if not isinstance(step, p.Loop):
        return [event(step, None)]
    events = []
    for layer in range(step.count):
        for blocks in step.body:
            first_row_only = blocks.last_layer_first_row and layer == step.count - 1
            for block in range(1 if first_row_only else BLOCKS):
                events += [event(op, block) for op in blocks.body]
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
    placed = {item.name: item for region in plan.regions for item in region.placements}
    assert len(placed) == sum(len(region.placements) for region in plan.regions)
    every = alive_sets(run(program))
    assert {"scratch"}.union(*every) == set(placed)  # which lies somewhere even where no op needs any
    for region in plan.regions:
        inside = {item.name for item in region.placements}
        for alive in every:
            for one, other in itertools.combinations(sorted(alive & inside), 2):
                a, b = placed[one], placed[other]
                assert a.offset + a.size <= b.offset or b.offset + b.size <= a.offset, (one, other)
        for item in region.placements:
            assert item.offset >= 0
            assert item.offset % target.alignment == 0
            assert item.size > 0
        assert region.bytes == max((item.offset + item.size for item in region.placements), default=0)
        assert region.bytes < MAX_ARENA_BYTES
        really_needed = max(sum(placed[name].size for name in alive & inside) for alive in every)
        planned = max(
            sum(item.size for item in region.placements if item.first <= op <= item.last)
            for op in range(len(plan.op_names))
        )
        assert really_needed <= region.lower_bound == planned <= region.bytes


def generating(program: p.Program) -> p.Program:
    """A classifier's program with a phase behind its layers that is repeated: it reads the encoder's rows in every
    step, has the same layers on buffers of its own, and hands `state` on from one step to the next."""
    embedding, norm, layers, head = program.steps
    assert isinstance(norm, p.Norm)
    assert isinstance(layers, p.Loop)
    layers = replace(layers, body=tuple(replace(blocks, last_layer_first_row=False) for blocks in layers.body))

    def own(op: p.Op) -> p.Op:
        buffers = {name: value for name, value in vars(op).items() if isinstance(value, p.Buffer)}
        return replace(op, **{name: replace(value, name=f"step_{value.name}") for name, value in buffers.items()})

    state, row = replace(norm.out, name="state"), replace(norm.out, name="step_hidden")
    into, out_of = replace(norm, input=state, out=row), p.Multiply(row, norm.out, state)
    phase = p.Repeat("steps", (into, map_ops(layers, own), out_of))
    made = replace(program, steps=(embedding, norm, layers, replace(norm, out=state), phase, head))
    check_program(made)
    return made


def least_sizes(program: p.Program, plan: Plan, target: Target) -> dict[str, int]:
    """Bytes that each buffer's elements take, without any padding."""
    rows = {"tokens": program.max_tokens, "block": plan.row_block, "one": 1, "masks": target.mask_rows}
    sizes = {"ids": 4 * program.max_tokens, "segments": program.max_tokens, "tokenizer": TOKENIZER_BYTES}
    for op in walks.ops_of(program):
        for buffer in vars(op).values():
            if not isinstance(buffer, p.Buffer):
                continue
            count = rows[buffer.rows] * buffer.width
            size = 4 * count
            if buffer.storage == "quantized":
                size = count * target.encoded_row_bytes_per_value + 4 * rows[buffer.rows]
            elif buffer.storage in p.CACHES and program.recipe != "fp32":
                size = count + 4 * rows[buffer.rows] * buffer.heads
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
        with pytest.raises(AssertionError):
            check(program, moved(plan, name, hidden), TARGETS["host"])


def moved(plan: Plan, name: str, offset: int) -> Plan:
    """The same with a buffer at another offset of its region."""
    return replace(
        plan,
        regions=tuple(
            replace(
                region,
                placements=tuple(
                    replace(item, offset=offset) if item.name == name else item for item in region.placements
                ),
            )
            for region in plan.regions
        ),
    )


@pytest.mark.parametrize("target", TARGETS.values(), ids=lambda target: target.name)
@pytest.mark.parametrize("recipe", ["w8a8", "fp32"])
def test_a_phase_of_generation_is_planned(recipe: str, target: Target, tmp_path: Path) -> None:
    """The encoder's buffers and those of the phase take turns; what the phase reads from before does not."""
    write_tiny_checkpoint(tmp_path, layers=2)
    encoder = pipeline.lower(pipeline.load(tmp_path), recipe, None)
    program = generating(encoder)
    assert (walks.layers_of(encoder), walks.layers_of(program)) == (2, 4)
    in_loops = [[(slot.name, loop is None) for slot, loop in walks.slots_of(of)] for of in (program, encoder)]
    assert in_loops[0] == in_loops[1]
    plan = plan_memory(program, target, TOKENIZER_BYTES)
    check(program, plan, target)
    assert plan.arena_bytes < 2 * plan_memory(encoder, target, TOKENIZER_BYTES).arena_bytes
    regions = {"step_keys": "fast", "step_values": "fast", "keys": "fast", "state": "fast"}
    check(program, plan_memory(program, target, TOKENIZER_BYTES, regions), target)


@pytest.mark.parametrize("use", ["emulate", "render"])
def test_a_phase_that_writes_nothing_is_refused(use: str, tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    checkpoint = pipeline.load(tmp_path)
    made = pipeline.make_model("tiny", checkpoint, pipeline.to_graph(checkpoint, None), RECIPES["w8a8"], "host")
    program = generating(made.program)
    with pytest.raises(EtchError) as caught:
        if use == "emulate":
            emulate_texts(program, [Text([1, 2], [0, 0])])
        else:
            render_model(replace(made, program=program), "incbin")
    assert (caught.value.code, caught.value.stage) == ("phase-not-supported", use)


def test_row_block_is_the_largest_that_fits(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path, hidden=192, heads=3, intermediate=768, max_positions=1024)
    program = pipeline.lower(pipeline.load(tmp_path), "w8a8", None)
    for target in TARGETS.values():
        plan = plan_memory(program, target, TOKENIZER_BYTES)
        assert plan.row_block % target.block_granule == 0
        assert plan.row_block < program.max_tokens
        row = 0
        for buffer in {b for op in walks.ops_of(program) for b in vars(op).values() if isinstance(b, p.Buffer)}:
            if buffer.rows == "block":
                f32 = buffer.storage == "f32"
                width = buffer.width if f32 else -(-buffer.width // 16) * 16
                data = width * (4 if f32 else target.encoded_row_bytes_per_value)
                row += data if f32 else -(-data // target.alignment) * target.alignment + 4
        if plan.row_block > target.block_least_rows:
            assert plan.row_block * row <= target.block_bytes
        assert (plan.row_block + target.block_granule) * row > target.block_bytes
