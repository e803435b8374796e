# SPDX-License-Identifier: Apache-2.0
"""Squarified treemaps: rectangles of given areas that fill a rectangle and are as square as a greedy row can make them
(Bruls, Huizing, van Wijk 2000)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Box:
    x: float
    y: float
    width: float
    height: float


def treemap(sizes: Sequence[float], box: Box) -> list[Box]:
    """A box for each size, in the order given, which must be from the largest to the smallest; all are positive."""
    total = sum(sizes)
    scale = box.width * box.height / total if total else 0.0
    areas = [size * scale for size in sizes]
    placed: list[Box] = []
    while len(placed) < len(areas):
        side = min(box.width, box.height)
        row = [areas[len(placed)]]
        for area in areas[len(placed) + 1 :]:
            if _worst([*row, area], side) > _worst(row, side):
                break
            row.append(area)
        box = _lay(row, box, placed)
    return placed


def _worst(row: list[float], side: float) -> float:
    """The largest ratio of sides in a row along `side`."""
    total = sum(row)
    return max(side * side * max(row) / (total * total), total * total / (side * side * min(row)))


def _lay(row: list[float], box: Box, placed: list[Box]) -> Box:
    """Puts the row along the shorter side; what is left of the box."""
    total = sum(row)
    if box.width >= box.height:
        width = total / box.height
        at = box.y
        for area in row:
            placed.append(Box(box.x, at, width, area / width))
            at += area / width
        return Box(box.x + width, box.y, box.width - width, box.height)
    height = total / box.width
    at = box.x
    for area in row:
        placed.append(Box(at, box.y, area / height, height))
        at += area / height
    return Box(box.x, box.y + height, box.width, box.height - height)
