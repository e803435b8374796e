# SPDX-License-Identifier: Apache-2.0
"""The plan's numbers, worked out by hand for one small model, and its placements where a worse order would waste bytes.

test_plan.py shows that a plan is safe; this shows that it takes no more than it must.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from recorded.outputs import folder
from tiny_checkpoint import write_tiny_checkpoint

from codegen import pipeline
from codegen.errors import EtchError
from codegen.ir import program as p
from codegen.ir import walks
from codegen.memory.placement import Life, lower_bound, place
from codegen.memory.plan import SCRATCH, Plan, expanded_bytes, expanded_inputs, plan_memory
from codegen.targets import TARGETS, Target, round_up
from codegen.tasks.tagging import Tagging

TOKENIZER_BYTES = 700
TOKENS = 100
# 3 heads of 12 = 36 values, 20 inner values, 3 labels. Sizes are rounded up to the target's alignment, 64 or 16.
SHAPE = {"hidden": 36, "heads": 3, "layers": 2, "intermediate": 20, "max_positions": TOKENS, "labels": 3}

HOST = {
    "ids": 448,  # 4 * 100 = 400
    "segments": 128,  # 100
    "tokenizer": 704,  # 700
    "hidden": 14400,  # 4 * 100 * 36, as everything of float with a row per token or, here, per row of a block
    "projection": 14400,
    "query": 14400,
    "context": 14400,
    "inner": 8000,  # 4 * 100 * 20
    "pooled": 192,  # 4 * 36 = 144
    "logits": 64,  # 4 * 3 = 12
    "texts": 192,  # 20 * 7 = 140
}
M_PROFILE = {"ids": 400, "segments": 112, "tokenizer": 704, "hidden": 14400, "pooled": 144, "logits": 16, "texts": 144}
SIZES = {
    # An encoded row is 48 values (36 padded to 16) of 2 bytes, and a scale of 4.
    ("w8a8", "host"): HOST
    | {
        "hidden_q": 10048,  # 100 * 96 = 9600, + 400
        "context_q": 10048,
        "inner_q": 6848,  # 100 * 32 * 2 = 6400, + 400
        "first_q": 192,  # 96 -> 128, + 4
        "keys": 5248,  # 3 heads of 112 * 12 = 1344 bytes, + 3 * 400 for scales
        "values": 6016,  # 3 heads of 16 * 100 = 1600 bytes, + 3 * 400
        "scratch": 17024,  # 24 rows: query 32 * 24, scores 112 * 4 * 24, probabilities 224 * 24, factors 96 -> 128
    },
    # Blocks of 12 rows: 8192 bytes / (3 * 144 + 2 * 52 + 80 + 36) is 12. One byte an encoded value.
    ("w8a8", "m-profile"): M_PROFILE
    | {
        "projection": 1728,  # 4 * 12 * 36
        "query": 1728,
        "context": 1728,
        "inner": 960,  # 4 * 12 * 20
        "hidden_q": 624,  # 12 * 48 = 576, + 48
        "context_q": 624,
        "inner_q": 432,  # 12 * 32 = 384, + 48
        "first_q": 64,  # 48, + 4
        "keys": 6000,  # 3 heads of 100 * 16 bytes, + 3 * 400
        "values": 5232,  # 3 heads of 12 * 112 bytes, + 3 * 400
        "scratch": 2368,  # 4 rows: query 16 * 4, scores 112 * 4 * 4, probabilities 112 * 4, factors 16 -> 64
    },
    ("fp32", "host"): HOST
    | {
        "keys": 16128,  # 3 heads of 112 * 12 floats
        "values": 19200,  # 3 heads of 16 * 100 floats
        "scratch": 10880,  # scores and factors
    },
    # Blocks of 16 rows: 8192 bytes / (3 * 144 + 80) is 16.
    ("fp32", "m-profile"): M_PROFILE
    | {
        "projection": 2304,
        "query": 2304,
        "context": 2304,
        "inner": 1280,
        "keys": 14400,
        "values": 14400,
        "scratch": 1856,
    },
}
# Weights of 4 bits need 64 or 16 outputs of 36 (host: padded to 36, m-profile: to 48) values in scratch, which is less
# than attention needs; but every linear needs them.
for _target in ("host", "m-profile"):
    SIZES["w4a8", _target] = SIZES["w8a8", _target]
ROW_BLOCKS = {
    (recipe, target): rows
    for target, sizes in (("host", (TOKENS, TOKENS, TOKENS)), ("m-profile", (12, 12, 16)))
    for recipe, rows in zip(("w8a8", "w4a8", "fp32"), sizes, strict=True)
}
# Where the scales begin behind the data.
SCALES = {
    ("w8a8", "host"): ({"hidden_q": 9600, "context_q": 9600, "inner_q": 6400, "first_q": 128}, (4032, 4800)),
    ("w8a8", "m-profile"): ({"hidden_q": 576, "context_q": 576, "inner_q": 384, "first_q": 48}, (4800, 4032)),
}
SCALES |= {("w4a8", target): SCALES["w8a8", target] for target in ("host", "m-profile")}
# The ops of w8a8 that each buffer is alive for. Rows of all tokens that a loop carries live through all of it.
OPS = (
    *("tokenize", "embedding_sum", "embedding_norm"),
    *("quantize", "key", "pack_keys", "value", "pack_values", "quantize", "query", "attention", "quantize"),
    *("attention_output", "attention_norm", "quantize", "intermediate", "quantize", "output", "output_norm"),
    *("quantize", "pooler", "classifier"),
)
LIVES = {
    **{"ids": (0, 1), "segments": (0, 1), "tokenizer": (0, 0), "hidden": (1, 21), "texts": (0, 21)},
    **{"hidden_q": (3, 15), "projection": (4, 7), "keys": (3, 18), "values": (3, 18)},
    **{"query": (9, 10), "scratch": (5, 10), "context": (10, 11), "context_q": (11, 12)},
    **{"inner": (15, 16), "inner_q": (16, 17), "first_q": (19, 20), "pooled": (20, 21), "logits": (21, 21)},
}


def planned(
    tmp_path: Path,
    recipe: str,
    target: str,
    tokenizer_bytes: int = TOKENIZER_BYTES,
    shape: dict[str, int] = SHAPE,
) -> Plan:
    write_tiny_checkpoint(tmp_path, **shape)  # type: ignore[arg-type]
    program = pipeline.lower(pipeline.load(tmp_path), recipe, None)
    return plan_memory(program, TARGETS[target], tokenizer_bytes)


@pytest.mark.parametrize(("recipe", "target"), SIZES)
def test_every_byte_is_accounted_for(recipe: str, target: str, tmp_path: Path) -> None:
    plan = planned(tmp_path, recipe, target)
    assert {item.name: item.size for item in plan.placements} == SIZES[recipe, target]
    assert plan.row_block == ROW_BLOCKS[recipe, target]
    assert plan.scratch_bytes == SIZES[recipe, target]["scratch"]
    quantized, caches = SCALES.get((recipe, target), ({}, ()))
    assert plan.quantized_scales == quantized
    assert plan.cache_scales == dict(zip(("keys", "values"), caches, strict=False))
    assert plan.arena_bytes == plan.lower_bound
    assert plan.placements == tuple(sorted(plan.placements, key=lambda item: (item.offset, item.name)))
    for item in plan.placements:
        assert plan.offset(item.name) == item.offset


def test_every_life_is_as_short_as_it_can_be(tmp_path: Path) -> None:
    plan = planned(tmp_path, "w8a8", "host")
    assert plan.op_names == OPS
    assert {item.name: (item.first, item.last) for item in plan.placements} == LIVES


def test_linears_of_4_bits_need_scratch(tmp_path: Path) -> None:
    plan = planned(tmp_path, "w4a8", "host")
    (scratch,) = [item for item in plan.placements if item.name == "scratch"]
    assert (scratch.first, scratch.last) == (OPS.index("key"), OPS.index("pooler"))
    wide = planned(tmp_path / "wide", "w4a8", "m-profile", shape=SHAPE | {"intermediate": 601})
    assert wide.scratch_bytes == 16 * 608  # rows of 601 weights, padded to 16


def test_expanded_weights_are_padded() -> None:
    assert expanded_bytes(601, TARGETS["host"]) == 16 * 4 * 604
    assert expanded_bytes(601, TARGETS["m-profile"]) == 16 * 608


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS.keys())
def test_what_a_task_keeps_of_every_token_lives_throughout(target: Target, tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path, **SHAPE | {"max_positions": 208})  # type: ignore[arg-type]
    program = pipeline.lower(pipeline.load(tmp_path), "w8a8", None)
    kept = replace(program, outputs=(replace(program.outputs[0], task=Tagging(("O", "B-X", "I-X"))),))
    placed = {item.name: item for item in plan_memory(kept, target, TOKENIZER_BYTES).placements}
    for name, size in (("offsets", 8 * 208), ("marks", 208)):
        found = placed[name]
        assert found == replace(placed["texts"], name=name, offset=found.offset, size=round_up(size, target.alignment))
    assert placed["texts"].size == round_up(13 * 20, target.alignment)  # one text for 16 tokens


def test_mixed_bits_expand_the_widest_of_4(tmp_path: Path) -> None:
    """Of all linears `output` has the most inputs, but 8 bits."""
    write_tiny_checkpoint(tmp_path, **SHAPE | {"intermediate": 601})  # type: ignore[arg-type]
    bits = {"output": 8}
    program = pipeline.lower(pipeline.load(tmp_path), "w4a8", None, bits=bits)
    assert expanded_inputs(program) == SHAPE["hidden"]


@pytest.mark.parametrize(("kind", "taken"), [("s8", 4 * 12), ("f32", 0)])
def test_four_rows_of_a_head_are_packed_at_once(kind: p.Kind, taken: int, tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path, **SHAPE)  # type: ignore[arg-type]
    program = pipeline.lower(pipeline.load(tmp_path), "w8a8" if kind == "s8" else "fp32", None)
    packing = [op for op in walks.ops_of(program) if isinstance(op, p.PackKeys | p.PackValues)]
    assert [SCRATCH(op, program, TARGETS["host"]) for op in packing] == [taken, taken]


def test_the_limit_is_2_gib(tmp_path: Path) -> None:
    """The tokenizer's scratch lies beside texts, ids and segments only, so that it decides the arena to the byte."""
    sizes = SIZES["w8a8", "host"]
    room = (1 << 31) - sizes["texts"] - sizes["ids"] - sizes["segments"]
    assert planned(tmp_path / "fits", "w8a8", "host", room - 64).arena_bytes == (1 << 31) - 64
    with pytest.raises(EtchError, match="arena-too-large"):
        planned(tmp_path / "full", "w8a8", "host", room)


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS.keys())
def test_rows_of_a_block_where_hardly_any_fit(target: Target, tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path, hidden=1024, heads=8, intermediate=2048, max_positions=256)
    program = pipeline.lower(pipeline.load(tmp_path), "w8a8", None)
    assert target.block_least_rows <= target.block_rows_beyond < program.max_tokens
    least, beyond = target.block_least_rows, target.block_rows_beyond
    for tokens, rows in ((program.max_tokens, beyond), (3, 3), (least, least)):
        plan = plan_memory(p.Program(**(vars(program) | {"max_tokens": tokens})), target, TOKENIZER_BYTES)
        assert (plan.row_block, plan.blocks_fit) == (rows, rows <= least)


