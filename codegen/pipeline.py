# SPDX-License-Identifier: Apache-2.0
"""The generator in one view: each stage takes the frozen value of the one before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from . import evaluate, vocabulary
from .budget import Limits, check_linked, check_planned, check_tools, choose
from .build import build
from .calibrate import Calibration, calibrate
from .errors import EtchError
from .frontends import build_graph, check_supported
from .golden import make_golden
from .graph import Graph
from .load.folder import Checkpoint, load_checkpoint
from .load.tokenizer_spec import WordPieceSpec
from .names import checked_name, name_from_folder
from .output import check_target, write_output
from .plan import plan_memory
from .program import Program
from .quantize import choose_recipe
from .quantize.bits import Bits
from .quantize.recipe import Recipe
from .reference import Reference
from .render.model import Model, TableForm, manifest, render_model
from .render.tables import make_tables
from .report import evaluation_report, generation_report, pruning_report
from .table_file import Columns
from .targets import TARGETS
from .tokenizer import compile_wordpiece

Echo = Callable[[str], None]


@dataclass(frozen=True)
class Prune:
    """--prune-vocabulary: what a corpus uses less often than this goes. What is None the search for a budget finds."""

    corpus: Path
    min_count: int | None
    rare_words: vocabulary.RareWords | None = None

    @property
    def bound(self) -> vocabulary.Bound:
        """EtchError where there is none."""
        if self.min_count is None:
            raise EtchError("option-incomplete", "arguments", "--prune-vocabulary needs --min-count")
        return vocabulary.Bound(self.min_count, self.rare_words or "spelled")


@dataclass(frozen=True)
class Evaluate:
    """--evaluate: a labelled table, and how many of its rows are asked."""

    table: Path
    rows: int = evaluate.DEFAULT_ROWS


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
    prune: Prune | None = None
    evaluate: Evaluate | None = None
    columns: Columns = field(default_factory=Columns)  # of tables, whatever they are for
    embedding_bits: int = 8
    calibrate: Path | None = None  # texts, one a line
    bits: Bits = field(default_factory=dict)  # of places that recipe and embedding_bits say otherwise of
    limits: Limits | None = None  # bits, embedding_bits and what is pruned are then chosen by the search
    board: str | None = None  # whose firmware `build` links where there are limits


def generate(request: Request, echo: Echo) -> None:
    """Checkpoint folder -> generated sources in `request.out`, all or nothing; `echo` gets the report."""
    name = checked_name(request.name) if request.name is not None else name_from_folder(request.out)
    check_target(request.out)
    checkpoint = load(request.folder)
    graph = to_graph(checkpoint, request.max_tokens)
    rows = None
    if request.evaluate is not None:
        rows = evaluate.read_rows(request.evaluate.table, request.columns, graph.task, request.evaluate.rows)
    request, pruning = _decided(request, checkpoint, graph, rows, echo)
    graph = to_graph(checkpoint, request.max_tokens)
    whole = checkpoint, graph
    if pruning is not None:
        checkpoint = vocabulary.keep_ids(checkpoint, pruning.kept)
        graph = vocabulary.keep_rows(graph, pruning.kept)
    recipe = choose_recipe(request.recipe, request.embedding_bits, request.bits)
    calibration = None
    if request.calibrate is not None:
        reference = Reference(request.folder, checkpoint.kept_ids)
        calibration = calibrate(recipe.lower(graph), graph, checkpoint.tokenizer, request.calibrate, reference)
    model = make_model(name, checkpoint, graph, recipe, request.target, calibration)
    for line in generation_report(checkpoint, graph, model):
        echo(line)
    if request.limits is not None:
        echo(check_planned(request.limits, model))
    if pruning is not None:
        for line in pruning_report(pruning, *whole, model):
            echo(line)
    if rows is not None:
        others: dict[str, tuple[Program, WordPieceSpec]] = {}
        if calibration is not None:
            others["nearest"] = calibration.nearest, checkpoint.tokenizer
        if pruning is not None:
            others["unpruned"] = recipe.lower(whole[1]), whole[0].tokenizer
        _evaluated(rows, (model.program, checkpoint.tokenizer), others, echo)
    write_output(
        request.out,
        render_model(model, request.tables),
        lambda files: manifest(model, request.tables, files),
    )
    echo(f"wrote {request.out}")
    if request.build:
        program = build(request.out, echo)
        echo(f"built {program}")
        if request.limits is not None:
            echo(check_linked(request.limits, model, request.out, program, request.board, echo))


def _evaluated(
    rows: evaluate.Rows,
    ours: tuple[Program, WordPieceSpec],
    others: Mapping[str, tuple[Program, WordPieceSpec]],
    echo: Echo,
) -> None:
    scores = {name: evaluate.score(*other, rows) for name, other in others.items()}
    for line in evaluation_report(rows, evaluate.score(*ours, rows), scores):
        echo(line)


def _decided(
    request: Request, checkpoint: Checkpoint, graph: Graph, rows: evaluate.Rows | None, echo: Echo
) -> tuple[Request, vocabulary.Pruning | None]:
    """What is pruned; where there are limits, as the search for them found it, with the bits that it found."""
    prune = request.prune
    texts = None if prune is None else vocabulary.read_corpus(prune.corpus, request.columns)
    if request.limits is None:
        if prune is None or texts is None:
            return request, None
        return request, vocabulary.prune(checkpoint.tokenizer, texts, prune.bound)
    if rows is None:
        raise EtchError("option-incomplete", "arguments", "a budget needs --evaluate, rows to judge by")
    if request.recipe != "w8a8" or request.embedding_bits != 8 or request.bits:
        message = "a budget chooses the bits: leave --recipe, --embedding-bits and --bits out"
        raise EtchError("option-conflict", "arguments", message)
    if request.build:
        check_tools()
    fixed = (None, None) if prune is None else (prune.min_count, prune.rare_words)
    chosen = choose(checkpoint, graph, TARGETS[request.target], request.limits, rows, texts, *fixed, echo)
    request = replace(
        request,
        max_tokens=chosen.tokens,
        embedding_bits=chosen.embedding_bits,
        bits=chosen.bits,
        calibrate=request.calibrate if chosen.bits else None,  # nothing is rounded by it otherwise
    )
    return request, chosen.pruning


def load(folder: Path) -> Checkpoint:
    """Stage load; the model family is checked before the large files are read."""
    return load_checkpoint(folder, check_supported)


def to_graph(checkpoint: Checkpoint, max_tokens: int | None) -> Graph:
    """Stage front-end."""
    graph = build_graph(checkpoint, checkpoint.default_max_tokens if max_tokens is None else max_tokens)
    return graph if checkpoint.kept_ids is None else vocabulary.keep_rows(graph, checkpoint.kept_ids)


def lower(
    checkpoint: Checkpoint, recipe: str, max_tokens: int | None, embedding_bits: int = 8, bits: Bits | None = None
) -> Program:
    """Stages front-end and quantize."""
    return choose_recipe(recipe, embedding_bits, bits).lower(to_graph(checkpoint, max_tokens))


def make_model(
    name: str,
    checkpoint: Checkpoint,
    graph: Graph,
    recipe: Recipe,
    target_name: str,
    calibration: Calibration | None = None,
) -> Model:
    """Stages quantize, unless calibration has made the program, plan and pack, and the golden texts."""
    target = TARGETS[target_name]
    program = recipe.lower(graph) if calibration is None else calibration.program
    tokenizer = compile_wordpiece(checkpoint.tokenizer)
    return Model(
        name=name,
        checkpoint=checkpoint.digest,
        kept_ids=checkpoint.kept_ids,
        program=program,
        plan=plan_memory(program, target, tokenizer.constants["scratch_bytes"]),
        target=target,
        tokenizer=tokenizer,
        tables=make_tables(program, target, tokenizer),
        goldens=make_golden(program, checkpoint.tokenizer),
        calibration=calibration,
    )
