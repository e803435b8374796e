# SPDX-License-Identifier: Apache-2.0
"""What the program's writable memory is for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from .attribution import Piece, attribute
from .elf_file import Image
from .linker_map import LinkerMap
from .model_folder import Model

Kind = Literal["arena", "stack", "zero at start (.bss)", "initialized (.data)", "set by the loader", "alignment"]
KINDS: tuple[Kind, ...] = (
    "arena",
    "stack",
    "zero at start (.bss)",
    "initialized (.data)",
    "set by the loader",
    "alignment",
)
_LOADER = (".data.rel.ro", ".got", ".dynamic", ".init_array", ".fini_array", ".tm_clone_table")
_MOST_BESIDE_ARENA = 4096  # bytes that an object with a workspace in it has besides


@dataclass(frozen=True)
class Use:
    kind: Kind
    name: str
    bytes: int


@dataclass(frozen=True)
class Ram:
    uses: tuple[Use, ...]
    bytes: int

    def kind(self, kind: Kind) -> int:
        return sum(use.bytes for use in self.uses if use.kind == kind)


def ram_of(image: Image, models: list[Model], linker_map: LinkerMap | None, names: dict[str, str]) -> Ram:
    arenas = sorted(model.manifest["arena_bytes"] for model in models if model.manifest is not None)
    uses: list[Use] = []
    for section in image.in_ram:
        for piece in attribute(section, image, linker_map):
            uses += _uses(piece, arenas, names)
    return Ram(tuple(uses), sum(section.size for section in image.in_ram))


def _uses(piece: Piece, arenas: list[int], names: dict[str, str]) -> Iterator[Use]:
    section = piece.section
    name = names.get(piece.symbol.name, piece.symbol.name) if piece.symbol else f"without a symbol in {section.name}"
    if "stack" in section.name:
        yield Use("stack", name, piece.size)
        return
    if piece.padding:
        yield Use("alignment", section.name, piece.size)
        return
    arena = next((size for size in reversed(arenas) if size <= piece.size <= size + _MOST_BESIDE_ARENA), 0)
    if arena and piece.symbol is not None and section.data is None:
        yield Use("arena", name, arena)
        yield Use("zero at start (.bss)", f"{name}, beside the arena", piece.size - arena)
        return
    if section.name.startswith(_LOADER):
        yield Use("set by the loader", name, piece.size)
    elif section.data is None:
        yield Use("zero at start (.bss)", name, piece.size)
    else:
        yield Use("initialized (.data)", name, piece.size)
