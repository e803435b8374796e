# SPDX-License-Identifier: Apache-2.0
"""The arena over the ops of a call: what lies where and for how long, and how far that is from the least possible."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

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
class Timeline:
    model: str
    ops: tuple[str, ...]
    buffers: tuple[Buffer, ...]  # by offset
    bytes: int

    def live(self, op: int) -> int:
        return sum(buffer.size for buffer in self.buffers if buffer.alive(op))

    @property
    def lower_bound(self) -> int:
        """No plan can do with fewer: all these bytes are needed at one op."""
        return max(self.live(op) for op in range(len(self.ops)))

    @property
    def gap(self) -> float:
        return (self.bytes - self.lower_bound) / self.lower_bound


def timeline_of(manifest: dict[str, Any]) -> Timeline:
    """The plan in etch.json, checked anew: buffers that are alive together share no byte, none ends past the arena."""
    buffers = [
        Buffer(name, entry["offset"], entry["bytes"], entry["first_op"], entry["last_op"])
        for name, entry in manifest["arena_buffers"].items()
    ]
    timeline = Timeline(
        manifest["name"],
        tuple(manifest["arena_ops"]),
        tuple(sorted(buffers, key=lambda buffer: (buffer.offset, buffer.first, buffer.name))),
        manifest["arena_bytes"],
    )
    for one, other in combinations(timeline.buffers, 2):
        together = one.first <= other.last and other.first <= one.last
        if together and one.offset < other.end and other.offset < one.end:
            raise refused("arena-overlap", f"etch.json: {one.name} and {other.name} are alive together and share bytes")
    if any(buffer.end > timeline.bytes for buffer in buffers):
        raise refused("arena-overlap", "etch.json: a buffer ends past the arena")
    if timeline.lower_bound != manifest["arena_lower_bound"]:
        raise refused(
            "arena-bound",
            f"etch.json says that at least {manifest['arena_lower_bound']} bytes are needed, its buffers need "
            f"{timeline.lower_bound}",
        )
    return timeline
