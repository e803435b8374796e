# SPDX-License-Identifier: Apache-2.0
"""Every byte of a section belongs to one piece: a symbol, an object's unnamed bytes, or space between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from .elf_file import Image, Section, Symbol
from .linker_map import LinkerMap, Origin

_LONGEST_PADDING = 64  # bytes: what the largest alignment of an object can leave between two


@dataclass(frozen=True)
class Piece:
    section: Section
    address: int
    size: int
    symbol: Symbol | None
    origin: Origin | None
    padding: bool = False  # between two objects or functions


def attribute(section: Section, image: Image, linker_map: LinkerMap | None) -> list[Piece]:
    """The pieces of a section by address, without gap or overlap."""
    origins = linker_map.origins.get(section.name, ()) if linker_map else ()
    cuts = _cuts(section, image.symbols, origins)
    named = _largest_first([symbol for symbol in image.symbols if symbol.section == section.name and symbol.size])
    pieces: list[Piece] = []
    at = section.address
    for symbol in named:
        begin, end = max(symbol.address, at), min(symbol.address + symbol.size, section.end)
        if end <= begin:
            continue  # another name of what has one
        pieces += _unnamed(section, at, begin, cuts, origins)
        pieces.append(Piece(section, begin, end - begin, symbol, _origin_at(begin, origins)))
        at = end
    return pieces + list(_unnamed(section, at, section.end, cuts, origins))


def _largest_first(symbols: list[Symbol]) -> list[Symbol]:
    """By address; of several at one, the largest first, and the one that other objects see."""
    return sorted(symbols, key=lambda s: (s.address, -s.size, s.weak, not s.external, s.name))


def _cuts(section: Section, symbols: tuple[Symbol, ...], origins: tuple[Origin, ...]) -> dict[int, Symbol | None]:
    """Where unnamed bytes are cut: at labels, which have a name but no size, and at objects."""
    cuts: dict[int, Symbol | None] = {}
    for origin in origins:
        cuts |= {origin.address: None, origin.address + origin.size: None}
    for symbol in _largest_first([symbol for symbol in symbols if symbol.section == section.name and not symbol.size]):
        cuts.setdefault(symbol.address, symbol)
        cuts[symbol.address] = cuts[symbol.address] or symbol
    return cuts


def _unnamed(
    section: Section, begin: int, end: int, cuts: dict[int, Symbol | None], origins: tuple[Origin, ...]
) -> Iterator[Piece]:
    places = sorted({begin, *(at for at in cuts if begin < at < end), end})
    for at, until in pairwise(places):
        origin, label = _origin_at(at, origins), cuts.get(at)
        yield Piece(section, at, until - at, label, origin, label is None and _is_padding(section, at, until, origin))


def _is_padding(section: Section, begin: int, end: int, origin: Origin | None) -> bool:
    """What no object claims; without a map, zeros or instructions that are shorter than an alignment."""
    if origin is not None:
        return not origin.object
    if end - begin >= _LONGEST_PADDING or section.data is None:
        return False
    return section.code or not any(section.data[begin - section.address : end - section.address])


def _origin_at(address: int, origins: tuple[Origin, ...]) -> Origin | None:
    low, high = 0, len(origins)
    while low < high:
        middle = (low + high) // 2
        if origins[middle].address <= address:
            low = middle + 1
        else:
            high = middle
    origin = origins[low - 1] if low else None
    return origin if origin and address < origin.address + origin.size else None
