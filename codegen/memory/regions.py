# SPDX-License-Identifier: Apache-2.0
"""`--region`: which buffer lies in which region of memory.

Regions come from the cheapest to the dearest; the last one is the workspace's own arena. Sought is what costs least:
the bytes that a call touches of each buffer (traffic.py) times what a byte costs in its region, added up. Each region
is planned alone, so that buffers that are never alive together share its bytes; no region may be planned larger than
it is. The search goes from what is touched most per byte to the rest, and from the largest to the rest, then moves
single buffers and exchanges pairs while that lowers the cost. It is none over all ways, of which there are too many;
the tests compare it with one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import combinations

from ..errors import EtchError
from ..ir.program import Program
from ..sizes import number_from_1, parse_size
from ..targets import Target
from ..tokenizer import TokenizerTables
from .placement import Placement, end_of, lower_bound, place
from .plan import ARENA, Plan, plan_memory
from .traffic import traffic_of

MOST_REGIONS = 4
MOST_COST = 1000
_ROOM_STEP = 64  # what a refusal suggests is a multiple of it
_NAME = re.compile(r"[a-z][a-z0-9]{0,15}")


@dataclass(frozen=True)
class Room:
    """A region as the user gives it; `cost` of a byte that is read or written there, in any unit."""

    name: str
    bytes: int
    cost: int | None = None

    def __str__(self) -> str:
        return f"{self.name}={self.bytes}"


def parse_room(text: str) -> Room:
    """NAME=SIZE or NAME=SIZE,COST. ValueError for anything else."""
    name, separator, rest = text.partition("=")
    size, comma, cost = rest.partition(",")
    if not separator or _NAME.fullmatch(name) is None:
        raise ValueError(text)
    return Room(name, parse_size(size), number_from_1(cost, MOST_COST) if comma else None)


def checked_rooms(rooms: Sequence[Room], option: str = "--region", least: int = 2) -> tuple[Room, ...]:
    """Each with its cost: where none is given, 1 for the first and twice as much for each further one. EtchError where
    they are not at least so many, have a name twice, or become cheaper."""
    if not rooms:
        return ()
    if not least <= len(rooms) <= MOST_REGIONS:
        last = ", of which the last one is the workspace's" if least > 1 else ""
        raise _wrong(f"{option}: expected {least} to {MOST_REGIONS} of them{last}, got {len(rooms)}")
    names = [room.name for room in rooms]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise _wrong(f"{option} names '{twice[0]}' twice")
    given = [room.cost is not None for room in rooms]
    if any(given) and not all(given):
        raise _wrong(f"{option}: a cost is given with each region, or with none")
    costed = tuple(
        Room(room.name, room.bytes, 1 << index if room.cost is None else room.cost) for index, room in enumerate(rooms)
    )
    costs = [room.cost or 0 for room in costed]
    if costs != sorted(costs):
        raise _wrong(f"{option}: name the cheapest first")
    return costed


def plan_in(rooms: Sequence[Room], program: Program, target: Target, tokenizer: TokenizerTables) -> Plan:
    """The plan of a program in these regions, or in the arena alone where there are none."""
    scratch, pieces = tokenizer.constants["scratch_bytes"], tokenizer.constants["most_pieces"]
    plan = plan_memory(program, target, scratch, most_pieces=pieces)
    if not rooms:
        return plan
    return plan_memory(program, target, scratch, choose_regions(program, target, plan, rooms), pieces)


def choose_regions(program: Program, target: Target, plan: Plan, rooms: Sequence[Room]) -> dict[str, str]:
    """For each buffer of a plan with one arena the region that it is to lie in, ARENA for the last. EtchError where no
    way is found in which everything fits, or one of the regions would stay empty."""
    ways = RegionSearch(plan.placements, traffic_of(program, plan, target), rooms).chosen()
    last = len(rooms) - 1
    return {name: ARENA if index == last else rooms[index].name for name, index in ways.items()}


def _wrong(message: str) -> EtchError:
    return EtchError("wrong-regions", "arguments", message)


_Ways = dict[str, int]  # of each buffer the number of its region


class RegionSearch:
    """Of buffers, what is touched of each, and the rooms they may lie in."""

    what = "buffers"
    nothing = "nothing would lie in region '{}': everything fits the others; leave it out"

    def __init__(self, buffers: Sequence[Placement], traffic: Mapping[str, int], rooms: Sequence[Room]) -> None:
        self._buffers = {item.name: item for item in sorted(buffers, key=lambda item: item.name)}
        self._traffic = traffic
        self._rooms = rooms
        self._sizes: dict[tuple[str, ...], int] = {}
        self._ops = max(item.last for item in buffers) + 1

    def chosen(self) -> _Ways:
        """The best that is found. EtchError where nothing fits, or a room would stay empty."""
        ways = self.run()
        if ways is None:
            raise EtchError("regions-too-small", "plan", self.suggestion())
        empty = self.empty(ways)
        if empty is not None:
            raise EtchError("region-empty", "plan", self.nothing.format(empty.name))
        return ways

    def run(self) -> _Ways | None:
        """The best that is found; None where nothing fits."""
        sizes = [room.bytes for room in self._rooms]
        starts = [self._filled(sizes, order) for order in (self._density, self._bulk)]
        starts += [self._least_of(index) for index in range(len(self._rooms))]
        ended = [self._cheaper(ways, sizes) for ways in starts if self.fits(ways, sizes)]
        return min(ended, key=self.cost, default=None)

    def cost(self, ways: _Ways) -> int:
        """Of all buffers where they are."""
        return sum(self._traffic.get(name, 0) * (self._rooms[index].cost or 0) for name, index in ways.items())

    def empty(self, ways: _Ways) -> Room | None:
        """The first room that has to hold something and does not."""
        used = set(ways.values())
        return next((room for index, room in enumerate(self._needed()) if index not in used), None)

    def suggestion(self) -> str:
        """What is too small, and which larger sizes would do, each by itself."""
        needs = [str(room) for index in range(len(self._rooms)) if (room := self._enough(index)) is not None]
        given = f"the {self.what} do not fit {', '.join(map(str, self._rooms))} bytes"
        if not needs:
            return f"{given}; no larger one alone would do"
        return f"{given}; with the others as they are {' or '.join(needs)} would do"

    def _needed(self) -> Sequence[Room]:
        """The rooms that are to hold something, from the first on."""
        return self._rooms

    def _enough(self, index: int) -> Room | None:
        """This room as large as it would have to be; None where the others are too small all the same."""
        size = self._size(self._least_of(index), index)
        room = replace(self._rooms[index], bytes=-(-size // _ROOM_STEP) * _ROOM_STEP)
        larger = copy(self)
        larger._rooms = [*self._rooms[:index], room, *self._rooms[index + 1 :]]
        ways = larger.run()
        return None if ways is None or larger.empty(ways) is not None else room

    def _density(self, name: str) -> tuple[float, str]:
        """Bytes that are touched of each."""
        return -self._traffic.get(name, 0) / max(self._buffers[name].size, 1), name

    def _bulk(self, name: str) -> tuple[float, str]:
        return -self._buffers[name].size, name

    def _filled(self, sizes: Sequence[int | None], order: Callable[[str], tuple[float, str]]) -> _Ways:
        """Each buffer, in this order, in the first region that has room for it; what finds none in the last one. A size
        of None is that of a region that is not filled, but takes what finds no room."""
        rest = next((index for index, size in enumerate(sizes) if size is None), len(sizes) - 1)
        ways: _Ways = {}
        for name in sorted(self._buffers, key=order):
            ways[name] = rest
            for index, size in enumerate(sizes):
                if index != rest and size is not None and self._has_room(ways | {name: index}, index, sizes):
                    ways[name] = index
                    break
        return ways

    def _has_room(self, ways: _Ways, index: int, sizes: Sequence[int | None]) -> bool:
        """Whether what has just been put into this region fits it, and what that takes elsewhere."""
        return self.fits(ways, [size if other in self._grown(index) else None for other, size in enumerate(sizes)])

    def _grown(self, index: int) -> Sequence[int]:
        """The regions that become larger by what lies in this one."""
        return (index,)

    def _least_of(self, index: int) -> _Ways:
        """As little in a region as the others leave it, which hold no more than they may."""
        sizes = [None if other == index else room.bytes for other, room in enumerate(self._rooms)]

        def taken(ways: _Ways) -> tuple[int, int]:
            return self._size(ways, index), sum(self._buffers[name].size for name in ways if ways[name] == index)

        starts = [self._filled(sizes, order) for order in (self._bulk, self._density)]
        return self._lowered(min(starts, key=taken), taken, sizes)

    def _cheaper(self, ways: _Ways, sizes: Sequence[int | None]) -> _Ways:
        return self._lowered(ways, lambda changed: (self.cost(changed), 0), sizes)

    def _lowered(self, ways: _Ways, score: Callable[[_Ways], tuple[int, int]], sizes: Sequence[int | None]) -> _Ways:
        """Changed as long as that lowers the score and everything fits."""
        while True:
            lower = [changed for changed in self._changes(ways) if score(changed) < score(ways)]
            lower.sort(key=score)
            found = next((changed for changed in lower if self.fits(changed, sizes)), None)
            if found is None:
                return ways
            ways = found

    def _changes(self, ways: _Ways) -> Iterator[_Ways]:
        """One buffer in another region, or two that change places."""
        for name, region in ways.items():
            yield from (ways | {name: other} for other in range(len(self._rooms)) if other != region)
        for one, another in combinations(ways, 2):
            if ways[one] != ways[another]:
                yield ways | {one: ways[another], another: ways[one]}

    def fits(self, ways: _Ways, sizes: Sequence[int | None]) -> bool:
        """Whether no region is planned larger than its size; None is no limit."""
        limited = [(index, size) for index, size in enumerate(sizes) if size is not None]
        if any(self._bound(ways, index) > size for index, size in limited):  # quicker to find
            return False
        return all(self._size(ways, index) <= size for index, size in limited)

    def _bound(self, ways: _Ways, index: int) -> int:
        """Bytes that no plan of a region can do without."""
        inside = [self._buffers[name] for name in self._buffers if ways.get(name) == index]
        return lower_bound(inside, self._ops) if inside else 0

    def _size(self, ways: _Ways, index: int) -> int:
        """Bytes that the plan of a region takes."""
        inside = tuple(name for name in self._buffers if ways.get(name) == index)
        if inside not in self._sizes:
            self._sizes[inside] = end_of(place({name: self._buffers[name] for name in inside}))
        return self._sizes[inside]
