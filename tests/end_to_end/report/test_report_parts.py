# SPDX-License-Identifier: Apache-2.0
"""Parts of tools/report by themselves: treemaps, names, which byte belongs to what."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("elftools", reason="pyelftools is not installed: tools/report and tools/test install it")

from codegen.building.symbol_names import scope, shortened
from codegen.errors import EtchError
from tools.reports.arena import timelines_of
from tools.reports.attribution import attribute
from tools.reports.elf_file import Image, Section, Symbol
from tools.reports.flash import _table_entries
from tools.reports.linker_map import LinkerMap, Origin, read_map
from tools.reports.model_folder import Model
from tools.reports.svg import ticks
from tools.reports.treemap import Box, treemap


@pytest.mark.parametrize("seed", range(20))
def test_boxes_have_the_areas_and_do_not_overlap(seed: int) -> None:
    chance = random.Random(seed)
    sizes = sorted(chance.choice((1, 10, 1000)) * chance.random() + 0.01 for _ in range(chance.randrange(1, 40)))[::-1]
    outer = Box(10, 20, 300, 170)
    boxes = treemap(sizes, outer)
    assert len(boxes) == len(sizes)
    for size, box in zip(sizes, boxes, strict=True):
        assert box.width * box.height == pytest.approx(size / sum(sizes) * outer.width * outer.height)
        assert box.x >= outer.x - 1e-6
        assert box.y >= outer.y - 1e-6
        assert box.x + box.width <= outer.x + outer.width + 1e-6
        assert box.y + box.height <= outer.y + outer.height + 1e-6
    for one, other in combinations(boxes, 2):
        wide = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
        high = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
        assert min(wide, high) <= 1e-6


def test_equal_sizes_become_squares() -> None:
    assert all(box.width == pytest.approx(box.height) for box in treemap([1.0] * 16, Box(0, 0, 100, 100)))


def test_tables_of_some_layers() -> None:
    """The layers that a table is of, where 8 and 4 bits are mixed; without a manifest its name says what it is."""
    table_list = {"query_nibbles": {"part": "query", "layers": [0, 2]}, "query_scales": {"part": "query", "layers": 3}}
    model = Model("tiny", {}, {"table_list": table_list})
    entries = list(_table_entries(model, "query_nibbles", 100, several=False))
    assert [(entry.group, entry.name, entry.bytes) for entry in entries] == [
        ("layer 0", "query_nibbles[0]", 50),
        ("layer 2", "query_nibbles[1]", 50),
    ]
    assert model.table("query_scales").layers == (0, 1, 2)
    unknown = Model("tiny", {}, None)
    assert [unknown.table(f"query_{role}").part for role in ("nibbles", "factors", "bias")] == ["query"] * 3


PLAN = {
    "name": "tiny",
    "arena_ops": ["tokenize", "key", "classifier"],
    "arena_bytes": 40,
    "arena_lower_bound": 40,
    "arena_buffers": {
        "a": {"offset": 0, "bytes": 30, "first_op": 0, "last_op": 1},
        "b": {"offset": 30, "bytes": 10, "first_op": 1, "last_op": 2},
    },
    "regions": {
        "fast": {"bytes": 20, "lower_bound": 20, "room": 32, "cost": 1},
        "slow": {"bytes": 40, "lower_bound": 40, "room": 64, "cost": 2},
    },
    "region_buffers": {"c": {"region": "fast", "offset": 0, "bytes": 20, "first_op": 1, "last_op": 2}},
}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every member of every object and list."""
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield (*path, key)
        yield from places(value[key], (*path, key))


def changed(chance: random.Random) -> dict[str, Any]:
    """PLAN with one to three members of it gone, as others are, or as large."""
    plan = copy.deepcopy(PLAN)
    for _ in range(chance.choice((1, 1, 2, 3))):
        *path, key = chance.choice(list(places(plan)))
        holder: Any = plan
        for part in path:
            holder = holder[part]
        if type(holder[key]) is int:
            holder[key] = chance.choice((0, 1, 2, 3, 10, 20, 30, 39, 40, 41))
        elif key == "region":
            holder[key] = chance.choice(("fast", "slow", "other"))
        elif path or key.startswith("region"):
            del holder[key]
    return plan


def is_typed(plan: dict[str, Any]) -> bool:
    """Whether codegen/folders/manifest.py would hand it on."""
    fields = {"offset", "bytes", "first_op", "last_op"}
    buffers = [plan["arena_buffers"], plan.get("region_buffers", {})]
    whole = [
        {*entry} >= fields | ({"region"} if of is buffers[1] else set()) for of in buffers for entry in of.values()
    ]
    whole += [{*entry} == {"bytes", "lower_bound", "room", "cost"} for entry in plan.get("regions", {}).values()]
    return all(whole)


def test_plans_that_contradict_themselves_are_refused_by_name() -> None:
    """Whatever is said of regions and buffers: what is accepted can be drawn and has a gap from 0 on."""
    chance, seen = random.Random(7), {"refused": 0, "accepted": 0}
    for _ in range(3000):
        plan = changed(chance)
        if not is_typed(plan):
            continue
        try:
            timelines = timelines_of(plan)
        except EtchError as error:
            assert error.code in ("manifest-malformed", "arena-overlap", "arena-bound"), plan
            seen["refused"] += 1
            continue
        seen["accepted"] += 1
        for timeline in timelines:
            assert timeline.gap >= 0 and timeline.bytes >= max(buffer.end for buffer in timeline.buffers)
            assert all(any(buffer.alive(op) for op in range(len(timeline.ops))) for buffer in timeline.buffers), plan
    assert min(seen.values()) > 300, seen


