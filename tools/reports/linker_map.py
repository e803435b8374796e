# SPDX-License-Identifier: Apache-2.0
"""A map that GNU ld wrote (-Wl,-Map=FILE): which object each byte of a linked file comes from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from .elf_file import Image
from .failure import refused, text_of

_REGIONS = "Memory Configuration"
_BEGIN = "Linker script and memory map"
_REGION = re.compile(r"(\w+)\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)\b")
_OUTPUT = re.compile(r"(\.?[\w.$-]+)(?:\s+0x[0-9a-f]+\s.*)?$")  # at the begin of a line
_INPUT = re.compile(r" (\*fill\*|\S+)?\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)(?: (.*))?$")
_NAME = re.compile(r" ([^\s*]\S*)$")  # of an input section, where the rest is on the next line
_MEMBER = re.compile(r"(.*)\((.*)\)$")
_MERGED = re.compile(r"\.(cst|str\d+\.)\d+$")  # ends the name of an input section whose constants the linker merges


@dataclass(frozen=True)
class Origin:
    """A contiguous part of a section, and the object that it comes from; none: space between objects."""

    address: int
    size: int
    archive: str  # a file's name, empty where the object was linked by itself
    object: str  # its path, or its name in the archive


@dataclass(frozen=True)
class Region:
    """Memory that the linker script names."""

    name: str
    address: int
    size: int

    def holds(self, address: int) -> bool:
        return self.address <= address < self.address + self.size


@dataclass(frozen=True)
class LinkerMap:
    regions: tuple[Region, ...]
    origins: dict[str, tuple[Origin, ...]]  # of each section of the linked file, by address


def read_map(path: Path, image: Image) -> LinkerMap:
    """The map of `image`; EtchError where it is none, or of another file."""
    lines = text_of(path).splitlines()
    if _BEGIN not in lines:
        raise refused("not-a-map", f"{path} is not a map of GNU ld")
    sections = {section.name: section for section in image.sections}
    origins: dict[str, list[Origin]] = {name: [] for name in sections}
    current = ""
    for line in _joined(lines[lines.index(_BEGIN) + 1 :]):
        if not line.startswith(" "):
            named = _OUTPUT.match(line)
            current = named[1] if named else ""
            continue
        found = _INPUT.match(line)
        size = int(found[3], 16) if found else 0
        if found is None or current not in sections or size == 0:
            continue
        origin = _origin(int(found[2], 16), size, found[4] or "")
        section = sections[current]
        # Constants that an object before it has too take no bytes, though the map says how many they were.
        if origin.address + size > section.end and _MERGED.search(found[1] or ""):
            continue
        if not section.address <= origin.address <= origin.address + size <= section.end:
            raise refused("map-of-another-file", f"{path}: {line.strip()} is not in {current} of {image.name}")
        origins[current].append(origin)
    by_address = {name: tuple(sorted(found, key=lambda o: o.address)) for name, found in origins.items()}
    return LinkerMap(_regions(lines), by_address)


def _regions(lines: list[str]) -> tuple[Region, ...]:
    """None where the linker script names none."""
    if _REGIONS not in lines:
        return ()
    listed = lines[lines.index(_REGIONS) + 1 : lines.index(_BEGIN)]
    found = [_REGION.match(line) for line in listed]
    return tuple(Region(line[1], int(line[2], 16), int(line[3], 16)) for line in found if line)


def _joined(lines: list[str]) -> list[str]:
    """A long name has a line of its own: one line of two."""
    joined: list[str] = []
    for line in lines:
        if joined and _NAME.match(joined[-1]) and line.startswith("    "):
            joined[-1] += line
        else:
            joined.append(line)
    return joined


def _origin(address: int, size: int, file: str) -> Origin:
    member = _MEMBER.match(file)
    if member:
        return Origin(address, size, Path(member[1]).name, member[2])
    return Origin(address, size, "", file)
