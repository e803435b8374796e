# SPDX-License-Identifier: Apache-2.0
"""Buffers that lie in other regions than the arena: each region is planned as if there were no other."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from test_plan import TOKENIZER_BYTES, check, moved
from tiny_checkpoint import write_tiny_checkpoint

from codegen import pipeline
from codegen.errors import EtchError
from codegen.ir import program as p
from codegen.memory.plan import plan_memory
from codegen.render.arena import arena_lines
from codegen.targets import TARGETS, Target


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("target", TARGETS.values(), ids=lambda target: target.name)
def test_every_region_is_planned_alone(target: Target, seed: int, tmp_path: Path) -> None:
    """Buffers lie in regions chosen by chance; nothing but where they lie is another than in one arena."""
    write_tiny_checkpoint(tmp_path, layers=2)
    program = pipeline.lower(pipeline.load(tmp_path), "w8a8", None)
    whole = plan_memory(program, target, TOKENIZER_BYTES)
    assert [region.name for region in whole.regions] == ["arena"]
    source = random.Random(seed)
    chosen = {item.name: source.choice(("slow", "fast", "arena")) for item in whole.placements if source.random() < 0.8}
    plan = plan_memory(program, target, TOKENIZER_BYTES, chosen)
    check(program, plan, target)
    assert [region.name for region in plan.regions] == ["arena", *sorted({*chosen.values()} - {"arena"})]
    for item in whole.placements:
        region = plan.region(item.name)
        assert region.name == chosen.get(item.name, "arena")
        (there,) = (other for other in region.placements if other.name == item.name)
        assert there == replace(item, offset=plan.offset(item.name))
    assert sum(region.lower_bound for region in plan.regions) >= whole.lower_bound
    for region in plan.regions:
        assert region.bytes * 100 == pytest.approx(region.lower_bound * (100 + region.gap))


def test_an_overlap_counts_inside_a_region_only(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path, layers=2)
    program = pipeline.lower(pipeline.load(tmp_path), "w8a8", None)
    plan = plan_memory(program, TARGETS["host"], TOKENIZER_BYTES, {"keys": "caches", "values": "caches"})
    check(program, plan, TARGETS["host"])
    assert {plan.offset("keys"), plan.offset("values")} & {item.offset for item in plan.placements}
    with pytest.raises(AssertionError):
        check(program, moved(plan, "values", plan.offset("keys")), TARGETS["host"])


def test_a_region_of_nothing_is_refused(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    program = pipeline.lower(pipeline.load(tmp_path), "w8a8", None)
    with pytest.raises(EtchError) as caught:
        plan_memory(program, TARGETS["host"], TOKENIZER_BYTES, {"keys": "fast", "beams": "fast"})
    assert (caught.value.code, caught.value.stage) == ("region-of-nothing", "plan")
    assert "'beams'" in str(caught.value)


def test_the_struct_of_the_plan_says_where_each_region_begins(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    program = pipeline.lower(pipeline.load(tmp_path), "w8a8", None)
    plan = plan_memory(program, TARGETS["host"], TOKENIZER_BYTES, {"hidden": "fast", "ids": "fast"})
    lines = {
        name: line for line in arena_lines(program, plan) for name in ("hidden", "ids", "keys") if f" {name}" in line
    }
    assert all("fast_base" in lines[name] for name in ("hidden", "ids"))
    assert "fast_base" not in lines["keys"]


@pytest.mark.parametrize("region", ["arena", "caches"])
def test_a_region_past_2_gib_is_refused(region: str, tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path, hidden=512, heads=2, max_positions=4096)
    program = pipeline.lower(pipeline.load(tmp_path), "w8a8", None)
    huge = p.Program(**(vars(program) | {"max_tokens": 1 << 20}))
    regions = (
        {} if region == "arena" else {item.name: region for item in plan_memory(program, TARGETS["host"], 1).placements}
    )
    with pytest.raises(EtchError) as caught:
        plan_memory(huge, TARGETS["host"], TOKENIZER_BYTES, regions)
    assert (caught.value.code, caught.value.stage) == ("arena-too-large", "plan")
    assert "--max-tokens" in str(caught.value)
    assert region in str(caught.value)
