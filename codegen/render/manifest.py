# SPDX-License-Identifier: Apache-2.0
"""etch.json of a generated folder: what made it, how its memory is laid out, and the files that belong to it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from .. import ABI, __version__
from ..folders.manifest import id_set
from ..ir import program as p
from ..memory.plan import Plan
from ..memory.regions import Room
from ..pack.tables import Table, table_bytes
from ..quantize import chosen_bits
from .model import Model, TableForm
from .table_places import place_facts


def manifest(model: Model, form: TableForm, files: dict[str, str]) -> bytes:
    """etch.json: what made the folder, and the files that belong to it with their SHA-256."""
    content = {
        "generator": __version__,
        "abi": ABI,
        "name": model.name,
        "task": model.program.task.name,
        **_heads(model.program),
        "recipe": model.program.recipe,
        **_bits(model.program),
        **({} if model.calibration is None else {"calibration_sha256": model.calibration.sha256}),
        **({} if model.smoothing is None else {"smoothing_sha256": model.smoothing.sha256}),
        "target": model.target.name,
        "tables": form,
        "gpu": model.encoder is not None,
        "checkpoint_sha256": model.checkpoint,
        **({} if model.asked_pooling is None else {"pooling": model.asked_pooling}),
        **({} if model.asked_dimensions is None else {"dimensions": model.asked_dimensions}),
        **({} if model.asked_languages is None else {"languages": list(model.asked_languages)}),
        **({} if model.kept_ids is None else {"kept_ids": id_set(model.kept_ids)}),
        "max_tokens": model.program.max_tokens,
        **_written(model.program),
        "table_bytes": table_bytes(model.tables, model.target),
        "arena_bytes": model.plan.arena_bytes,
        "arena_lower_bound": model.plan.lower_bound,
        "stack_budget": model.stack_budget,
        # What tools/report needs to know of a linked program: tables as they follow each other, buffers as the plan
        # laid them, alive from one op to another.
        "table_list": {
            table.name: {"part": table.part, "layers": _layers(table), "bytes": table.bytes} for table in model.tables
        },
        "arena_ops": list(model.plan.op_names),
        "arena_buffers": {
            item.name: {"offset": item.offset, "bytes": item.size, "first_op": item.first, "last_op": item.last}
            for item in model.plan.placements
        },
        **region_facts(model.plan, model.rooms),
        **place_facts(model.table_plan, model.tables, model.target),
        "files": files,
    }
    return f"{{\n{_json_members(content)}\n}}\n".encode("ascii")


def _json_members(content: dict[str, Any], indent: str = " ") -> str:
    """A member a line; of members that are objects themselves, too."""
    lines = []
    for name, value in content.items():
        nested = isinstance(value, dict) and indent == " " and value
        text = f"{{\n{_json_members(value, '  ')}\n }}" if nested else json.dumps(value)
        lines.append(f"{indent}{json.dumps(name)}: {text}")
    return ",\n".join(lines)


def region_facts(plan: Plan, rooms: Sequence[Room]) -> dict[str, Any]:
    """Where there are others than the arena: what each has room for and is planned with, the arena under its name."""
    if not rooms:
        return {}
    planned = {room.name: plan.of_room(room.name) for room in rooms}
    return {
        "regions": {
            room.name: {
                "bytes": planned[room.name].bytes,
                "lower_bound": planned[room.name].lower_bound,
                "room": room.bytes,
                "cost": room.cost,
            }
            for room in rooms
        },
        "region_buffers": {
            item.name: {
                "region": room.name,
                "offset": item.offset,
                "bytes": item.size,
                "first_op": item.first,
                "last_op": item.last,
            }
            for room in rooms[:-1]
            for item in planned[room.name].placements
        },
    }


def _layers(table: Table) -> int | list[int]:
    """Which layers: their number where they are the first ones."""
    count = len(table.layers)
    return count if table.layers == tuple(range(count)) else list(table.layers)


def _heads(program: p.Program) -> dict[str, Any]:
    """What each of several answers with."""
    return {} if len(program.outputs) == 1 else {"heads": {output.name: output.task.name for output in program.outputs}}


def _bits(program: p.Program) -> dict[str, Any]:
    """What differs from the recipe."""
    embedding_bits, bits = chosen_bits(program)
    return ({} if embedding_bits == 8 else {"embedding_bits": embedding_bits}) | ({"bits": bits} if bits else {})


def _written(program: p.Program) -> dict[str, Any]:
    """Of a generative model: sequences at a time, tokens at most, how conversations are written."""
    rules, chat = program.target_rules, getattr(program.task, "chat", None)
    if rules is None:
        return {}
    said = {} if chat is None else {"chat": asdict(chat)}
    return {"beams": rules.search.beams, "max_target": rules.max_tokens, **said}
