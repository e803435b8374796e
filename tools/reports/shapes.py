# SPDX-License-Identifier: Apache-2.0
"""What pictures are drawn with. The same values give the same bytes."""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax.saxutils import escape

from .treemap import Box


def page(width: int, height: int, body: Iterable[str]) -> str:
    """A whole SVG file."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="Helvetica, Arial, sans-serif">\n'
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>\n' + "\n".join(body) + "\n</svg>\n"
    )


def rectangle(box: Box, fill: str, title: str, stroke: str, line: float) -> str:
    """`title` is shown as a tooltip; without one the mouse sees what is below."""
    shape = (
        f'<rect x="{box.x:.2f}" y="{box.y:.2f}" width="{box.width:.2f}" height="{box.height:.2f}" fill="{fill}" '
        f'stroke="{stroke}" stroke-width="{line:g}"'
    )
    return f"{shape}><title>{escape(title)}</title></rect>" if title else f'{shape} pointer-events="none"/>'


def text(
    x: float, y: float, words: str, size: int, weight: str = "normal", anchor: str = "start", color: str = "#222222"
) -> str:
    """A line of text, its baseline at y."""
    return (
        f'<text x="{x:.2f}" y="{y:.2f}" font-size="{size}" font-weight="{weight}" text-anchor="{anchor}" '
        f'fill="{color}" pointer-events="none">{escape(words)}</text>'
    )
