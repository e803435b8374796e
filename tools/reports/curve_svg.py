# SPDX-License-Identifier: Apache-2.0
"""Accuracy over flash as a picture: a dot a point, the limits as lines."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from codegen.sizes import parse_size

from .curve import Curve, Point, described
from .failure import refused
from .shapes import page, rectangle, text
from .treemap import Box

_WIDTH, _HEIGHT = 900, 460
_PLOT = Box(80, 60, 780, 330)
_DOT = 8.0
_LINE, _GRID = "#2a6db0", "#dddddd"


def curve_svg(curve: Curve) -> str:
    """The same curve gives the same bytes. EtchError where it has no point."""
    if not curve.points:
        raise refused("curve-failed", "no model fits any of the limits: there is nothing to draw")
    most = max([parse_size(point.limit) for point in curve.points] + [parse_size(limit) for limit, _ in curve.refused])
    bottom, top = _scale([point.accuracy for point in curve.points])
    return page(_WIDTH, _HEIGHT, _body(curve, most, bottom, top))


def _scale(values: list[float]) -> tuple[int, int]:
    """Whole multiples of 5 around all values, apart also where all are 100."""
    return min(int(min(values) // 5 * 5), 95), min(100, int(max(values) // 5 * 5 + 5))


def _body(curve: Curve, most: int, bottom: int, top: int) -> Iterator[str]:
    def x_of(size: int) -> float:
        return _PLOT.x + _PLOT.width * size / most

    def y_of(accuracy: float) -> float:
        return _PLOT.y + _PLOT.height * (top - accuracy) / (top - bottom)

    rows = curve.points[0].rows
    yield text(
        _PLOT.x, 34, f"Accuracy on {rows:,} rows over all flash of the firmware, {curve.board}", 17, weight="bold"
    )
    yield rectangle(_PLOT, "#fafafa", "", stroke="#cccccc", line=1)
    for per_cent in range(bottom, top + 1, 5 if top - bottom > 10 else 1):
        yield _line(_PLOT.x, y_of(per_cent), _PLOT.x + _PLOT.width, y_of(per_cent), _GRID, 1)
        yield text(_PLOT.x - 8, y_of(per_cent) + 4, f"{per_cent} %", 12, anchor="end", color="#555555")
    below = _PLOT.y + _PLOT.height
    for limit in [point.limit for point in curve.points] + [limit for limit, _ in curve.refused]:
        at = x_of(parse_size(limit))
        yield _line(at, _PLOT.y, at, below, _GRID, 1)
        yield text(at, below + 18, limit, 12, anchor="middle", color="#555555")
    for limit, _ in curve.refused:
        yield text(x_of(parse_size(limit)), below - 8, "nothing fits", 11, anchor="middle", color="#a03030")
    points = sorted(curve.points, key=lambda point: point.flash)
    for one, other in pairwise(points):
        yield _line(x_of(one.flash), y_of(one.accuracy), x_of(other.flash), y_of(other.accuracy), _LINE, 2)
    for point in points:
        yield from _dot(point, x_of(point.flash), y_of(point.accuracy))
    yield text(
        _PLOT.x + _PLOT.width / 2,
        _HEIGHT - 16,
        "limit of the flash; dots: bytes of the linked ELF",
        12,
        anchor="middle",
    )


def _dot(point: Point, x: float, y: float) -> Iterator[str]:
    title = f"{point.limit}: {described(point)}, {point.pieces:,} pieces, {point.options}"
    yield rectangle(Box(x - _DOT / 2, y - _DOT / 2, _DOT, _DOT), _LINE, title, stroke="#ffffff", line=1)
    yield text(x, y - 12, f"{point.accuracy:.2f} %", 12, anchor="middle")
    yield text(x, y + 22, f"{point.flash:,}", 10, anchor="middle", color="#555555")


def _line(x1: float, y1: float, x2: float, y2: float, color: str, width: int) -> str:
    return f'<line x1="{x1:.2f}" y1="{y1:.2f}" x2="{x2:.2f}" y2="{y2:.2f}" stroke="{color}" stroke-width="{width}"/>'
