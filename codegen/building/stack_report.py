# SPDX-License-Identifier: Apache-2.0
"""The worst-case stack that the build computed from the call graph (tools/stack), as it wrote it down."""

from __future__ import annotations

import re
from dataclasses import dataclass

_HEAD = re.compile(r"stack of (\S+), budget (\d+) bytes")
_LINE = re.compile(r" *(\d+)  (.+)")
_WHOLE = "whole program: "


@dataclass(frozen=True)
class Bound:
    bytes: int
    path: str  # functions and their frames, from the outermost down


@dataclass(frozen=True)
class Stack:
    of: str  # the program, or a model whose public functions these are
    budget: int
    whole: bool  # from reset on, interrupts included
    bounds: tuple[Bound, ...]  # deepest first

    @property
    def worst(self) -> Bound:
        return self.bounds[0]


def parse_stack(text: str) -> Stack:
    """ValueError for what tools/stack does not write."""
    lines = text.splitlines()
    head = _HEAD.fullmatch(lines[0]) if lines else None
    found = [_LINE.fullmatch(line) for line in lines[1:]]
    if head is None or not found or None in found:
        raise ValueError(text[:100])
    whole = found[0] is not None and found[0][2].startswith(_WHOLE)
    bounds = tuple(Bound(int(line[1]), line[2].removeprefix(_WHOLE)) for line in found if line)
    return Stack(head[1], int(head[2]), whole, bounds if whole else tuple(sorted(bounds, key=lambda b: -b.bytes)))
