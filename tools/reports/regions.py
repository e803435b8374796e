# SPDX-License-Identifier: Apache-2.0
"""How much of each memory of the board is taken, and in which of them the regions of a model lie."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .arena import Limit, Timeline
from .elf_file import Image
from .linker_map import LinkerMap
from .ram import Ram


@dataclass(frozen=True)
class Taken:
    region: str
    bytes: int
    of: int


def regions_of(image: Image, linker_map: LinkerMap | None) -> list[Taken]:
    """Empty where the linker script names no memory. Initial values count twice: in flash, and where they are used."""
    taken = []
    for region in linker_map.regions if linker_map else ():
        loaded = sum(s.size for s in image.in_file if region.holds(s.load_address))
        elsewhere = [s for s in image.in_ram if s.data is None or s.address != s.load_address]
        used = sum(s.size for s in elsewhere if region.holds(s.address))
        taken.append(Taken(region.name, loaded + used, region.size))
    return taken


def limited(timelines: list[Timeline], ram: Ram, linker_map: LinkerMap | None) -> list[Timeline]:
    """Each with the memory of the board that it lies in as a limit, where it has static memory and the map tells."""
    memories = linker_map.regions if linker_map else ()
    found = []
    for timeline in timelines:
        use = next((use for use in ram.uses if use.holds is timeline), None)
        memory = next((memory for memory in memories if use is not None and memory.holds(use.address)), None)
        more = () if memory is None else (Limit(f"memory {memory.name}", memory.size),)
        found.append(replace(timeline, limits=(*timeline.limits, *more)))
    return found
