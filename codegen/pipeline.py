# SPDX-License-Identifier: Apache-2.0
"""The generator in one view: each stage takes the frozen value of the one before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .build import build
from .frontends import build_graph, check_supported
from .golden import make_golden
from .graph import Graph
from .load.folder import Checkpoint, load_checkpoint
from .names import checked_name, name_from_folder
from .output import check_target, write_output
from .plan import plan_memory
from .program import Program
from .quantize import RECIPES
from .render.model import Model, TableForm, manifest, render_model
from .render.tables import make_tables
from .report import generation_report
from .targets import TARGETS
from .tokenizer import compile_wordpiece

Echo = Callable[[str], None]


@dataclass(frozen=True)
class Request:
    """The arguments of `generate`."""

    folder: Path
    out: Path
    name: str | None = None  # of the model; from the name of `out` where None
    recipe: str = "w8a8"
    max_tokens: int | None = None  # the checkpoint's own limit where None
    tables: TableForm = "incbin"
    target: str = "host"
    build: bool = False


def generate(request: Request, echo: Echo) -> None:
    """Checkpoint folder -> generated sources in `request.out`, all or nothing; `echo` gets the report."""
    name = checked_name(request.name) if request.name is not None else name_from_folder(request.out)
    check_target(request.out)
    checkpoint = load(request.folder)
    graph = to_graph(checkpoint, request.max_tokens)
    model = make_model(name, checkpoint, graph, request.recipe, request.target)
    for line in generation_report(checkpoint, graph, model):
        echo(line)
    write_output(
        request.out,
        render_model(model, request.tables),
        lambda files: manifest(model, request.tables, files),
    )
    echo(f"wrote {request.out}")
    if request.build:
        echo(f"built {build(request.out, echo)}")


def load(folder: Path) -> Checkpoint:
    """Stage load; the model family is checked before the large files are read."""
    return load_checkpoint(folder, check_supported)


def to_graph(checkpoint: Checkpoint, max_tokens: int | None) -> Graph:
    """Stage front-end."""
    return build_graph(checkpoint, checkpoint.default_max_tokens if max_tokens is None else max_tokens)


def lower(checkpoint: Checkpoint, recipe: str, max_tokens: int | None) -> Program:
    """Stages front-end and quantize."""
    return RECIPES[recipe].lower(to_graph(checkpoint, max_tokens))


def make_model(name: str, checkpoint: Checkpoint, graph: Graph, recipe: str, target_name: str) -> Model:
    """Stages quantize, plan and pack, and the golden texts."""
    target = TARGETS[target_name]
    program = RECIPES[recipe].lower(graph)
    tokenizer = compile_wordpiece(checkpoint.tokenizer)
    return Model(
        name=name,
        checkpoint=checkpoint.digest,
        program=program,
        plan=plan_memory(program, target, tokenizer.constants["scratch_bytes"]),
        target=target,
        tokenizer=tokenizer,
        tables=make_tables(program, target, tokenizer),
        goldens=make_golden(program, checkpoint.tokenizer),
    )
