# SPDX-License-Identifier: Apache-2.0
"""How much of each memory of the board is taken."""

from __future__ import annotations

from dataclasses import dataclass

from .elf_file import Image
from .linker_map import LinkerMap


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
