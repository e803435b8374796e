# SPDX-License-Identifier: Apache-2.0
"""`inspect`: what a checkpoint folder holds and what each recipe would take. Writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from .frontends import build_graph, check_supported
from .load.folder import load_checkpoint
from .plan import plan_memory
from .program import GROUP, Program, S4Matrix, S8Matrix
from .quantize import RECIPES
from .quantize.bits import places_of
from .render.tables import make_tables, table_bytes, weight_bytes
from .report import checkpoint_report
from .targets import TARGETS
from .tokenizer import compile_wordpiece


def inspect(folder: Path, echo: Callable[[str], None]) -> None:
    """Prints the report of a folder; the forecast is computed as generate would, not estimated."""
    checkpoint = load_checkpoint(folder, check_supported)
    graph = build_graph(checkpoint, checkpoint.default_max_tokens)
    for line in checkpoint_report(checkpoint, graph):
        echo(line)
    tokenizer = compile_wordpiece(checkpoint.tokenizer)
    for line in _places(RECIPES["w8a8"].lower(graph)):
        echo(line)
    for name, recipe in RECIPES.items():
        program = recipe.lower(graph)
        for target in TARGETS.values():
            plan = plan_memory(program, target, tokenizer.constants["scratch_bytes"])
            tables = table_bytes(make_tables(program, target, tokenizer), target)
            echo(
                f"forecast     {name} {target.name:<9} tables {tables:>12,} bytes, arena {plan.arena_bytes:>12,} bytes"
            )


def _places(program: Program) -> Iterator[str]:
    """What --bits may name, and what it would take."""
    taken: dict[str, list[tuple[int, int]]] = {}
    for _, name, weights in places_of(program):
        if isinstance(weights.matrix, S8Matrix):
            outputs, inputs = weights.matrix.q.shape
            factors = np.ones((outputs, -(-inputs // GROUP)), np.uint8)
            four = replace(weights, matrix=S4Matrix(weights.matrix.q, factors, weights.matrix.scales))
            both = weight_bytes(weights, TARGETS["m-profile"]), weight_bytes(four, TARGETS["m-profile"])
            taken.setdefault(name, []).append(both)
    yield f"bits         {'place':<24} {'layers':>6} {'bytes, 8 bits':>15} {'4 bits':>13}"
    for name, sizes in taken.items():
        eight, four = (sum(size) for size in zip(*sizes, strict=True))
        yield f"             {name:<24} {len(sizes):>6} {eight:>15,} {four:>13,}"
