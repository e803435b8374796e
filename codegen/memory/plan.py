# SPDX-License-Identifier: Apache-2.0
"""Where every buffer lies: in the arena, or in another region of memory that it is named for.

Two buffers of a region may share bytes when no op needs both (liveness.py); placement.py finds the offsets. A region's
lower bound is the most that any single op needs of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..errors import EtchError
from ..ir import program as p
from ..ir import walks
from ..ir.global_rows import GlobalRows
from ..ir.row_groups import most_groups
from ..ir.stage import Stage
from ..targets import (
    ENCODED_PADDING,
    MEMORY_ALIGNMENT,
    PACKED_ALIGNMENT,
    PANEL_INPUTS,
    PANEL_WIDTH,
    Target,
    round_up,
)
from .call_memory import lives_of_calls, most_texts
from .liveness import lives_of, op_names
from .placement import Life, Placement, end_of, lower_bound, place

ARENA = "arena"  # the region of every buffer that is named for no other
MAX_ARENA_BYTES = 1 << 31  # of any region
FLOAT_BYTES = 4
WORD_ROWS, WORD_ENTRIES = 16, 6 * PANEL_WIDTH  # etch::kWordRows, kWordEntries


@dataclass(frozen=True)
class Region:
    """Memory of its own: offsets count from its begin."""

    name: str
    placements: tuple[Placement, ...]  # by offset
    bytes: int
    lower_bound: int

    @property
    def gap(self) -> float:
        """What it takes beyond its lower bound, in percent of that."""
        return 100.0 * (self.bytes - self.lower_bound) / max(self.lower_bound, 1)


@dataclass(frozen=True)
class Plan:
    row_block: int  # rows that a block holds
    # Whether such a block is within the target's block_bytes, or has no more rows than its least; else the CPU says at
    # run time how many rows a block has, row_block at most.
    blocks_fit: bool
    regions: tuple[Region, ...]  # the arena first
    op_names: tuple[str, ...]  # what the op indices of the placements stand for
    scratch_bytes: int
    quantized_scales: dict[str, int]  # of each quantized buffer: where its row scales begin, relative to its offset
    cache_scales: dict[str, int]  # of keys and values, likewise

    @property
    def placements(self) -> tuple[Placement, ...]:
        """Of the arena, by offset."""
        return self.regions[0].placements

    @property
    def arena_bytes(self) -> int:
        return self.regions[0].bytes

    @property
    def lower_bound(self) -> int:
        """Of the arena."""
        return self.regions[0].lower_bound

    def of_room(self, name: str) -> Region:
        """The region of this name; the arena where there is none."""
        return next((region for region in self.regions if region.name == name), self.regions[0])

    def region(self, name: str) -> Region:
        """The one that buffer `name` lies in."""
        return next(region for region in self.regions if any(item.name == name for item in region.placements))

    def placement(self, name: str) -> Placement:
        """Of buffer `name`, in its region."""
        return next(item for item in self.region(name).placements if item.name == name)

    def offset(self, name: str) -> int:
        """Of buffer `name`, from the begin of its region."""
        return self.placement(name).offset


def plan_memory(
    program: p.Program,
    target: Target,
    tokenizer_scratch_bytes: int,
    regions: Mapping[str, str] | None = None,
    most_pieces: int = 0,
) -> Plan:
    """Where the buffers of `program` lie for texts of up to its max_tokens: in the arena, or in the region that
    `regions` names for a buffer. Raises EtchError where a region would pass 2 GiB or is named for what is no buffer."""
    buffers = walks.buffers_of(program)
    row_block, blocks_fit = _choose_row_block(program, target, buffers)
    names, lives = op_names(program), lives_of(program)
    taken = [SCRATCH(op, program, target) for op in walks.ops_of(program)]
    scratch = max(*taken, 1)  # a worker's is never empty
    sizes: dict[str, int] = {}
    scales: dict[str, int] = {}
    for buffer in buffers:
        data, row_scales = _bytes(buffer, _rows(buffer, program, row_block, target), program, target)
        if program.target_rules is not None and buffer == program.output:
            data = 4 * logits_at_once(program)
        sizes[buffer.name] = max(sizes.get(buffer.name, 0), data + row_scales)
        if row_scales:
            scales[buffer.name] = max(scales.get(buffer.name, 0), data)
    planned = lives_of_calls(program, len(names) - 1, tokenizer_scratch_bytes, most_pieces)
    planned |= {name: Life(sizes[name], first, last) for name, (first, last) in lives.items()}
    scratched = [index for index, bytes_taken in enumerate(taken, 1) if bytes_taken] or [0]
    planned["scratch"] = Life(scratch, scratched[0], scratched[-1])
    planned = {name: replace(life, size=_aligned(life.size, target)) for name, life in planned.items()}
    kinds = {buffer.name: buffer.storage for buffer in buffers}
    return Plan(
        row_block=row_block,
        blocks_fit=blocks_fit,
        regions=_regions(planned, regions or {}, len(names)),
        op_names=tuple(names),
        scratch_bytes=_aligned(scratch, target),
        quantized_scales={name: at for name, at in scales.items() if kinds[name] == "quantized"},
        cache_scales={name: at for name, at in scales.items() if kinds[name] in p.CACHES},
    )


def _regions(planned: Mapping[str, Life], region_of: Mapping[str, str], ops: int) -> tuple[Region, ...]:
    """Each region's buffers placed without a look at the others."""
    for name in sorted(region_of.keys() - planned.keys()):
        message = f"region '{region_of[name]}' is to hold '{name}', which is no buffer"
        raise EtchError("region-of-nothing", "plan", message)
    regions: list[Region] = []
    for region in (ARENA, *sorted({*region_of.values()} - {ARENA})):
        lives = {name: life for name, life in planned.items() if region_of.get(name, ARENA) == region}
        placements = place(lives)
        size = end_of(placements)
        if size >= MAX_ARENA_BYTES:
            of = "the arena" if region == ARENA else f"region '{region}'"
            raise EtchError("arena-too-large", "plan", f"{of} would take {size} bytes: lower --max-tokens")
        regions.append(Region(region, placements, size, lower_bound(lives.values(), ops)))
    return tuple(regions)


