# SPDX-License-Identifier: Apache-2.0
"""SentencePiece's compiled map of characters, checked and used as it is.

The map is a double array (Darts-clone) and the texts that its keys become. The runtime follows it without looking at
bounds: every unit that a search may reach must be there, which is checked here for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..load.tokenizer_files.charsmap import charsmap_halves, malformed_charsmap

_BYTES = np.arange(1, 256)


@dataclass(frozen=True)
class Charsmap:
    """The two halves of a compiled map."""

    units: np.ndarray  # uint32, padded to what a search may reach
    texts: np.ndarray  # uint8, each text up to a zero
    splits_characters: bool  # whether a key ends within one

    def has_rule_for(self, byte: int) -> bool:
        """Whether a key is this byte."""
        at = _offset(int(self.units[0])) ^ byte
        unit = int(self.units[at])
        return unit & 0x800000FF == byte and bool(unit >> 8 & 1)

    def begins_in_ascii(self, byte: int) -> bool:
        """Whether a key is this byte, or goes on behind it with one of ASCII."""
        if self.has_rule_for(byte):
            return True
        at = _offset(int(self.units[0])) ^ byte
        unit = int(self.units[at])
        if unit & 0x800000FF != byte:
            return False
        place = at ^ _offset(unit)
        return any(int(self.units[place ^ following]) & 0x800000FF == following for following in range(1, 0x80))


def read_charsmap(blob: bytes) -> Charsmap:
    array, texts = charsmap_halves(blob)
    units = np.frombuffer(array, "<u4").astype(np.uint32)
    texts += b"\0"
    reached, values, splits_characters = _reached(units)
    if any(value >= len(texts) - 1 or texts[value] & 0xC0 == 0x80 for value in values):
        raise malformed_charsmap("a key becomes what is not there")
    most = max(place | 0xFF for place in reached) + 1
    padded = np.pad(units, (0, max(most - len(units), 0)))
    return Charsmap(padded, np.frombuffer(texts, np.uint8), splits_characters)


def _reached(units: np.ndarray) -> tuple[set[int], set[int], bool]:
    """The places from which a byte leads on, the values of all keys, and whether a key ends within a character."""
    count = len(units)
    padded = np.pad(units, (0, 0x100), constant_values=0xFFFFFFFF)  # no byte leads to what is behind the units
    labels = padded & 0x800000FF
    reached = {(_offset(int(units[0])), 0)}  # and how many bytes of a character are to come
    values: set[int] = set()
    splits_characters = False
    left = list(reached)
    while left:
        place, missing = left.pop()
        if place >= count:
            raise malformed_charsmap("its double array ends early")
        for byte in _BYTES[labels[place ^ _BYTES] == _BYTES].tolist():
            unit = int(padded[place ^ byte])
            following = place ^ byte ^ _offset(unit)
            if following >= count:
                raise malformed_charsmap("its double array ends early")
            more = missing - 1 if missing else _bytes_behind(byte)
            if unit >> 8 & 1:
                values.add(int(units[following]) & 0x7FFFFFFF)
                splits_characters |= more != 0
            if (following, more) not in reached:
                reached.add((following, more))
                left.append((following, more))
    return {place for place, _ in reached}, values, splits_characters


def _bytes_behind(first: int) -> int:
    """Of a character in UTF-8 that begins so."""
    return 0 if first < 0x80 else 1 if first < 0xE0 else 2 if first < 0xF0 else 3


def _offset(unit: int) -> int:
    return unit >> 10 << ((unit & 0x200) >> 6)
