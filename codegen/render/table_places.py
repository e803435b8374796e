# SPDX-License-Identifier: Apache-2.0
"""What the generated files and etch.json say of the places of tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..memory.table_places import TablePlace, TablePlan
from ..pack.tables import Table
from ..targets import Target


def place_values(model: str, plan: TablePlan, tables: Sequence[Table], target: Target) -> dict[str, Any]:
    """For headers and sources."""
    return {
        "table_alignment": target.alignment,
        "copied": [table.name for table in tables if plan.is_copied(table.name)],
        "copied_sections": [_section(model, place) for place in plan.places if place.copied],
        "table_places": [
            {"name": place.name, "bytes": plan.bytes_of(place, tables, target), "section": _section(model, place)}
            for place in plan.places
        ],
    }


def place_sections(model: str, plan: TablePlan, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """For the assembler: sections with the bytes of tables, and of memory that they are copied to, named without what
    the object format puts before."""
    if not plan.places:
        return {"sections": [{"name": f"etch_{model}", "tables": rows}], "memories": []}
    sources = [{**row, "symbol": f"{row['symbol']}_source"} for row in rows if row["copied"]]

    def section(place: TablePlace) -> dict[str, Any]:
        inside = [row for row in rows if plan.place_of[row["name"]] == place]
        return {"name": f"etch_{model}.{place.name}", "tables": inside + (sources if place == plan.places[-1] else [])}

    return {
        "sections": [section(place) for place in plan.places if not place.copied],
        "memories": [section(place) for place in plan.places if place.copied],
    }


def place_facts(plan: TablePlan, tables: Sequence[Table], target: Target) -> dict[str, Any]:
    """For etch.json."""
    if not plan.places:
        return {}
    return {
        "table_places": {
            place.name: {
                "bytes": plan.bytes_of(place, tables, target),
                "room": place.room.bytes,
                "cost": place.room.cost,
                "copied": place.copied,
                "tables": [table.name for table in plan.read_in(place, tables)],
            }
            for place in plan.places
        }
    }


def _section(model: str, place: TablePlace) -> str:
    """The linker's section of a place, in ELF."""
    return f"{'.bss' if place.copied else '.rodata'}.etch_{model}.{place.name}"