def encoded_row_bytes(width: int, target: Target) -> int:
    """etch::encoded_row_bytes."""
    return round_up(width, ENCODED_PADDING) * target.encoded_row_bytes_per_value


# Bytes of a worker's scratch that an op needs.
SCRATCH: Stage[int] = Stage("plan")


@SCRATCH.on(
    *(p.EmbeddingSum, p.Norm, p.Quantize, p.Multiply, p.Add, p.CausalConvolution, p.Rotary, p.PackKeyRows, p.Pool),
    *(p.PackRows, p.CenteredConvolution, p.DynamicConvolution, p.Upsample, p.Copy),
    *(p.GroupRows, p.FirstRow, p.SpreadRows, p.RowOfToken),
    *(p.Xielu, p.EmbeddingMean, p.SelectRows, p.MixExperts, p.Masked, p.Normalize, p.Softmax, p.Cap),
)
def _none(op: p.Op, program: p.Program, target: Target) -> int:
    return 0


@SCRATCH.on(p.PackKeys, p.PackValues)
def _packed_rows(op: p.PackKeys | p.PackValues, program: p.Program, target: Target) -> int:
    """etch::pack_s8_scratch_bytes."""
    return 4 * op.shape.width if op.out.kind == "s8" else 0


@SCRATCH.on(p.Attention)
def attention_scratch_bytes(op: p.Attention, program: p.Program, target: Target) -> int:
    """etch::attention_s8_scratch_bytes or attention_f32_scratch_bytes, and what relative rows take behind it."""
    tile = target.attention_tile_rows
    tokens = steps_of(program) if op.keys.rows == "steps" else _rows(op.keys, program, 0, target)
    scores = _part(tile * round_up(tokens, PANEL_WIDTH) * FLOAT_BYTES)
    factors = _part(tile * FLOAT_BYTES)
    more = 0 if op.relative_rows is None else relative_scratch_bytes(tile, tokens)
    if op.sinks is not None:
        more += _part(tile * PANEL_WIDTH * FLOAT_BYTES)
    if op.pooled is not None:
        more += pooled_scratch_bytes(tile, tokens)
    if op.global_rows:
        more += global_scratch_bytes(tile, most_rows_of(op.global_rows, program))
    if op.kind == "f32":
        return scores + factors + more
    query = _part(tile * encoded_row_bytes(op.shape.width, target))
    return query + scores + _part(tile * encoded_row_bytes(tokens, target)) + factors + more