@pytest.mark.parametrize(
    ("symbol", "parts"),
    [
        ("main", ("main",)),
        ("_ZN4etch4abi39tokenizer4kTopE", ("etch", "abi3", "tokenizer", "kTop")),
        ("_ZNK4etch4abi38LinearS83runERKNS0_9OpContextEjj", ("etch", "abi3", "LinearS8", "run")),
        ("_ZNK4etch4abi39AttentionINS0_11S8HeadCacheEE3runERKNS0_9OpContextEjj", ("etch", "abi3", "Attention")),
        ("_ZN4etch4abi34avx212_GLOBAL__N_110chunk_sumsEv", ("etch", "abi3", "avx2", "", "chunk_sums")),
        ("_ZZN4etch6agnews5pieceEvE4kept", ("etch", "agnews", "piece")),
        ("_ZTVN4etch3cli1AE", ("etch", "cli", "A")),
        ("etch_agnews_classify", ("etch_agnews_classify",)),
    ],
)
def test_scope(symbol: str, parts: tuple[str, ...]) -> None:
    assert scope(symbol) == parts


@pytest.mark.parametrize(
    ("demangled", "short"),
    [
        ("etch::abi3::LinearS8::run(etch::abi3::OpContext const&, unsigned int) const", "LinearS8::run"),
        ("etch::abi3::Attention<etch::abi3::S8HeadCache>::run(etch::abi3::OpContext const&) const", "Attention::run"),
        ("void etch::abi3::avx2::(anonymous namespace)::TileS8<4u, etch::X>::run<5u>(int)", "avx2::TileS8::run"),
        ("main", "main"),
        ("vtable for etch::cli::Answer", "vtable for cli::Answer"),
        ("etch::agnews::kLabels", "agnews::kLabels"),
    ],
)
def test_short_names(demangled: str, short: str) -> None:
    assert shortened(demangled) == short


DATA = bytes(16) + b"\1" * 84
SECTION = Section(".rodata", 100, 100, 100, writable=False, code=False, data=DATA)


def pieces(symbols: list[tuple[str, int, int]], *origins: Origin) -> list[tuple[int, int, str, bool]]:
    """(offset, bytes, name, padding) of what `attribute` finds."""
    image = Image(
        "file",
        "ARM",
        32,
        hosted=False,
        sections=(SECTION,),
        symbols=tuple(Symbol(name, 100 + at, size, "object", False, True, ".rodata") for name, at, size in symbols),
        undefined=(),
        segment_bytes=100,
    )
    found = attribute(SECTION, image, LinkerMap((), {".rodata": origins}) if origins else None)
    assert [piece.address for piece in found] == [100, *(piece.address + piece.size for piece in found[:-1])]
    assert sum(piece.size for piece in found) == SECTION.size
    assert all(piece.size > 0 for piece in found)
    return [(p.address - 100, p.size, p.symbol.name if p.symbol else "", p.padding) for p in found]


def test_gaps_between_symbols() -> None:
    assert pieces([("a", 0, 10), ("b", 16, 60)]) == [
        (0, 10, "a", False),
        (10, 6, "", True),  # zeros, shorter than an alignment
        (16, 60, "b", False),
        (76, 24, "", False),  # not zeros: somebody's
    ]
    assert pieces([]) == [(0, 100, "", False)]


def test_two_names_of_one_thing() -> None:
    assert pieces([("small", 0, 10), ("large", 0, 40), ("inside", 20, 10), ("over", 30, 20), ("rest", 50, 500)]) == [
        (0, 40, "large", False),
        (40, 10, "over", False),
        (50, 50, "rest", False),
    ]


def test_labels_name_what_follows_them() -> None:
    assert pieces([("a", 0, 20), ("label", 30, 0)]) == [
        (0, 20, "a", False),
        (20, 10, "", False),
        (30, 70, "label", False),
    ]


def test_objects_of_the_map() -> None:
    origins = (Origin(100, 40, "", "a.o"), Origin(140, 8, "", ""), Origin(148, 52, "lib.a", "b.o"))
    assert pieces([("a", 0, 16)], *origins) == [
        (0, 16, "a", False),
        (16, 24, "", False),
        (40, 8, "", True),
        (48, 52, "", False),
    ]
    assert all(one[0] + one[1] == other[0] for one, other in pairwise(pieces([("a", 90, 10)], *origins)))


def test_ticks_are_round_numbers() -> None:
    assert ticks(84_656) == [0, 20_000, 40_000, 60_000, 80_000]
    assert ticks(7) == [0, 1, 2, 3, 4, 5, 6, 7]
    assert ticks(1) == [0, 1]


MAP = """Linker script and memory map

.rodata         0x0000000000001000       0x20
 .rodata.one    0x0000000000001000       0x10 libetch.a(one.cpp.o)
 .rodata.cst4   0x0000000000001010       0x10 libetch.a(one.cpp.o)
                                         0x14 (size before relaxing)
 .rodata.cst4   0x0000000000001020        0x4 libetch.a(two.cpp.o)
"""


def test_constants_that_the_linker_merged_take_no_bytes(tmp_path: Path) -> None:
    """The map lists them at the end of the section, beyond it."""
    path = tmp_path / "program.map"
    path.write_text(MAP)
    section = Section(".rodata", 0x1000, 0x1000, 0x20, False, False, bytes(0x20))
    image = Image("program", "x86-64", 64, True, (section,), (), (), 0x20)
    assert read_map(path, image).origins[".rodata"] == (
        Origin(0x1000, 0x10, "libetch.a", "one.cpp.o"),
        Origin(0x1010, 0x10, "libetch.a", "one.cpp.o"),
    )
    path.write_text(MAP.replace(".cst4", ".two"))
    with pytest.raises(EtchError, match=r"is not in \.rodata of program"):
        read_map(path, image)
