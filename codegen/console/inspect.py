# SPDX-License-Identifier: Apache-2.0
"""`inspect`: what a checkpoint folder holds and what each recipe would take. Writes nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import EtchError
from ..ir import graph as g
from ..ir.program import GROUP, Program, S4Matrix, S8Matrix
from ..load.checkpoint import Checkpoint
from ..lower import lower
from ..memory.plan import Plan
from ..memory.regions import Room, checked_rooms, plan_in
from ..pack.tables import make_tables, table_bytes, weight_bytes
from ..pipeline import check_max_target, load, to_graph
from ..quantize import RECIPES
from ..quantize.bits import places_of
from ..render.manifest import region_facts
from ..report import checkpoint_report, parameter_count, plan_lines
from ..request import Reading
from ..targets import TARGETS
from ..tokenizer import compile_tokenizer


@dataclass(frozen=True)
class BitsPlace:
    """What --bits may name, and the bytes that it takes for m-profile."""

    name: str
    layers: int
    bytes_8: int
    bytes_4: int


@dataclass(frozen=True)
class Forecast:
    """Bytes, computed as generate would, not estimated."""

    recipe: str
    target: str
    tables: int
    plan: Plan | None  # None: the regions that were asked for are too small, or one too many
    refusal: str  # then: why

    def facts(self, rooms: Sequence[Room]) -> dict[str, Any]:
        """As JSON."""
        known = {"recipe": self.recipe, "target": self.target, "tables": self.tables}
        if self.plan is None:
            return known | {"refusal": self.refusal}
        return known | {"arena": self.plan.arena_bytes} | region_facts(self.plan, rooms)

    def lines(self, rooms: Sequence[Room]) -> Iterator[str]:
        """The same in words."""
        words = f"forecast     {self.recipe} {self.target:<9} tables {self.tables:>12,} bytes, "
        if self.plan is None:
            yield f"{words}{self.refusal}"
            return
        yield f"{words}arena {self.plan.arena_bytes:>12,} bytes"
        if rooms:
            yield from plan_lines(self.plan, rooms)


@dataclass(frozen=True)
class Question(Reading):
    """A folder and how it would be generated: as a generation's request."""

    folder: Path
    max_tokens: int | None = None
    rooms: Sequence[Room] = ()


def inspect(question: Question, echo: Callable[[str], None], *, as_json: bool = False) -> None:
    """Prints the report of a folder, or one JSON object with the same; with rooms the plan of each region, too."""
    rooms = checked_rooms(question.rooms)
    checkpoint = load(question.folder, question)
    graph = to_graph(checkpoint, question.max_tokens)
    check_max_target(question.max_target, graph)
    if as_json:
        forecasts = [forecast.facts(rooms) for forecast in _forecasts(checkpoint, graph, rooms)]
        bits = [asdict(place) for place in _places(lower(graph, RECIPES["w8a8"]))]
        echo(json.dumps({**_facts(checkpoint, graph), "bits": bits, "forecasts": forecasts}, indent=1))
        return
    for line in checkpoint_report(checkpoint, graph):
        echo(line)
    echo(f"bits         {'place':<24} {'layers':>6} {'bytes, 8 bits':>15} {'4 bits':>13}")
    for place in _places(lower(graph, RECIPES["w8a8"])):
        echo(f"             {place.name:<24} {place.layers:>6} {place.bytes_8:>15,} {place.bytes_4:>13,}")
    for forecast in _forecasts(checkpoint, graph, rooms):
        for line in forecast.lines(rooms):
            echo(line)


def _facts(checkpoint: Checkpoint, graph: g.Graph) -> dict[str, Any]:
    return {
        "model_type": checkpoint.config.model_type,
        "parameters": parameter_count(graph),
        "task": graph.task.name,
        "task_description": graph.task.described(graph),
        "segments": graph.segments,
        "max_tokens": graph.max_tokens,
        "max_tokens_default": checkpoint.default_max_tokens,
        "max_tokens_source": checkpoint.max_tokens_source,
        "vocabulary": graph.vocabulary,
        "tokenizer": checkpoint.tokenizer.summary,
        "checkpoint_sha256": checkpoint.digest,
        "notes": [*checkpoint.notes, *graph.notes],
    }


def _forecasts(checkpoint: Checkpoint, graph: g.Graph, rooms: Sequence[Room]) -> Iterator[Forecast]:
    tokenizer = compile_tokenizer(checkpoint.tokenizer)
    for name, recipe in RECIPES.items():
        program = lower(graph, recipe)
        for target in TARGETS.values():
            tables = table_bytes(make_tables(program, target, tokenizer), target)
            try:
                yield Forecast(name, target.name, tables, plan_in(rooms, program, target, tokenizer), "")
            except EtchError as error:
                if not rooms:
                    raise
                yield Forecast(name, target.name, tables, None, error.message)


def _places(program: Program) -> Iterator[BitsPlace]:
    taken: dict[str, list[tuple[int, int]]] = {}
    for _, name, weights in places_of(program):
        if isinstance(weights.matrix, S8Matrix):
            outputs, inputs = weights.matrix.q.shape
            factors = np.ones((outputs, -(-inputs // GROUP)), np.uint8)
            four = replace(weights, matrix=S4Matrix(weights.matrix.q, factors, weights.matrix.scales))
            both = weight_bytes(weights, TARGETS["m-profile"]), weight_bytes(four, TARGETS["m-profile"])
            taken.setdefault(name, []).append(both)
    for name, sizes in taken.items():
        eight, four = (sum(size) for size in zip(*sizes, strict=True))
        yield BitsPlace(name, len(sizes), eight, four)
