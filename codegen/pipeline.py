# SPDX-License-Identifier: Apache-2.0
"""The generator in one view: each stage takes the frozen value of the one before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from . import evaluate
from .asked_task import graph_of_task, params_of, with_task
from .budget import check_linked, check_planned, check_tools, choose
from .building.build import build, check_buildable, check_programs
from .calibration.calibrate import Calibration, calibrate
from .calibration.smooth import Smoothing, smooth
from .dimensions import with_dimensions
from .errors import EtchError
from .folders.output import BUILD_FOLDER, prepare_target, write_output
from .frontends import build_graph, limits_of
from .golden import make_golden
from .gpu import check_tokenizer, encoder_of
from .head_folders import check_beside, graph_of_heads, with_heads
from .ir.check_supported import check_supported
from .ir.graph import Graph
from .ir.program import Program
from .load.bare_encoder import with_pooling
from .load.checkpoint import Checkpoint, with_beams
from .load.folder import load_checkpoint
from .lower import lower as lower_graph
from .memory.regions import Room, checked_rooms, plan_in
from .memory.table_places import TablePlace, checked_places, choose_places
from .names import checked_name, name_from_folder
from .oracle.interpret import Interpreter
from .pack.tables import make_tables
from .quantize import choose_recipe
from .quantize.bits import Bits
from .quantize.recipe import Recipe
from .render.manifest import manifest
from .render.model import Model, render_model
from .report import evaluation_report, generation_report, pruning_report
from .request import AS_IT_SAYS, Reading, Request
from .targets import TARGETS
from .tasks.embedding import Embedding
from .tokenizer import compile_target, compile_tokenizer
from .vocabulary import pruning as vocabulary
from .vocabulary.kept_vocabulary import with_vocabulary_of
from .vocabulary.sides import check_has_sides, read_sides

Echo = Callable[[str], None]


def generate(request: Request, echo: Echo) -> None:
    """Checkpoint folder -> generated sources in `request.out`, all or nothing; `echo` gets the report. They are
    written before the build, which knows its own place, and stay where it fails or exceeds a budget."""
    name = checked_name(request.name) if request.name is not None else name_from_folder(request.out, echo)
    _prepare(request, echo)
    checkpoint = _load_asked(request)
    graph = to_graph(checkpoint, request.max_tokens)
    check_supported(graph)
    _check_writer(request, checkpoint, graph)
    rows = _rows(request, graph, echo)
    request, pruning = _decided(request, checkpoint, graph, rows, echo)
    whole = checkpoint, to_graph(checkpoint, request.max_tokens)
    checkpoint, unsmoothed = whole if pruning is None else _pruned(request, checkpoint, pruning)
    recipe = choose_recipe(request.recipe, request.embedding_bits, request.bits)
    smoothing = _smoothed(request, checkpoint, unsmoothed, recipe, echo)
    graph = unsmoothed if smoothing is None else smoothing.graph
    calibration = _calibrated(request, checkpoint, graph, recipe, echo)
    model = make_model(
        name,
        checkpoint,
        graph,
        recipe,
        request.target,
        calibration=calibration,
        gpu=request.gpu,
        rooms=request.rooms,
        table_places=request.table_places,
        smoothing=smoothing,
    )
    _report(request, checkpoint, graph, model, echo)
    if pruning is not None:
        for line in pruning_report(pruning, *whole, model):
            echo(line)
    if rows is not None:
        others: dict[str, tuple[Program, Checkpoint]] = {}  # what it would be without one of its options
        if calibration is not None:
            others["nearest"] = calibration.nearest, checkpoint
        if pruning is not None:
            others["unpruned"] = lower_graph(whole[1], recipe), whole[0]
        if smoothing is not None:
            others["unsmoothed"] = lower_graph(unsmoothed, recipe), checkpoint
        _evaluated(rows, (model.program, checkpoint), others, echo)
    _write(request, model, echo)
    if request.build:
        _build(request, model, echo)


def _prepare(request: Request, echo: Echo) -> None:
    """Where it is to be written, before the work begins."""
    if request.build:
        check_buildable(request.out)
        check_programs(request.out / BUILD_FOLDER)
    prepare_target(request.out, echo)


def _load_asked(request: Request) -> Checkpoint:
    return with_vocabulary_of(load(request.folder, request), request.keep_vocabulary)


def _rows(request: Request, graph: Graph, echo: Echo) -> evaluate.Rows | None:
    """What the model is evaluated on, where that is asked for."""
    asked = request.evaluate
    if asked is None:
        return None
    return evaluate.read_rows(asked.table, request.columns, graph.task, asked.rows, echo, asked.measure)


def _pruned(request: Request, checkpoint: Checkpoint, pruning: vocabulary.Pruning) -> tuple[Checkpoint, Graph]:
    kept = vocabulary.keep_ids(checkpoint, pruning.kept)
    return kept, to_graph(kept, request.max_tokens)


def _smoothed(request: Request, checkpoint: Checkpoint, graph: Graph, recipe: Recipe, echo: Echo) -> Smoothing | None:
    if request.smooth is None:
        return None
    columns = request.smooth_columns or request.columns
    return smooth(graph, checkpoint.tokenizer, recipe, request.smooth, columns, echo, Interpreter(graph))


def _calibrated(
    request: Request, checkpoint: Checkpoint, graph: Graph, recipe: Recipe, echo: Echo
) -> Calibration | None:
    """Of the graph as it is smoothed."""
    if request.calibrate is None:
        return None
    columns = request.calibrate_columns or request.columns
    texts = request.calibrate, Interpreter(graph), columns, echo
    return calibrate(lower_graph(graph, recipe), graph, checkpoint.tokenizer, *texts)


def _check_writer(request: Request, checkpoint: Checkpoint, graph: Graph) -> None:
    """EtchError where a generative model is asked for what there is for others only, or the other way round."""
    check_max_target(request.max_target, graph)
    if graph.target_rules is None:
        return
    given = {"--gpu": request.gpu, "--min-tokens": request.limits is not None and request.limits.min_tokens is not None}
    asked = next((option for option, is_given in given.items() if is_given), None)
    if asked is not None:
        message = f"{asked}: generative models do without so far; leave it out"
        raise EtchError("generation-not-supported", "arguments", message)
    if request.prune is not None:
        check_has_sides(checkpoint)
        if request.limits is not None:
            message = "--prune-vocabulary: a budget keeps all pieces of a generative model; prune without a budget"
            raise EtchError("generation-not-supported", "arguments", message)


def _report(request: Request, checkpoint: Checkpoint, graph: Graph, model: Model, echo: Echo) -> None:
    """What the model is, and how far it is within its limits."""
    for line in generation_report(checkpoint, graph, model):
        echo(line)
    if request.limits is not None:
        echo(check_planned(request.limits, model))


def _evaluated(
    rows: evaluate.Rows,
    ours: tuple[Program, Checkpoint],
    others: Mapping[str, tuple[Program, Checkpoint]],
    echo: Echo,
) -> None:
    def score(program: Program, checkpoint: Checkpoint) -> evaluate.Score:
        return evaluate.score(program, checkpoint.tokenizer, rows, checkpoint.target)

    scores = {name: score(*other) for name, other in others.items()}
    for line in evaluation_report(rows, score(*ours), scores):
        echo(line)


def _decided(
    request: Request, checkpoint: Checkpoint, graph: Graph, rows: evaluate.Rows | None, echo: Echo
) -> tuple[Request, vocabulary.Pruning | None]:
    """What is pruned; where there are limits, as the search for them found it, with the bits that it found."""
    prune = request.prune
    columns = request.prune_columns or request.columns
    if prune is not None and graph.target_rules is not None:
        return request, vocabulary.prune_corpus(read_sides(checkpoint, prune.corpus, columns, echo), prune.bound)
    texts = None if prune is None else vocabulary.read_corpus(prune.corpus, columns, echo)
    if request.limits is None:
        if prune is None or texts is None:
            return request, None
        return request, vocabulary.prune(checkpoint.tokenizer, texts, prune.bound)
    if rows is None:
        raise EtchError("option-incomplete", "arguments", "a budget needs --evaluate, rows to judge by")
    if graph.task.rows not in ("text", "steps"):
        row = graph.task.rows.removesuffix("s")
        message = f"a budget compares forms by one row of outputs a text, {graph.task.name} has one a {row}"
        raise EtchError("budget-not-supported", "arguments", message)
    if request.recipe != "w8a8" or request.embedding_bits != 8 or request.bits:
        message = "a budget chooses the bits: leave --recipe, --embedding-bits and --bits out"
        raise EtchError("option-conflict", "arguments", message)
    if request.build:
        check_tools()
    fixed = (None, None) if prune is None else (prune.min_count, prune.rare_words)
    target, calibrated = TARGETS[request.target], request.calibrate is not None
    chosen = choose(checkpoint, graph, target, request.limits, rows, texts, *fixed, echo, calibrated)
    request = replace(
        request,
        max_tokens=chosen.tokens,
        embedding_bits=chosen.embedding_bits,
        bits=chosen.bits,
        calibrate=request.calibrate if chosen.bits else None,  # nothing is rounded by it otherwise
    )
    return request, chosen.pruning


def _write(request: Request, model: Model, echo: Echo) -> None:
    write_output(
        request.out,
        render_model(model, request.tables),
        lambda files: manifest(model, request.tables, files),
    )
    echo(f"wrote {request.out}")


def _build(request: Request, model: Model, echo: Echo) -> None:
    program = build(request.out, echo)
    echo(f"built {program}")
    if request.limits is not None:
        echo(check_linked(request.limits, model, request.out, program, request.board, echo))


def check_max_target(max_target: int | None, graph: Graph) -> None:
    """EtchError where a limit is asked for of what a model writes that writes nothing."""
    if graph.target_rules is None and max_target is not None:
        message = f"--max-target: a model whose task is {graph.task.name} writes no texts"
        raise EtchError("option-conflict", "arguments", message)


def load(folder: Path, reading: Reading = AS_IT_SAYS) -> Checkpoint:
    """Stage load; the model family is checked before the large files are read."""
    of_task = params_of(reading.task)

    def one(path: Path, of_rows: bool = False) -> Checkpoint:
        return load_checkpoint(path, limits_of, reading.max_target, of_task, reading.languages, of_rows)

    if reading.pooling is None or reading.heads:
        checkpoint = with_pooling(with_heads(folder, reading.heads, one), reading.pooling)
    else:
        checkpoint = with_pooling(one(folder, of_rows=True), reading.pooling)
    checkpoint = replace(checkpoint, asked_dimensions=reading.dimensions)
    return with_beams(with_task(checkpoint, reading.task), reading.beams)


def to_graph(checkpoint: Checkpoint, max_tokens: int | None) -> Graph:
    """Stage front-end."""
    tokens = checkpoint.default_max_tokens if max_tokens is None else max_tokens
    _check_padding(checkpoint, tokens)
    graph = graph_of_heads(checkpoint, lambda each: build_graph(each, tokens))
    graph = graph_of_task(checkpoint, graph)
    graph = _of_dimensions(checkpoint, graph)
    _check_segments(checkpoint, graph)
    _check_questions(checkpoint, graph)
    return graph if checkpoint.kept_ids is None else vocabulary.keep_rows(graph, checkpoint.kept_ids)


def _of_dimensions(checkpoint: Checkpoint, graph: Graph) -> Graph:
    """EtchError where a model that does not embed is asked for fewer values."""
    if checkpoint.asked_dimensions is None:
        return graph
    if not isinstance(graph.task, Embedding):
        message = f"--dimensions is for models that embed: the task of this one is {graph.task.name}"
        raise EtchError("option-conflict", "arguments", message)
    return with_dimensions(graph, checkpoint.asked_dimensions)


def _check_segments(checkpoint: Checkpoint, graph: Graph) -> None:
    """EtchError where one text would be of a segment that the model has no row for."""
    needed = checkpoint.tokenizer.template.segments_of_one
    if needed > graph.segments:
        message = f"post_processor: tokens of one text are of segment {needed - 1}, the model has {graph.segments}"
        raise EtchError("tokenizer-template", "front-end", message)


def _check_padding(checkpoint: Checkpoint, tokens: int) -> None:
    """EtchError where texts would not be as long as the model reads them with their padding."""
    padding = checkpoint.tokenizer.template.padding
    if padding is not None and tokens != padding.tokens:
        message = (
            f"{tokens} tokens: texts are padded to {padding.tokens} ({checkpoint.max_tokens_source}), which are read"
        )
        raise EtchError("max-tokens-out-of-range", "front-end", message)


def _check_questions(checkpoint: Checkpoint, graph: Graph) -> None:
    """EtchError where special tokens leave a question and its context no room: windows need a token of each; or where
    a second one stands for "no answer" beside the first."""
    if not graph.task.asks:
        return
    pair = [part.content for part in checkpoint.tokenizer.template.pair]
    if isinstance(pair[0], int) and pair.count(pair[0]) != 1:
        message = "a question and its context have the special token that they begin with a second time"
        raise EtchError("tokenizer-template", "front-end", message)
    least = len(pair)
    if graph.max_tokens < least:
        message = f"{graph.max_tokens} tokens: a question, its context and {least - 2} special tokens need {least}"
        raise EtchError("max-tokens-out-of-range", "front-end", message)


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
    rooms: Sequence[Room] = (),
    table_places: Sequence[TablePlace] = (),
    smoothing: Smoothing | None = None,
) -> Model:
    """Stages lower, unless calibration has made the program, gpu where asked for, plan and pack, golden texts."""
    check_supported(graph)
    target = TARGETS[target_name]
    program = lower_graph(graph, recipe) if calibration is None else calibration.program
    if gpu:
        check_tokenizer(checkpoint.tokenizer)
    encoder = encoder_of(program) if gpu else None
    tokenizer = compile_tokenizer(checkpoint.tokenizer, words_of=program.vocabulary if program.task.by_words else 0)
    target_text = None
    if checkpoint.target is not None and program.target_rules is not None:
        target_text = compile_target(checkpoint.target, checkpoint.tokenizer, tokenizer)
    rooms = checked_rooms(rooms)
    table_places = checked_places(table_places)
    plan = plan_in(rooms, program, target, tokenizer)
    has_two_segments = checkpoint.tokenizer.template.segments <= program.segments
    tables = make_tables(program, target, tokenizer, target_text)
    check_beside((output.name for output in program.outputs), name, (table.name for table in tables))
    return Model(
        name=name,
        checkpoint=checkpoint.digest,
        kept_ids=checkpoint.kept_ids,
        program=program,
        plan=plan,
        target=target,
        tokenizer=tokenizer,
        tables=tables,
        goldens=make_golden(program, checkpoint.tokenizer, checkpoint.target),
        pairs=program.task.takes_pairs and has_two_segments,
        questions=program.task.asks and has_two_segments,
        calibration=calibration,
        smoothing=smoothing,
        encoder=encoder,
        terms=checkpoint.terms,
        asked_pooling=checkpoint.asked_pooling,
        asked_languages=checkpoint.asked_languages,
        asked_dimensions=checkpoint.asked_dimensions,
        target_text=target_text,
        rooms=rooms,
        table_plan=choose_places(program, target, plan, tables, table_places),
    )