# Sizes and lives that only one of the orders places without a gap.
ONE_ORDER_ONLY = {
    "size": {"a": (2, 4, 5), "b": (2, 0, 2), "c": (1, 0, 3), "d": (3, 3, 5), "e": (2, 1, 1)},
    "length": {"a": (4, 1, 2), "b": (4, 0, 0), "c": (3, 5, 5), "d": (2, 2, 5), "e": (2, 3, 5)},
    "area": {"a": (3, 3, 5), "b": (3, 5, 5), "c": (4, 0, 2), "d": (4, 2, 5), "e": (1, 0, 3)},
    "area, a life of one op has some": {
        **{"a": (4, 0, 3), "b": (2, 3, 5), "c": (2, 5, 5)},
        **{"d": (5, 5, 5), "e": (5, 2, 5), "f": (4, 2, 3)},
    },
    "area, no more than its size": {"a": (2, 1, 4), "b": (4, 1, 2), "c": (3, 4, 4), "d": (2, 3, 4), "e": (1, 0, 3)},
    "begin": {"a": (2, 3, 5), "b": (4, 5, 5), "c": (3, 0, 3), "d": (2, 2, 3)},
    "end": {"a": (2, 4, 5), "b": (2, 1, 4), "c": (4, 2, 3), "d": (4, 5, 5)},
}


@pytest.mark.parametrize("order", ONE_ORDER_ONLY)
def test_each_order_is_the_best_one_somewhere(order: str) -> None:
    lives = {name: Life(*life) for name, life in ONE_ORDER_ONLY[order].items()}
    assert max(item.offset + item.size for item in place(lives)) == lower_bound(lives.values(), 6)


@pytest.mark.parametrize(("variant", "rows"), [("canine/groups", 26 // 3 + 2), ("canine/mean", None)])
def test_rows_of_groups(variant: str, rows: int | None) -> None:
    """26 tokens in 2 texts at most, in groups of 3; of the other one what reads a row of every token."""
    program = pipeline.lower(pipeline.load(folder(variant)), "fp32", None)
    plan = plan_memory(program, TARGETS["host"], TOKENIZER_BYTES)
    buffer = next(buffer for buffer in walks.buffers_of(program) if buffer.name == "molecules")
    most = program.max_tokens // buffer.rate + -(-program.max_tokens // 16)
    assert buffer.rate > 1
    assert rows in (None, most)
    assert plan.placement("molecules").size == round_up(4 * most * buffer.width, 64)
    assert plan.placement("hidden").size == round_up(4 * program.max_tokens * buffer.width, 64)
