# SPDX-License-Identifier: Apache-2.0
"""What the program's writable memory is for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from .arena import Timeline
from .attribution import Piece, attribute
from .elf_file import Image
from .linker_map import LinkerMap
from .model_folder import Model

Kind = Literal[
    "arena",
    "copied tables",
    "stack",
    "zero at start (.bss)",
    "initialized (.data)",
    "set by the loader",
    "alignment",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
_LOADER = (".data.rel.ro", ".got", ".dynamic", ".init_array", ".fini_array", ".tm_clone_table")
_MOST_BESIDE_ARENA = 4096  # bytes that an object with a workspace in it has besides


@dataclass(frozen=True)
class Use:
    kind: Kind
    name: str
    bytes: int
    address: int = 0
    holds: Timeline | None = None  # an arena or another region


@dataclass(frozen=True)
class Ram:
    uses: tuple[Use, ...]
    bytes: int

    def kind(self, kind: Kind) -> int:
        return sum(use.bytes for use in self.uses if use.kind == kind)


def ram_of(
    image: Image, models: list[Model], timelines: list[Timeline], linker_map: LinkerMap | None, names: dict[str, str]
) -> Ram:
    """What of `timelines` has static memory is known by its size."""
    copies = [model.symbols[table] for model in models for table in model.copied if table in model.symbols]
    uses: list[Use] = []
    for section in image.in_ram:
        for piece in attribute(section, image, linker_map):
            if piece.symbol in copies:
                uses.append(Use("copied tables", piece.symbol.name, piece.size))
            else:
                uses += _uses(piece, timelines, names)
    return Ram(tuple(uses), sum(section.size for section in image.in_ram))


def _uses(piece: Piece, timelines: list[Timeline], names: dict[str, str]) -> Iterator[Use]:
    section = piece.section
    name = names.get(piece.symbol.name, piece.symbol.name) if piece.symbol else f"without a symbol in {section.name}"
    if "stack" in section.name:
        yield Use("stack", name, piece.size)
        return
    if piece.padding:
        yield Use("alignment", section.name, piece.size)
        return
    region = _region_in(piece, timelines)
    if region is not None and piece.symbol is not None and section.data is None:
        yield Use("arena", name, region.bytes, piece.address, region)
        if piece.size > region.bytes:
            yield Use("zero at start (.bss)", f"{name}, beside the arena", piece.size - region.bytes)
        return
    if section.name.startswith(_LOADER):
        yield Use("set by the loader", name, piece.size)
    elif section.data is None:
        yield Use("zero at start (.bss)", name, piece.size)
    else:
        yield Use("initialized (.data)", name, piece.size)


def _region_in(piece: Piece, timelines: list[Timeline]) -> Timeline | None:
    """An array of just the region's size, or an object that has an arena in it."""
    exact = next((region for region in timelines if region.bytes == piece.size), None)
    arenas = sorted((region for region in timelines if region.in_workspace), key=lambda region: -region.bytes)
    larger = (region for region in arenas if region.bytes <= piece.size <= region.bytes + _MOST_BESIDE_ARENA)
    return exact or next(larger, None)
