# SPDX-License-Identifier: Apache-2.0
"""The generator in one view: each stage takes the frozen value of the one before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from . import evaluate, vocabulary
from .asked_task import graph_of_task, with_task
from .budget import Limits, check_linked, check_planned, check_tools, choose
from .build import build
from .calibrate import Calibration, calibrate
from .errors import EtchError
from .frontends import build_graph, limits_of
from .golden import make_golden
from .gpu import check_tokenizer, encoder_of
from .ir.check_supported import check_supported
from .ir.graph import Graph
from .ir.program import Program
from .load.bare_encoder import with_pooling
from .load.folder import Checkpoint, load_checkpoint, with_beams
from .load.sentence import Pooling
from .load.tokenizer_spec import TokenizerSpec
from .lower import lower as lower_graph
from .names import checked_name, name_from_folder
from .oracle.interpret import Interpreter
from .output import prepare_target, write_output
from .plan import plan_memory
from .quantize import choose_recipe
from .quantize.bits import Bits
from .quantize.recipe import Recipe
from .render.model import Model, TableForm, manifest, render_model
from .render.tables import make_tables
from .report import evaluation_report, generation_report, pruning_report
from .table_file import Columns
from .targets import TARGETS
from .tokenizer import compile_target, compile_tokenizer

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
    gpu: bool = False  # files for NVIDIA GPUs, too
    prune: Prune | None = None
    evaluate: Evaluate | None = None
    columns: Columns = field(default_factory=Columns)  # of tables, unless
    prune_columns: Columns | None = None  # that of `prune` has its own,
    calibrate_columns: Columns | None = None  # or that of `calibrate`
    embedding_bits: int = 8
    calibrate: Path | None = None  # texts, one a line or a row
    bits: Bits = field(default_factory=dict)  # of places that recipe and embedding_bits say otherwise of
    limits: Limits | None = None  # bits, embedding_bits and what is pruned are then chosen by the search
    board: str | None = None  # whose firmware `build` links where there are limits
    pooling: Pooling | None = None  # of an encoder alone, whose folder says none
    task: str | None = None  # another one than the folder says, one of asked_task.TASKS
    beams: int | None = None  # of a model that writes texts, in place of what its folder says
    max_target: int | None = None  # of what is written; the checkpoint's own where None

    def __post_init__(self) -> None:
        """EtchError where two arguments contradict each other."""
        if self.gpu and self.target != "host":
            message = f"--gpu is for --target host: {self.target} has no NVIDIA GPU"
            raise EtchError("option-conflict", "arguments", message)


def generate(request: Request, echo: Echo) -> None:
    """Checkpoint folder -> generated sources in `request.out`, all or nothing; `echo` gets the report."""
    name = checked_name(request.name) if request.name is not None else name_from_folder(request.out)
    prepare_target(request.out, echo)
    checkpoint = load(request.folder, request.pooling, request.task, request.beams, request.max_target)
    graph = to_graph(checkpoint, request.max_tokens)
    check_supported(graph)
    _check_writer(request, graph)
    rows = None
    if request.evaluate is not None:
        rows = evaluate.read_rows(request.evaluate.table, request.columns, graph.task, request.evaluate.rows, echo)
    request, pruning = _decided(request, checkpoint, graph, rows, echo)
    graph = to_graph(checkpoint, request.max_tokens)
    whole = checkpoint, graph
    if pruning is not None:
        checkpoint = vocabulary.keep_ids(checkpoint, pruning.kept)
        graph = vocabulary.keep_rows(graph, pruning.kept)
    recipe = choose_recipe(request.recipe, request.embedding_bits, request.bits)
    calibration = None
    if request.calibrate is not None:
        program = lower_graph(graph, recipe)
        columns = request.calibrate_columns or request.columns
        texts = request.calibrate, Interpreter(graph), columns, echo
        calibration = calibrate(program, graph, checkpoint.tokenizer, *texts)
    model = make_model(name, checkpoint, graph, recipe, request.target, calibration, request.gpu)
    for line in generation_report(checkpoint, graph, model):
        echo(line)
    if request.limits is not None:
        echo(check_planned(request.limits, model))
    if pruning is not None:
        for line in pruning_report(pruning, *whole, model):
            echo(line)
    if rows is not None:
        others: dict[str, tuple[Program, TokenizerSpec]] = {}
        if calibration is not None:
            others["nearest"] = calibration.nearest, checkpoint.tokenizer
        if pruning is not None:
            others["unpruned"] = lower_graph(whole[1], recipe), whole[0].tokenizer
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


def _check_writer(request: Request, graph: Graph) -> None:
    """EtchError where a model that writes texts is asked for what there is for others only, or the other way round."""
    given = {
        "--gpu": request.gpu,
        "--calibrate": request.calibrate is not None,
        "--evaluate": request.evaluate is not None,
        "--prune-vocabulary": request.prune is not None,
        "--max-flash and --max-ram": request.limits is not None,
    }
    asked = next((option for option, is_given in given.items() if is_given), None)
    if graph.target is None and request.max_target is not None:
        message = f"--max-target: a model whose task is {graph.task.name} writes no texts"
        raise EtchError("option-conflict", "arguments", message)
    if graph.target is not None and asked is not None:
        message = f"{asked}: models that write texts do without so far; leave it out"
        raise EtchError("generation-not-supported", "arguments", message)


def _evaluated(
    rows: evaluate.Rows,
    ours: tuple[Program, TokenizerSpec],
    others: Mapping[str, tuple[Program, TokenizerSpec]],
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
    columns = request.prune_columns or request.columns
    texts = None if prune is None else vocabulary.read_corpus(prune.corpus, columns, echo)
    if request.limits is None:
        if prune is None or texts is None:
            return request, None
        return request, vocabulary.prune(checkpoint.tokenizer, texts, prune.bound)
    if rows is None:
        raise EtchError("option-incomplete", "arguments", "a budget needs --evaluate, rows to judge by")
    if graph.task.rows != "text":
        row = graph.task.rows.removesuffix("s")
        message = f"a budget compares forms by one row of outputs a text, {graph.task.name} has one a {row}"
        raise EtchError("budget-not-supported", "arguments", message)
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


def load(
    folder: Path,
    pooling: Pooling | None = None,
    task: str | None = None,
    beams: int | None = None,
    max_target: int | None = None,
) -> Checkpoint:
    """Stage load; the model family is checked before the large files are read."""
    checkpoint = load_checkpoint(folder, limits_of, max_target)
    return with_beams(with_task(with_pooling(checkpoint, pooling), task), beams)


def to_graph(checkpoint: Checkpoint, max_tokens: int | None) -> Graph:
    """Stage front-end."""
    graph = build_graph(checkpoint, checkpoint.default_max_tokens if max_tokens is None else max_tokens)
    graph = graph_of_task(checkpoint, graph)
    return graph if checkpoint.kept_ids is None else vocabulary.keep_rows(graph, checkpoint.kept_ids)


def lower(
    checkpoint: Checkpoint, recipe: str, max_tokens: int | None, embedding_bits: int = 8, bits: Bits | None = None
) -> Program:
    """Stages front-end and lower."""
    return lower_graph(to_graph(checkpoint, max_tokens), choose_recipe(recipe, embedding_bits, bits))


def make_model(
    name: str,
    checkpoint: Checkpoint,
    graph: Graph,
    recipe: Recipe,
    target_name: str,
    calibration: Calibration | None = None,
    gpu: bool = False,
) -> Model:
    """Stages lower, unless calibration has made the program, gpu where asked for, plan and pack, golden texts."""
    check_supported(graph)
    target = TARGETS[target_name]
    program = lower_graph(graph, recipe) if calibration is None else calibration.program
    if gpu:
        check_tokenizer(checkpoint.tokenizer)
    encoder = encoder_of(program) if gpu else None
    tokenizer = compile_tokenizer(checkpoint.tokenizer, by_words=program.task.by_words)
    target_text = None
    if checkpoint.target is not None and program.target is not None:
        target_text = compile_target(checkpoint.target, checkpoint.tokenizer, tokenizer)
    return Model(
        name=name,
        checkpoint=checkpoint.digest,
        kept_ids=checkpoint.kept_ids,
        program=program,
        plan=plan_memory(
            program, target, tokenizer.constants["scratch_bytes"], most_pieces=tokenizer.constants["most_pieces"]
        ),
        target=target,
        tokenizer=tokenizer,
        tables=make_tables(program, target, tokenizer, target_text),
        goldens=make_golden(program, checkpoint.tokenizer, checkpoint.target),
        pairs=program.task.takes_pairs and checkpoint.tokenizer.template.segments <= program.segments,
        calibration=calibration,
        encoder=encoder,
        terms=checkpoint.terms,
        asked_pooling=checkpoint.asked_pooling,
        target_text=target_text,
    )
