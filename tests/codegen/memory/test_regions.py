# SPDX-License-Identifier: Apache-2.0
"""`--region`: which buffer lies where, against all ways to place a few; what is touched, by hand; refusals."""

from __future__ import annotations

import itertools
import random
import re
from argparse import ArgumentTypeError
from pathlib import Path

import pytest
from test_plan import TOKENIZER_BYTES, check
from tiny_checkpoint import write_tiny_checkpoint

from codegen import pipeline
from codegen.cli import main
from codegen.console.argument_types import positive
from codegen.errors import EtchError
from codegen.ir.program import Program
from codegen.memory.placement import Placement, end_of, place
from codegen.memory.plan import ARENA, plan_memory
from codegen.memory.regions import RegionSearch, Room, checked_rooms, choose_regions, parse_room
from codegen.memory.traffic import traffic_of
from codegen.targets import TARGETS, Target

OPS = 6
LONG_COST = "fast=1K,000000000112"  # 1 in its first ten digits


def random_search(seed: int) -> tuple[RegionSearch, list[str], tuple[Room, ...]]:
    source = random.Random(seed)
    count = source.randint(3, 6)
    buffers = []
    for index in range(count):
        first = source.randrange(OPS)
        buffers.append(Placement(f"b{index}", 0, 64 * source.randint(1, 9), first, source.randrange(first, OPS)))
    whole = end_of(place({item.name: item for item in buffers}))
    sizes = [int(whole * source.uniform(0.2, 0.9)) for _ in range(source.choice((2, 3)))]
    rooms = checked_rooms([Room("abc"[i], size) for i, size in enumerate(sizes)])
    traffic = {item.name: source.randrange(1, 5000) for item in buffers}
    return RegionSearch(buffers, traffic, rooms), [item.name for item in buffers], rooms


def test_what_is_found_is_near_the_best_of_all_ways() -> None:
    possible = best = 0
    for seed in range(60):
        search, names, rooms = random_search(seed)
        every = (dict(zip(names, way, strict=True)) for way in itertools.product(range(len(rooms)), repeat=len(names)))
        costs = [search.cost(ways) for ways in every if search.fits(ways, [room.bytes for room in rooms])]
        found = search.run()
        assert (found is not None) == bool(costs), seed
        if found is not None:
            assert search.fits(found, [room.bytes for room in rooms])
            assert search.cost(found) <= 1.2 * min(costs), seed
            possible += 1
            best += search.cost(found) == min(costs)
    assert possible > 25
    assert best >= 0.95 * possible


def small_program(folder: Path) -> Program:
    write_tiny_checkpoint(folder, layers=2, hidden=24, heads=2, intermediate=40, max_positions=32)
    return pipeline.lower(pipeline.load(folder), "w8a8", None)


@pytest.mark.parametrize("target", TARGETS.values(), ids=lambda target: target.name)
@pytest.mark.parametrize("shares", [(0.3, 0.9), (0.1, 0.2, 0.9), (0.6, 0.6)])
def test_every_region_holds_what_lies_there(target: Target, shares: tuple[float, ...], tmp_path: Path) -> None:
    program = small_program(tmp_path)
    whole = plan_memory(program, target, TOKENIZER_BYTES)
    rooms = checked_rooms([Room("xyz"[i], int(share * whole.arena_bytes)) for i, share in enumerate(shares)])
    chosen = choose_regions(program, target, whole, rooms)
    plan = plan_memory(program, target, TOKENIZER_BYTES, chosen)
    check(program, plan, target)
    assert {region.name for region in plan.regions} == {ARENA, *(room.name for room in rooms[:-1])}
    assert all(0 < plan.of_room(room.name).bytes <= room.bytes for room in rooms)