def most_rows_of(rows: GlobalRows, program: p.Program) -> int:
    """How many of a text they are at most."""
    return rows if isinstance(rows, int) else program.max_tokens


def global_scratch_bytes(tile: int, most: int) -> int:
    """etch::global_scratch_bytes."""
    return tile * round_up(most, PANEL_WIDTH) * FLOAT_BYTES + _part(tile * FLOAT_BYTES)


def relative_scratch_bytes(tile: int, tokens: int) -> int:
    """etch::relative_scratch_bytes."""
    most = max(_relative_product_bytes(tile, tokens), _relative_product_bytes(PANEL_WIDTH, tile))
    return _part(most) + _part(PANEL_WIDTH * FLOAT_BYTES)


def pooled_scratch_bytes(tile: int, tokens: int) -> int:
    """etch::pooled_products_bytes."""
    return _part(_relative_product_bytes(tile, tokens + tile + 1)) + _part(tile * PANEL_WIDTH * FLOAT_BYTES)


def _relative_product_bytes(rows: int, others: int) -> int:
    """etch::relative_product_bytes."""
    return rows * (round_up(rows + others - 1, PANEL_WIDTH) + PANEL_WIDTH) * FLOAT_BYTES


@SCRATCH.on(p.Linear, p.ExpertLinear, p.Best)
def _expanded(op: p.Linear | p.ExpertLinear | p.Best, program: p.Program, target: Target) -> int:
    """Weights of 4 bits are expanded there."""
    return expanded_bytes(op.input.width, target) if has_4_bits(op.weights) else 0


@SCRATCH.on(p.ChooseExperts)
def _scores(op: p.ChooseExperts, program: p.Program, target: Target) -> int:
    """etch::choose_experts_scratch_bytes."""
    return _part(op.scores.width * FLOAT_BYTES)


@SCRATCH.on(p.FourierRows)
def fourier_scratch_bytes(op: p.FourierRows, program: p.Program, target: Target) -> int:
    """etch::fourier_scratch_bytes."""
    return _part(2 * program.max_tokens * FLOAT_BYTES)


@SCRATCH.on(p.WordWeights)
def word_weights_scratch_bytes(op: p.WordWeights, program: p.Program, target: Target) -> int:
    """etch::word_weights_scratch_bytes, and what expands weights of 4 bits behind it."""
    own = WORD_ROWS * WORD_ENTRIES * FLOAT_BYTES
    return own + (expanded_bytes(op.input.width, target) if has_4_bits(op.weights) else 0)


@SCRATCH.on(p.DeltaRule)
def delta_scratch_bytes(op: p.DeltaRule, program: p.Program, target: Target) -> int:
    """etch::delta_scratch_bytes."""
    return _part((2 * op.key_width + 2 * op.value_width) * FLOAT_BYTES)


@SCRATCH.on(p.StateSpace)
def state_space_scratch_bytes(op: p.StateSpace, program: p.Program, target: Target) -> int:
    """etch::state_space_scratch_bytes."""
    return _part((2 * op.state_width + 2 * op.value_width) * FLOAT_BYTES)


@SCRATCH.on(p.Gru)
def gru_scratch_bytes(op: p.Gru, program: p.Program, target: Target) -> int:
    """etch::gru_scratch_bytes, and what expands weights of 4 bits behind it."""
    own = _part(3 * op.width * FLOAT_BYTES) + _part(encoded_row_bytes(op.width, target))
    return own + (expanded_bytes(op.width, target) if any(map(has_4_bits, op.weights)) else 0)


def expanded_inputs(program: p.Program) -> int:
    """The most inputs of a linear whose weights of 4 bits are expanded in scratch; 0 where there is none."""
    linears = [op for op in walks.ops_of(program) if isinstance(op, p.Linear | p.ExpertLinear | p.Best)]
    return max((op.input.width for op in linears if has_4_bits(op.weights)), default=0)


def has_4_bits(slot: p.WeightSlot) -> bool:
    """Whether any of the weights that it stores has."""
    entries = (entry for entry in slot.stored if isinstance(entry, p.LinearWeights))
    return any(isinstance(entry.matrix, p.S4Matrix) for entry in entries)


