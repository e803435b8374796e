# SPDX-License-Identifier: Apache-2.0
"""`--table-region`: which table lies in which memory, in place or copied there before the first call.

Places come from the cheapest to the dearest, as regions of buffers do, and the same search finds what costs least: the
bytes that a call reads of each table of weights (table_traffic.py) times what a byte costs where it lies. A place that
is `copied` is RAM; where its tables are copied from, they lie in the last one. So do the tokenizer's, of which a text
touches little, and which are needed where no call checks that they are there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..errors import EtchError
from ..ir.program import Program
from ..pack.tables import Table
from ..targets import Target, round_up
from .placement import Placement
from .plan import Plan
from .regions import RegionSearch, Room, checked_rooms, parse_room
from .table_traffic import table_traffic

_COPIED = ",copied"


@dataclass(frozen=True)
class TablePlace:
    """Memory for tables. `room.cost` is that of a byte that is read there."""

    room: Room
    copied: bool = False  # RAM, to which tables are copied; else they are read where the program's file has them

    @property
    def name(self) -> str:
        return self.room.name


@dataclass(frozen=True)
class TablePlan:
    """Where each table lies; all together in one section where there are no places."""

    places: tuple[TablePlace, ...] = ()
    place_of: Mapping[str, TablePlace] = field(default_factory=dict)  # by the table's name

    def is_copied(self, table: str) -> bool:
        """Whether that table is, before the first call."""
        return table in self.place_of and self.place_of[table].copied

    def read_in(self, place: TablePlace, tables: Sequence[Table]) -> list[Table]:
        """Those that calls read there."""
        return [table for table in tables if self.place_of[table.name] == place]

    def bytes_of(self, place: TablePlace, tables: Sequence[Table], target: Target) -> int:
        """What a place takes; of the last one with those that others are copied from."""
        inside = self.read_in(place, tables)
        if place == self.places[-1]:
            inside += [table for table in tables if self.is_copied(table.name)]
        return sum(round_up(table.bytes, target.alignment) for table in inside)


def parse_place(text: str) -> TablePlace:
    """NAME=SIZE, NAME=SIZE,COST, either with ",copied" behind it. ValueError for anything else."""
    return TablePlace(parse_room(text.removesuffix(_COPIED)), text.endswith(_COPIED))


def checked_places(places: Sequence[TablePlace]) -> tuple[TablePlace, ...]:
    """Each with its cost, as of regions. EtchError where they contradict each other, or all are copied."""
    if not places:
        return ()
    rooms = checked_rooms([place.room for place in places], "--table-region", least=1)
    if places[-1].copied:
        message = f"--table-region: '{places[-1].name}', the last one, holds what is copied: it is not copied itself"
        raise EtchError("wrong-regions", "arguments", message)
    return tuple(TablePlace(room, place.copied) for room, place in zip(rooms, places, strict=True))


def choose_places(
    program: Program, target: Target, plan: Plan, tables: Sequence[Table], places: Sequence[TablePlace]
) -> TablePlan:
    """The place of each table. EtchError where they do not fit, or one of the places would stay empty."""
    if not places:
        return TablePlan()
    movable = {table.name: round_up(table.bytes, target.alignment) for table in tables if table.part != "tokenizer"}
    fixed = sum(round_up(table.bytes, target.alignment) for table in tables if table.part == "tokenizer")
    ways = _TableSearch(movable, fixed, table_traffic(program, plan, target, tables), places).chosen()
    last = len(places) - 1
    return TablePlan(tuple(places), {table.name: places[ways.get(table.name, last)] for table in tables})


class _TableSearch(RegionSearch):
    """Tables are all there all the time: what a place takes is their sum."""

    what = "tables"
    nothing = "no table would lie in '{}': none fits there, or the others are enough"

    def __init__(
        self, sizes: Mapping[str, int], fixed: int, traffic: Mapping[str, int], places: Sequence[TablePlace]
    ) -> None:
        tables = [Placement(name, 0, size, 0, 0) for name, size in sizes.items()]
        super().__init__(tables, traffic, [place.room for place in places])
        self._bytes = sizes
        self._fixed = fixed
        self._last = len(places) - 1
        self._copied = [index for index, place in enumerate(places) if place.copied]

    def _needed(self) -> Sequence[Room]:
        """But for the last one, where the tokenizer's lie."""
        return self._rooms[:-1]

    def _grown(self, index: int) -> Sequence[int]:
        """Where it is copied from, too."""
        return (index, self._last) if index in self._copied else (index,)

    def _size(self, ways: dict[str, int], index: int) -> int:
        inside = [index, *self._copied] if index == self._last else [index]
        own = self._fixed if index == self._last else 0
        return own + sum(size for name, size in self._bytes.items() if ways.get(name) in inside)

    def _bound(self, ways: dict[str, int], index: int) -> int:
        return self._size(ways, index)
