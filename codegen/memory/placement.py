# SPDX-License-Identifier: Apache-2.0
"""Offsets of what lies in one region of memory: those alive at the same time share no byte.

They come from first-fit placements in several orders and from what changes of these lower; the smallest result wins.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Placement:
    """A buffer's bytes [offset, offset + size) and the ops [first, last] that it is alive for."""

    name: str
    offset: int
    size: int
    first: int
    last: int


@dataclass
class Life:
    """A buffer's bytes, and the first and last op that it is alive for."""

    size: int
    first: int
    last: int


def lower_bound(lives: Collection[Life | Placement], ops: int) -> int:
    """The most bytes that are alive at one op: no placement can be smaller."""
    return max(sum(life.size for life in lives if life.first <= op <= life.last) for op in range(ops))


def place(lives: Mapping[str, Life | Placement]) -> tuple[Placement, ...]:
    """Offsets in one region, by offset."""

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
    bound = lower_bound(lives.values(), max((life.last for life in lives.values()), default=0) + 1)
    starts = sorted(((order, _first_fit(order, lives)) for order in orders), key=lambda pair: end_of(pair[1]))
    best = starts[0][1]
    for order, placed in starts:
        if end_of(best) <= bound:
            break
        best = min(best, _lowest(order, placed, lives, bound), key=end_of)
    return tuple(sorted(best, key=lambda item: (item.offset, item.name)))


def _lowest(
    order: list[str], placed: list[Placement], lives: Mapping[str, Life | Placement], bound: int
) -> list[Placement]:
    """What changes of an order lead to, each of which lowers the end, down to the bound."""
    while end_of(placed) > bound and (better := _lowered(order, placed, lives)) is not None:
        order, placed = better
    return placed


def _lowered(
    order: list[str], placed: list[Placement], lives: Mapping[str, Life | Placement]
) -> tuple[list[str], list[Placement]] | None:
    """The best of what comes of placing the highest buffer before one that it follows, or that one behind it; None
    where none is lower."""
    end = end_of(placed)
    highest = next(item.name for item in placed if item.offset + item.size == end)
    at = order.index(highest)
    moved = [[*order[:i], highest, *order[i:at], *order[at + 1 :]] for i in range(at)]
    moved += [[*order[:i], *order[i + 1 : at + 1], order[i], *order[at + 1 :]] for i in range(at)]
    found = min(((one, _first_fit(one, lives)) for one in moved), key=lambda pair: end_of(pair[1]), default=None)
    return found if found is not None and end_of(found[1]) < end else None


def end_of(placements: Iterable[Placement]) -> int:
    """Bytes from the begin of the region."""
    return max((item.offset + item.size for item in placements), default=0)


def _first_fit(order: list[str], lives: Mapping[str, Life | Placement]) -> list[Placement]:
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