def expanded_bytes(inputs: int, target: Target) -> int:
    """etch::expanded_bytes."""
    return packed_s8_bytes(4 * PANEL_WIDTH if target.packing == "panel" else PANEL_WIDTH, inputs, target)


def packed_s8_bytes(outputs: int, inputs: int, target: Target) -> int:
    """etch::packed_s8_bytes."""
    if target.packing == "panel":
        return round_up(outputs, PANEL_WIDTH) * round_up(inputs, PANEL_INPUTS)
    return outputs * round_up(inputs, ENCODED_PADDING)


def _part(size: int) -> int:
    """etch::aligned_bytes, of a part of a worker's scratch."""
    return round_up(size, MEMORY_ALIGNMENT)


def _aligned(size: int, target: Target) -> int:
    return round_up(size, target.alignment)


def _rows(buffer: p.Buffer, program: p.Program, row_block: int, target: Target) -> int:
    beams = 1 if program.target_rules is None else program.target_rules.search.beams
    if buffer.rows == "steps":
        return steps_of(program) if beams == 1 else beams * slot_rows(program)
    of_beams = {"one": beams, "sequences": beams}
    tokens = program.max_tokens
    tokens = tokens if buffer.rate == 1 else most_groups(buffer.rate, tokens, most_texts(tokens))
    rows = of_beams | {"tokens": tokens, "block": row_block, "carried": 1, "masks": target.mask_rows}
    return buffer.times * rows[buffer.rows]


def steps_of(program: p.Program) -> int:
    """Most rows that a sequence which is written has in the caches."""
    assert program.target_rules is not None
    return program.target_rules.steps(program.max_tokens)


def slot_rows(program: p.Program) -> int:
    """The same of a beam: the next one's begin at a panel."""
    return round_up(steps_of(program), PANEL_WIDTH)


def logits_at_once(program: p.Program) -> int:
    """Values that the logits of a pass take: those of the whole vocabulary for one row, or of a block for each beam."""
    assert program.target_rules is not None
    entries, beams = program.target_rules.vocabulary, program.target_rules.search.beams
    if program.target_rules.all_logits:
        return entries * beams
    return max(entries, min(entries, p.VOCABULARY_BLOCK) * beams)


def _bytes(buffer: p.Buffer, rows: int, program: p.Program, target: Target) -> tuple[int, int]:
    """Data bytes and, behind them, scale bytes of a buffer."""
    if buffer.storage == "routes":  # etch::routes_bytes
        return 4 * (buffer.heads + 1 + 3 * rows * buffer.width), 0
    if buffer.storage in ("f32", "rows", "state"):
        return 4 * buffer.layers * rows * buffer.width, 0
    if buffer.storage == "quantized":
        return round_up(rows * encoded_row_bytes(buffer.width, target), target.alignment), 4 * rows
    heads, width = buffer.heads, buffer.width // buffer.heads
    if buffer.storage == "key_rows":
        if buffer.kind == "f32":
            return 4 * rows * buffer.width, 0
        return round_up(heads * rows * encoded_row_bytes(width, target), target.alignment), 4 * heads * rows
    n, k = (rows, width) if buffer.storage == "keys" else (width, rows)
    if buffer.kind == "f32":
        elements = round_up(n, PANEL_WIDTH) * k if target.packing == "panel" else n * k
        return 4 * buffer.layers * heads * elements, 0
    packed = round_up(packed_s8_bytes(n, k, target), PACKED_ALIGNMENT)
    return buffer.layers * heads * packed, 4 * buffer.layers * heads * rows


def _choose_row_block(program: p.Program, target: Target, buffers: list[p.Buffer]) -> tuple[int, bool]:
    """As many rows as keep a block's buffers within the target's block_bytes, a multiple of its granule; where these
    are fewer than its least, block_rows_beyond. And Plan.blocks_fit."""
    row_bytes = sum(sum(_bytes(buffer, buffer.times, program, target)) for buffer in buffers if buffer.rows == "block")
    if not row_bytes:
        return 1, True
    fitting = target.block_bytes // row_bytes // target.block_granule * target.block_granule
    if fitting >= target.block_least_rows:
        return min(fitting, program.max_tokens), True
    rows = min(target.block_rows_beyond, program.max_tokens)
    return rows, rows <= target.block_least_rows