def test_what_is_touched(tmp_path: Path) -> None:
    """By hand: a layer's parts that are easily counted, in a model with two layers, texts of 32 tokens."""
    program, target = small_program(tmp_path), TARGETS["m-profile"]
    plan = plan_memory(program, target, TOKENIZER_BYTES)
    traffic, sizes = traffic_of(program, plan, target), {item.name: item.size for item in plan.placements}
    blocks = -(-32 // plan.row_block)
    layers = 2
    # Written once a layer; read by 4 rows of queries at a time.
    assert traffic["keys"] == layers * sizes["keys"] * (1 + 32 // 4)
    assert traffic["values"] == layers * sizes["values"] * (1 + 32 // 4)
    # Written by attention, read by what quantizes it, in each block.
    assert traffic["context"] == layers * blocks * sizes["context"] * 2
    # Written by that, read by a linear of 24 outputs: twice 16.
    assert traffic["context_q"] == layers * blocks * sizes["context_q"] * (1 + 2)
    # Written by tokenization and read by it or the embedding.
    assert traffic["ids"] == sizes["ids"] + sizes["ids"]
    assert traffic["scratch"] >= layers * 2 * 2 * (32 // 4) * plan.scratch_bytes // 2
    assert set(traffic) == set(sizes)


def test_what_is_touched_most_lies_in_the_cheapest_region(tmp_path: Path) -> None:
    program, target = small_program(tmp_path), TARGETS["m-profile"]
    plan = plan_memory(program, target, TOKENIZER_BYTES)
    traffic = traffic_of(program, plan, target)
    most = max(plan.placements, key=lambda item: traffic[item.name] / item.size)
    rooms = checked_rooms([Room("fast", most.size), Room("slow", plan.arena_bytes)])
    assert choose_regions(program, target, plan, rooms)[most.name] == "fast"


def test_what_a_refusal_says_is_enough(tmp_path: Path) -> None:
    program, target = small_program(tmp_path), TARGETS["m-profile"]
    plan = plan_memory(program, target, TOKENIZER_BYTES)
    rooms = [Room("fast", plan.arena_bytes // 6), Room("slow", plan.arena_bytes // 3)]
    with pytest.raises(EtchError) as caught:
        choose_regions(program, target, plan, checked_rooms(rooms))
    assert (caught.value.code, caught.value.stage) == ("regions-too-small", "plan")
    suggested = re.findall(r"(fast|slow)=(\d+)(?: or| would)", str(caught.value))
    assert [name for name, _ in suggested] == ["fast", "slow"]
    for name, size in suggested:
        enough = [Room(room.name, int(size) if room.name == name else room.bytes) for room in rooms]
        assert choose_regions(program, target, plan, checked_rooms(enough))
        assert int(size) > next(room.bytes for room in rooms if room.name == name)
        assert int(size) % 64 == 0


@pytest.mark.parametrize(
    ("buffers", "rooms"),
    [
        # Two buffers have to change places.
        ([(40, 58), (16, 29), (48, 68), (48, 84), (40, 4)], [(64, 1), (80, 2), (96, 4)]),
        # What fits the cheapest region has to lie there at the start.
        ([(24, 57), (24, 47), (40, 96), (16, 5), (8, 4)], [(48, 1), (64, 2), (96, 4)]),
        # Regions have to be filled at the start: moves alone do not lead there.
        ([(24, 95), (32, 25), (24, 75), (48, 28), (24, 63)], [(48, 1), (56, 2), (56, 4)]),
    ],
)
def test_the_best_of_all_ways_is_found(buffers: list[tuple[int, int]], rooms: list[tuple[int, int]]) -> None:
    """Of buffers, bytes and how many are touched, that are alive together; of rooms, bytes and cost."""
    placed = [Placement(f"b{i}", 0, size, 0, 0) for i, (size, _) in enumerate(buffers)]
    traffic = {f"b{i}": touched for i, (_, touched) in enumerate(buffers)}
    search = RegionSearch(placed, traffic, [Room("xyz"[i], *room) for i, room in enumerate(rooms)])
    found = search.run()
    assert found is not None
    sizes = [size for size, _ in rooms]
    ways = (
        {item.name: i for item, i in zip(placed, way, strict=True)} for way in itertools.product((0, 1, 2), repeat=5)
    )
    assert search.cost(found) == min(search.cost(one) for one in ways if search.fits(one, sizes))


def test_a_region_that_nothing_lies_in_is_refused(tmp_path: Path) -> None:
    program, target = small_program(tmp_path), TARGETS["m-profile"]
    plan = plan_memory(program, target, TOKENIZER_BYTES)
    with pytest.raises(EtchError) as caught:
        choose_regions(program, target, plan, checked_rooms([Room("fast", 1 << 20), Room("slow", 1 << 20)]))
    assert (caught.value.code, caught.value.stage) == ("region-empty", "plan")
    assert "'slow'" in str(caught.value)


def test_rooms_as_they_are_written() -> None:
    assert parse_room("fast=64K") == Room("fast", 64 << 10)
    assert parse_room("psram=8M,20") == Room("psram", 8 << 20, 20)
    for text in (
        "fast",
        "fast=",
        "=64K",
        "Fast=1K",
        "a_b=1K",
        "fast=1K,0",
        "fast=1K,",
        "fast=1K,1001",
        "fast=1K,x",
        LONG_COST,
    ):
        with pytest.raises(ValueError):
            parse_room(text)
    costs = [room.cost for room in checked_rooms([Room("a", 1), Room("b", 1), Room("c", 1)])]
    assert costs == [1, 2, 4]
    assert checked_rooms([]) == ()


def test_how_many_rooms_there_may_be() -> None:
    rooms = [Room(name, 1) for name in "abcde"]
    assert [len(checked_rooms(rooms[:count])) for count in (2, 4)] == [2, 4]
    assert checked_rooms(rooms[:1], "--table-region", 1) == (Room("a", 1, 1),)
    for count, option, least, says in (
        (1, "--region", 2, "--region: expected 2 to 4 of them, of which the last one is the workspace's, got 1"),
        (5, "--region", 2, "--region: expected 2 to 4 of them, of which the last one is the workspace's, got 5"),
        (5, "--table-region", 1, "--table-region: expected 1 to 4 of them, got 5"),
    ):
        with pytest.raises(EtchError) as caught:
            checked_rooms(rooms[:count], option, least)
        assert caught.value.message == says


@pytest.mark.parametrize("text", ["0", "00000000011048577", "1048577", "", "-1", "1x", "\u0661", "9" * 5000])
def test_what_is_no_number(text: str) -> None:
    assert positive("1048576") == 1 << 20
    with pytest.raises(ArgumentTypeError, match="is not a number from 1 to 1048576"):
        positive(text)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["a=1K"], "got 1"),
        ([f"r{i}=1K" for i in range(5)], "got 5"),
        (["a=1K", "a=2K"], "'a' twice"),
        (["a=1K", "b=1K,2"], "with each region, or with none"),
        (["a=1K,3", "b=1K,2"], "the cheapest first"),
    ],
)
def test_wrong_regions_are_refused(
    options: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_tiny_checkpoint(tmp_path / "checkpoint")
    given = [word for option in options for word in ("--region", option)]
    assert main(["generate", str(tmp_path / "checkpoint"), "--out", str(tmp_path / "out"), *given]) == 2
    message = capsys.readouterr().err
    assert "error[wrong-regions]" in message
    assert says in message
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("other", [["--gpu"], ["--max-ram", "64K", "--evaluate", "none.csv"]])
def test_what_goes_without_regions_refuses_them(
    other: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["generate", "none", "--out", str(tmp_path / "out"), "--region", "a=1K", "--region", "b=1M", *other]
    assert main(arguments) == 2
    assert "error[option-conflict]" in capsys.readouterr().err
