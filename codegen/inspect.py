# SPDX-License-Identifier: Apache-2.0
"""`inspect`: what a checkpoint folder holds and what each recipe would take. Writes nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from .frontends import build_graph, check_supported
from .load.folder import load_checkpoint
from .plan import plan_memory
from .quantize import RECIPES
from .render.tables import make_tables, table_bytes
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
    for name, recipe in RECIPES.items():
        program = recipe.lower(graph)
        for target in TARGETS.values():
            plan = plan_memory(program, target, tokenizer.constants["scratch_bytes"])
            tables = table_bytes(make_tables(program, target, tokenizer), target)
            echo(
                f"forecast     {name} {target.name:<9} tables {tables:>12,} bytes, arena {plan.arena_bytes:>12,} bytes"
            )
