# SPDX-License-Identifier: Apache-2.0
"""The page: HTML and a drawing, nothing from elsewhere, readable in print."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from ..render.environment import template_environment
from .flash import LARGEST
from .linked import Linked
from .origin import Origin
from .request import Check

_WIDTH, _HEIGHT, _LEFT, _TOP = 900.0, 260.0, 70.0, 10.0  # of the drawing
_ROUND = (1, 2, 5)


@dataclass(frozen=True)
class Box:
    """A buffer over the ops: x, y, width, height in the drawing."""

    name: str
    bytes: int
    x: float
    y: float
    width: float
    height: float


def page(origin: Origin, checks: Sequence[Check], commands: Sequence[str], linked: Linked) -> str:
    """HTML; every value is escaped."""
    manifest = origin.manifest
    environment = template_environment(html=True)
    parts: dict[str, int] = {}
    for table in manifest.get("table_list", {}).values():
        parts[table["part"]] = parts.get(table["part"], 0) + table["bytes"] * copies(table["layers"])
    return environment.get_template("evidence.html.j2").render(
        manifest=manifest,
        inputs=origin.inputs,
        versions=origin.versions,
        checks=checks,
        holding=sum(check.holds for check in checks),
        licence=origin.licence,
        commands=commands,
        linked=linked,
        largest=linked.flash.symbols[:LARGEST] if linked.flash else (),
        parts=sorted(parts.items(), key=lambda part: (-part[1], part[0])),
        boxes=list(_boxes(manifest)),
        ticks=_ticks(manifest.get("arena_bytes", 0)),
        ops=manifest.get("arena_ops", []),
        width=_WIDTH + _LEFT,
        height=_HEIGHT + 2 * _TOP,
        left=_LEFT,
        style=Markup(_STYLE),
    )


def copies(layers: int | list[int]) -> int:
    """Tables of one name: one a layer, or one for all."""
    return len(layers) if isinstance(layers, list) else max(layers, 1)


def _boxes(manifest: Mapping[str, Any]) -> Iterator[Box]:
    count, size = len(manifest.get("arena_ops", [])), manifest.get("arena_bytes", 0)
    for name, buffer in sorted(manifest.get("arena_buffers", {}).items()):
        step, scale = _WIDTH / max(count, 1), _HEIGHT / max(size, 1)
        height = buffer["bytes"] * scale
        yield Box(
            name,
            buffer["bytes"],
            round(_LEFT + buffer["first_op"] * step, 1),
            round(_TOP + _HEIGHT - buffer["offset"] * scale - height, 1),
            round((buffer["last_op"] - buffer["first_op"] + 1) * step, 1),
            round(height, 1),
        )


def _ticks(size: int) -> list[tuple[str, float]]:
    """Round numbers of KiB, four to ten of them, and where they are."""
    kib = size / 1024
    step = next(s for s in (r * 10**e for e in range(9) for r in _ROUND) if kib / s <= 10)
    return [
        (f"{k * step} KiB", round(_TOP + _HEIGHT * (1 - k * step * 1024 / max(size, 1)), 1))
        for k in range(int(kib // step) + 1)
    ]


_STYLE = """
body { font: 15px/1.5 sans-serif; max-width: 66em; margin: 2em auto; padding: 0 1em; color: #111; background: #fff }
table { border-collapse: collapse; margin: 1em 0 }
td, th { text-align: left; padding: 2px 1em 2px 0; border-bottom: 1px solid #ddd }
td.n, th.n { text-align: right; white-space: nowrap } code, pre { font: 12px/1.4 monospace; overflow-wrap: anywhere }
pre { font-size: 11px; background: #f6f6f6; padding: .7em; white-space: pre-wrap } .holds { color: #0a6b2d }
.fails { color: #b00020 } svg text { font: 10px sans-serif } h2 { margin-top: 1.8em }
@media print { body { font-size: 11px; max-width: none; margin: 0 } code { font-size: 9px } pre { font-size: 8px }
section, pre, svg, tr { break-inside: avoid } h2, h3, tr:first-child { break-after: avoid } }
"""
