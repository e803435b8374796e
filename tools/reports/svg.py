# SPDX-License-Identifier: Apache-2.0
"""The report as a picture: a treemap of flash, a bar of RAM, what of a board's memories is taken, and the buffers of
the arena, or of each region, over the ops of a call.

The same report gives the same bytes. Every rectangle says what it is in a tooltip, and in a line below where its name
has no room; of single symbols only the tooltip does.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from xml.sax.saxutils import escape

from .arena import Buffer, Limit, Timeline
from .flash import CATEGORIES, Category, Flash
from .ram import KINDS, Kind, Ram
from .regions import Taken
from .report import Report
from .shapes import page, rectangle, text
from .text import described
from .treemap import Box, treemap

_WIDTH = 1200
_MARGIN = 24
_FLASH_HEIGHT = 460
_BAR_HEIGHT = 44
_REGION_HEIGHT = 22
_ARENA_HEIGHT = 380
_OP_LABELS = 96  # below the arena, where the ops' names are
_SCALE_LABELS = 70  # left of it, where the bytes are
_FONT, _SYMBOL_FONT, _SMALLEST_FONT = 12, 10, 8
_LETTER = 0.58  # of the font's size: its average width
_SMALLEST = 0.0004  # of the flash: smaller symbols are drawn as one

_FLASH_COLORS: dict[Category, str] = {
    "tables": "#a9c7e8",
    "code": "#f7b477",
    "constants": "#f5e08a",
    "initial values": "#d3b3d8",
    "loading": "#c9c5bf",
    "alignment": "#e9e6e1",
}
_RAM_COLORS: dict[Kind, str] = {
    "arena": "#a9c7e8",
    "copied tables": "#b5dcd8",
    "stack": "#f2a3a0",
    "zero at start (.bss)": "#f5e08a",
    "initialized (.data)": "#d3b3d8",
    "set by the loader": "#c9c5bf",
    "alignment": "#e9e6e1",
}
_MOST_TICKS = 8
_NAMES_LINE = 190  # letters
_BUFFER_COLORS = ("#a9c7e8", "#f7b477", "#a8d5a0", "#f2a3a0", "#b5dcd8", "#f5e08a", "#d3b3d8", "#ffc6cc", "#d2b9a4")


def svg_of(report: Report) -> str:
    y = 34.0
    body = [text(_MARGIN, y, f"{report.image.name}, {report.image.machine}", 20, weight="bold")]
    y += 34
    what = "Loaded from its file" if report.image.hosted else "Flash"
    body.append(text(_MARGIN, y, f"{what}: {report.flash.bytes:,} bytes", 15, weight="bold"))
    body += _legend({name: _FLASH_COLORS[name] for name in CATEGORIES if report.flash.category(name)}, y)
    box = Box(_MARGIN, y + 10, _WIDTH - 2 * _MARGIN, _FLASH_HEIGHT)
    unnamed: list[str] = []
    body += _flash(report.flash, box, unnamed)
    y += 10 + _FLASH_HEIGHT
    y += _names(unnamed, y, body) + 34
    body.append(text(_MARGIN, y, f"RAM: {report.ram.bytes:,} bytes", 15, weight="bold"))
    body += _legend({name: _RAM_COLORS[name] for name in KINDS if report.ram.kind(name)}, y)
    unnamed = []
    body += _ram(report.ram, Box(_MARGIN, y + 10, _WIDTH - 2 * _MARGIN, _BAR_HEIGHT), unnamed)
    y += 10 + _BAR_HEIGHT
    y += _names(unnamed, y, body) + 34
    if report.regions:
        body.append(text(_MARGIN, y, "Memories of the board", 15, weight="bold"))
        for taken in report.regions:
            y += 10
            body += _region(taken, Box(_MARGIN, y, _WIDTH - 2 * _MARGIN, _REGION_HEIGHT))
            y += _REGION_HEIGHT
        y += 34
    for timeline in report.timelines:
        title = described(timeline)
        body.append(text(_MARGIN, y, f"{title[0].upper()}{title[1:]}", 15, weight="bold"))
        left = _MARGIN + _SCALE_LABELS
        unnamed = []
        body += _arena(timeline, Box(left, y + 14, _WIDTH - _MARGIN - left, _ARENA_HEIGHT), unnamed)
        y += 14 + _ARENA_HEIGHT + _OP_LABELS
        y += _names(unnamed, y, body) + 34
    height = round(y - 34 + _MARGIN)
    return page(_WIDTH, height, body)


def _flash(flash: Flash, box: Box, unnamed: list[str]) -> Iterator[str]:
    """Groups as large boxes, each filled with its symbols."""
    groups = [(category, name, size) for category in CATEGORIES for name, size in flash.groups(category) if size]
    groups.sort(key=lambda group: (-group[2], group[0], group[1]))
    for (category, name, size), place in zip(groups, treemap([group[2] for group in groups], box), strict=True):
        symbols = [(e.name, e.bytes) for e in flash.entries if (e.category, e.group) == (category, name) and e.bytes]
        large = sorted((s for s in symbols if s[1] >= _SMALLEST * flash.bytes), key=lambda s: (-s[1], s[0]))
        rest = size - sum(symbol[1] for symbol in large)
        drawn = [*large, (f"{len(symbols) - len(large)} smaller ones", rest)] if rest else large
        drawn.sort(key=lambda symbol: -symbol[1])
        yield f"<g><title>{escape(f'{category}, {name}: {size:,} bytes')}</title>"
        for (symbol, bytes_), inner in zip(drawn, treemap([d[1] for d in drawn], place), strict=True):
            title = f"{category}, {name}: {symbol} {bytes_:,} bytes"
            yield rectangle(inner, _FLASH_COLORS[category], title, stroke="#ffffff", line=0.5)
            if (symbol, bytes_) != drawn[0]:  # the group's own label is there
                yield from _label(inner, symbol, f"{bytes_:,}", _SYMBOL_FONT)
        yield rectangle(place, "none", "", stroke="#ffffff", line=2.5)
        yield from _named(place, name, f"{size:,}", unnamed)
        yield "</g>"


def _ram(ram: Ram, box: Box, unnamed: list[str]) -> Iterator[str]:
    x = box.x
    for kind in KINDS:
        for use in sorted((use for use in ram.uses if use.kind == kind), key=lambda use: (-use.bytes, use.name)):
            width = box.width * use.bytes / ram.bytes
            place = Box(x, box.y, width, box.height)
            title = f"{kind}: {use.name} {use.bytes:,} bytes"
            yield rectangle(place, _RAM_COLORS[kind], title, stroke="#ffffff", line=0.5)
            region = None if use.holds is None else use.holds.region
            name = f"region {region}" if region else kind if kind in ("arena", "stack") else use.name
            yield from _named(place, name, f"{use.bytes:,}", unnamed)
            x += width


def _region(taken: Taken, box: Box) -> Iterator[str]:
    """What of one memory is taken, as a part of all of it."""
    words = f"{taken.region}: {taken.bytes:,} of {taken.of:,} bytes, {taken.bytes / taken.of:.1%}"
    yield rectangle(box, "#f4f3f0", words, stroke="#cccccc", line=1)
    part = min(1.0, taken.bytes / taken.of)
    yield rectangle(Box(box.x, box.y, box.width * part, box.height), "#a9c7e8", words, stroke="none", line=0)
    yield text(box.x + 6, box.y + box.height - 7, words, _FONT)


def _arena(timeline: Timeline, box: Box, unnamed: list[str]) -> Iterator[str]:
    """A column an op, offsets upwards: a buffer is a rectangle from the op that first needs it to the last. Limits are
    lines; one that is more than twice as high lies at the upper edge, and says so."""
    column = box.width / len(timeline.ops)
    most = max([timeline.bytes, *(limit.bytes for limit in timeline.limits if limit.bytes <= 2 * timeline.bytes)])
    if any(limit.bytes > most for limit in timeline.limits):
        most += most // 10  # room for its line

    def height_of(bytes_: int) -> float:
        return box.y + box.height * (1 - bytes_ / most)

    yield rectangle(box, "#f4f3f0", "", stroke="#cccccc", line=1)
    names = sorted({buffer.name for buffer in timeline.buffers})
    for buffer in timeline.buffers:
        place = Box(
            box.x + column * buffer.first,
            height_of(buffer.end),
            column * (buffer.last - buffer.first + 1),
            box.height * buffer.size / most,
        )
        color = _BUFFER_COLORS[names.index(buffer.name) % len(_BUFFER_COLORS)]
        yield rectangle(place, color, _lifetime(buffer, timeline), stroke="#ffffff", line=1)
        yield from _named(place, buffer.name, f"{buffer.size:,}", unnamed)
    for op, name in enumerate(timeline.ops):
        at = box.x + column * op
        live = height_of(timeline.live(op))
        title = escape(f"{name}: {timeline.live(op):,} bytes alive")
        yield (
            f'<line x1="{at:.2f}" y1="{live:.2f}" x2="{at + column:.2f}" y2="{live:.2f}" stroke="#111111" '
            f'stroke-width="2"><title>{title}</title></line>'
        )
        middle, below = at + column / 2, box.y + box.height + 10
        yield (
            f'<text x="{middle:.2f}" y="{below:.2f}" font-size="11" fill="#333333" text-anchor="end" '
            f'transform="rotate(-55 {middle:.2f} {below:.2f})">{escape(name)}</text>'
        )
    for bytes_ in ticks(most):
        yield text(box.x - 8, height_of(bytes_) + 4, f"{bytes_:,}", 11, anchor="end", color="#555555")
    label = 0.0
    for limit in sorted(timeline.limits, key=lambda limit: -limit.bytes):
        line = height_of(min(limit.bytes, most))
        label = max(line, label) + 13  # below the one before, where lines are near each other
        yield from _limit(limit, line, label, box, inside=limit.bytes <= most)
    yield text(box.x, box.y + box.height + _OP_LABELS, "black: bytes alive at an op", 11, color="#555555")


def _limit(limit: Limit, line: float, label: float, box: Box, *, inside: bool) -> Iterator[str]:
    """A dashed line across the picture at `line`, its name below at `label`."""
    words = f"{limit.name}: {limit.bytes:,} bytes" + ("" if inside else ", above this picture")
    right = box.x + box.width
    yield (
        f'<line x1="{box.x:.2f}" y1="{line:.2f}" x2="{right:.2f}" y2="{line:.2f}" stroke="#c0392b" '
        f'stroke-width="1.5" stroke-dasharray="6 4"><title>{escape(words)}</title></line>'
    )
    yield text(right - 6, label, words, 11, anchor="end", color="#a5281b")


def _lifetime(buffer: Buffer, timeline: Timeline) -> str:
    ops = f"{timeline.ops[buffer.first]} to {timeline.ops[buffer.last]}"
    return f"{buffer.name}: {buffer.size:,} bytes at {buffer.offset:,}, {ops}"


def ticks(most: int) -> list[int]:
    """Round numbers from 0 to `most`: multiples of 1, 2 or 5 times a power of ten, as few as keep to _MOST_TICKS."""
    steps = (digit * 10**power for power in range(len(str(most)) + 1) for digit in (1, 2, 5))
    step = next(step for step in steps if most // step < _MOST_TICKS)
    return list(range(0, most + 1, step))


def _named(box: Box, name: str, size: str, unnamed: list[str]) -> Iterator[str]:
    """The label of a box, or its place in `unnamed`."""
    label = list(_label(box, name, size, _FONT))
    if not label:
        unnamed.append(f"{name} {size}")
    yield from label


def _names(unnamed: list[str], y: float, body: list[str]) -> float:
    """Lines below, with what had no room above; their height."""
    if not unnamed:
        return 0
    lines = textwrap.wrap(f"too small for a name: {', '.join(unnamed)}", _NAMES_LINE, break_on_hyphens=False)
    body += [text(_MARGIN, y + 15 * (number + 1), line, 11, color="#555555") for number, line in enumerate(lines)]
    return 15 * len(lines)


def _label(box: Box, name: str, size: str, font: int) -> Iterator[str]:
    """Name and bytes in the corner of a box, as much of them as fits; smaller than `font` where that helps."""

    def fits(text: str, size: int) -> bool:
        return box.width >= _LETTER * size * len(text) + 6

    font = next((size for size in range(font, _SMALLEST_FONT - 1, -1) if fits(name, size)), 0)
    if font == 0 or box.height < font + 3:
        return
    yield text(box.x + 3, box.y + font + 1, name, font)
    if box.height >= 2 * font + 6 and fits(size, font):
        yield text(box.x + 3, box.y + 2 * font + 3, size, font)


def _legend(colors: dict[Category, str] | dict[Kind, str], y: float) -> Iterator[str]:
    x = 300.0
    for name, color in colors.items():
        yield rectangle(Box(x, y - 11, 12, 12), color, "", stroke="none", line=0)
        yield text(x + 17, y, name, 12)
        x += 34 + 12 * _LETTER * len(name)
