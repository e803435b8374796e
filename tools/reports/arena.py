# SPDX-License-Identifier: Apache-2.0
"""The arena, or each region of a model that has several, over the ops of a call: what lies where and for how long, how
far that is from the least possible, and how much there might be."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

from codegen.errors import EtchError

from .failure import refused


@dataclass(frozen=True)
class Buffer:
    """Bytes [offset, offset + size) that are alive from the op `first` to the op `last`."""

    name: str
    offset: int
    size: int
    first: int
    last: int

    @property
    def end(self) -> int:
        return self.offset + self.size

    def alive(self, op: int) -> bool:
        return self.first <= op <= self.last


@dataclass(frozen=True)
class Limit:
    """What a region may not pass: the room that --region gave it, or the memory of the board that it lies in."""

    name: str
    bytes: int


@dataclass(frozen=True)
class Timeline:
    """One region of a model's memory. `region`: as --region named it; None of a model that has the arena only."""

    model: str
    region: str | None
    ops: tuple[str, ...]
    buffers: tuple[Buffer, ...]  # by offset
    bytes: int
    in_workspace: bool
    limits: tuple[Limit, ...]

    @property
    def name(self) -> str:
        """As people read it."""
        return f"arena of {self.model}" if self.region is None else f"region {self.region} of {self.model}"

    def live(self, op: int) -> int:
        return sum(buffer.size for buffer in self.buffers if buffer.alive(op))

    @property
    def lower_bound(self) -> int:
        """No plan can do with fewer: all these bytes are needed at one op."""
        return max(self.live(op) for op in range(len(self.ops)))

    @property
    def gap(self) -> float:
        return (self.bytes - self.lower_bound) / self.lower_bound


def timelines_of(manifest: dict[str, Any]) -> list[Timeline]:
    """The plans in etch.json, in the order of --region, checked anew: each buffer lies in one region and is alive for
    ops that there are, those that are alive together share no byte, none ends past its region. The types of all fields
    are checked already (codegen/folders/manifest.py). EtchError where something contradicts another thing."""
    arena = manifest["arena_buffers"]
    regions, others = manifest.get("regions"), manifest.get("region_buffers")
    if regions is None and others is None:
        return [_checked(manifest, None, arena, manifest["arena_bytes"], manifest["arena_lower_bound"])]
    if not regions or others is None:
        raise _malformed("'regions' and 'region_buffers' come together, and there is one region at least")
    twice = min(others.keys() & arena.keys(), default=None)
    if twice is not None:
        raise _malformed(f"{twice} lies in region '{others[twice]['region']}' and in the arena")
    beside: dict[str, dict[str, Any]] = {name: {} for name in regions}
    for name, entry in others.items():
        if entry["region"] not in beside:
            raise refused(
                "arena-overlap", f"etch.json: {name} lies in region '{entry['region']}', of which it says nothing"
            )
        beside[entry["region"]][name] = entry
    *_, last = beside  # the workspace's
    if beside[last]:
        raise refused("arena-overlap", f"etch.json: '{last}' is the workspace's, whose buffers are the arena's")
    beside[last] = arena
    for field in ("bytes", "lower_bound"):
        found, expected = regions[last][field], manifest[f"arena_{field}"]
        if found != expected:
            raise _malformed(f"'{field}' of region '{last}', the workspace's, is {found}, that of the arena {expected}")
    return [
        _checked(manifest, name, beside[name], region["bytes"], region["lower_bound"], Limit("room", region["room"]))
        for name, region in regions.items()
    ]


def _checked(
    manifest: dict[str, Any], region: str | None, entries: dict[str, Any], size: int, bound: int, *limits: Limit
) -> Timeline:
    buffers = [
        Buffer(name, entry["offset"], entry["bytes"], entry["first_op"], entry["last_op"])
        for name, entry in entries.items()
    ]
    timeline = Timeline(
        manifest["name"],
        region,
        tuple(manifest["arena_ops"]),
        tuple(sorted(buffers, key=lambda buffer: (buffer.offset, buffer.first, buffer.name))),
        size,
        entries is manifest["arena_buffers"],
        limits,
    )
    last = len(timeline.ops) - 1
    for buffer in buffers:
        if not buffer.first <= buffer.last <= last:
            raise _malformed(f"{buffer.name} is alive from op {buffer.first} to {buffer.last}, the last one is {last}")
    if not any(buffer.size for buffer in buffers):
        raise _malformed(f"the {timeline.name} holds nothing")
    for one, other in combinations(timeline.buffers, 2):
        together = one.first <= other.last and other.first <= one.last
        if together and one.offset < other.end and other.offset < one.end:
            raise refused("arena-overlap", f"etch.json: {one.name} and {other.name} are alive together and share bytes")
    if any(buffer.end > timeline.bytes for buffer in buffers):
        raise refused("arena-overlap", f"etch.json: a buffer ends past the {timeline.name}")
    if timeline.lower_bound != bound:
        raise refused(
            "arena-bound",
            f"etch.json says that at least {bound} bytes are needed, the buffers of the {timeline.name} need "
            f"{timeline.lower_bound}",
        )
    return timeline


def _malformed(message: str) -> EtchError:
    return refused("manifest-malformed", f"etch.json: {message}")
