# SPDX-License-Identifier: Apache-2.0
"""Compares a built model with its checkpoint in float64 and, for integer recipes and for what is written, with the
contract bit for bit.

A model with two segments is also asked about pairs: each text with the one after it, up to `MAX_PAIRS`. Its tokens are
compared with those of the folder's own tokenizer, too, as another library reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from .. import pipeline
from ..asked_task import asked_by
from ..building.built_program import Echo, ProgramError, json_lines, program_of
from ..calibration.calibrate import calibrate
from ..calibration.smooth import smooth
from ..errors import EtchError, printable
from ..files.table_file import Columns
from ..files.texts import read_lines
from ..folders.generated_folder import check_folder
from ..golden import golden_texts
from ..head_folders import HeadFolder
from ..ir.program import Output, Program
from ..ir.task import Task
from ..ir.tokenizer_spec import TokenizerSpec
from ..library_tokenizer.own_tokenizer import own_tokenizer
from ..library_tokenizer.wheel_tokenizer import WheelEncoding, WheelTokenizer, can_be_cut, encode_batch, text_tokenizer
from ..load.checkpoint import Checkpoint
from ..lower import lower
from ..oracle.interpret import Interpreter
from ..process.progress import stage
from ..quantize import RECIPES, choose_recipe
from ..request import Reading
from ..vocabulary.kept_vocabulary import check_digest, with_kept
from .comparison import Answer, Comparison, compare
from .comparison_of_texts import ComparisonOfTexts, WrittenAnswer, answer_of, compare_texts, options_of

MAX_PAIRS = 256
MAX_TEXT_BYTES = 8 << 20


def verify(
    directory: Path,
    checkpoint: Path,
    texts: Path | None,
    echo: Echo,
    find_program: Callable[[Path, Echo], Path] = program_of,
    calibration: Path | None = None,
    columns: Columns | None = None,
    heads: Sequence[HeadFolder] = (),
    smoothing: Path | None = None,
    smooth_columns: Columns | None = None,
) -> int:
    """0 where the built model is what its recipe promises, else 1. EtchError where they cannot be compared.

    `texts` holds one text a line; without it the model's golden texts are taken. A calibrated model is calibrated
    again, with the same file, and a smoothed one smoothed.
    """
    manifest = check_folder(directory, "verify")
    if manifest["recipe"] not in RECIPES:
        raise EtchError("unknown-recipe", "verify", f"recipe {manifest['recipe']!r}", file="etch.json")
    check_texts_given(manifest, calibration, smoothing)
    loaded = load_generated(manifest, checkpoint, heads)
    program = _program(loaded, manifest, calibration, columns, smoothing, smooth_columns)
    tokenizer = text_tokenizer(loaded.tokenizer, program.max_tokens)
    asked = _asked(program, loaded, tokenizer, texts)
    try:
        by_head = _said_of_heads(find_program(directory, echo), program, asked)
    except ProgramError as error:
        echo(f"the built program failed: {printable(str(error))}")
        return 1
    holds = _compare_heads(program, loaded, tokenizer, asked, by_head, echo)
    answers = by_head[program.outputs[0].name]
    same = _compare_own(checkpoint, loaded, program.max_tokens, asked.inputs, answers, echo)
    return 0 if holds and same else 1


@dataclass(frozen=True)
class _Asked:
    """What a built model is asked: lines, then neighbours among them as pairs."""

    lines: list[bytes]
    pairs: list[tuple[bytes, bytes]]

    @property
    def inputs(self) -> list[str | tuple[str, str]]:
        """The same for a tokenizer."""
        return [*map(_text, self.lines), *((_text(first), _text(second)) for first, second in self.pairs)]


def _asked(program: Program, checkpoint: Checkpoint, tokenizer: WheelTokenizer, texts: Path | None) -> _Asked:
    if texts is not None:
        lines = read_lines(texts, "verify", MAX_TEXT_BYTES)
    else:
        lines = [text.encode() for text in golden_texts(program, checkpoint.tokenizer)]
    has_pairs = takes_pairs(program.task, program.segments, checkpoint.tokenizer)
    return _Asked(lines, pairs_of(lines, tokenizer)[:MAX_PAIRS] if has_pairs else [])


_AnswersByHead = dict[str, list[Answer] | list[WrittenAnswer]]


def _said_of_heads(built: Path, program: Program, asked: _Asked) -> _AnswersByHead:
    """What the built program answers."""
    said = _run(built, program, asked.lines)
    if asked.pairs:
        said += _run(built, program, [b"\t".join(pair) for pair in asked.pairs], "--pairs")
    return {
        output.name: _answers(program, output, _said_by(built, program, output, asked.lines) or said)
        for output in program.outputs
    }


def _compare_heads(
    program: Program,
    checkpoint: Checkpoint,
    tokenizer: WheelTokenizer,
    asked: _Asked,
    answers: _AnswersByHead,
    echo: Echo,
) -> bool:
    """Whether every head holds what its recipe promises; reports each."""
    graph, encodings = pipeline.to_graph(checkpoint, program.max_tokens), encode_batch(tokenizer, asked.inputs)
    holds = True
    with stage("compare", "text", 2 * len(encodings) * len(answers)):  # with float64, then with the contract
        for head, output in zip(graph.heads, program.outputs, strict=True):
            reference = Interpreter(replace(graph, heads=(head,)))
            alone = replace(program, outputs=(output,))
            comparison = _compared(alone, checkpoint, reference, encodings, answers[output.name], len(asked.lines))
            for line in (*([f"head         {output.name}"] if output.name else []), *comparison.report()):
                echo(line)
            holds = holds and comparison.holds
    return holds


def check_texts_given(manifest: dict[str, Any], calibration: Path | None, smoothing: Path | None) -> None:
    """That --calibrate and --smooth are there where the model was made with them, and only there."""
    calibrated, smoothed = "calibration_sha256" in manifest, "smoothing_sha256" in manifest
    if calibrated and calibration is None:
        raise EtchError("calibration-missing", "verify", "the model was calibrated: name its texts with --calibrate")
    if smoothed and smoothing is None:
        raise EtchError("smoothing-missing", "verify", "the model was smoothed: name its texts with --smooth")
    if calibration is not None and not calibrated:
        raise EtchError("option-conflict", "arguments", "--calibrate: this model was not calibrated: leave it out")
    if smoothing is not None and not smoothed:
        raise EtchError("option-conflict", "arguments", "--smooth: this model was not smoothed: leave it out")


def _compared(
    program: Program,
    checkpoint: Checkpoint,
    reference: Interpreter,
    encodings: Sequence[WheelEncoding],
    answers: Sequence[Any],
    texts: int,
) -> Comparison | ComparisonOfTexts:
    """`answers` are what _answers() gives for the program's task."""
    if checkpoint.target is not None and program.target_rules is not None:
        return compare_texts(program, checkpoint.target, reference, encodings, answers)
    return compare(program, reference, encodings, answers, texts)


def load_generated(manifest: dict[str, Any], checkpoint: Path, heads: Sequence[HeadFolder] = ()) -> Checkpoint:
    """The checkpoint that a folder was generated from, with the vocabulary that was left; EtchError where it is not."""
    languages = manifest.get("languages")
    reading = Reading(
        pooling=manifest.get("pooling"),
        dimensions=manifest.get("dimensions"),
        task=asked_by(manifest["task"]),
        beams=manifest.get("beams"),
        max_target=manifest.get("max_target"),
        heads=heads,
        languages=None if languages is None else (languages[0], languages[1]),
    )
    loaded = pipeline.load(checkpoint, reading)
    named = list(manifest.get("heads", {}))
    if named != [name for name, _ in loaded.heads]:
        has = f"the model has the heads {', '.join(named)}" if named else "the model has one head"
        message = f"{has}: --head says of each its name and folder, in this order, and of no other one"
        raise EtchError("other-heads", "verify", message)
    check_digest(manifest, loaded, "verify")
    return with_kept(loaded, manifest, "verify")


def _compare_own(
    folder: Path,
    checkpoint: Checkpoint,
    max_tokens: int,
    inputs: Sequence[str | tuple[str, str]],
    answers: Sequence[Answer | WrittenAnswer],
    echo: Echo,
) -> bool:
    """Whether no answer has other ids than the folder's own tokenizer gives; true where that cannot be asked."""
    pruned = checkpoint.kept_ids is not None
    how = checkpoint.tokenizer.template, checkpoint.asked_languages
    own = "the vocabulary is pruned" if pruned else own_tokenizer(folder, max_tokens, *how)
    if isinstance(own, str):
        echo(f"tokenizer    not compared with the folder's own: {own}")
        return True
    prefix = checkpoint.tokenizer.prefix  # of single texts
    encodings = encode_batch(own.tokenizer, [prefix + one if isinstance(one, str) else one for one in inputs])
    other = [i for i, (one, answer) in enumerate(zip(encodings, answers, strict=True), 1) if one.ids != answer.ids]
    first = f" (the first: {other[0]})" if other else ""
    echo(f"tokenizer    {len(other)} of {len(answers)} with ids other than the folder's own{first}: {own.read_by}")
    return not other


def _program(
    checkpoint: Checkpoint,
    manifest: dict[str, Any],
    calibration: Path | None,
    columns: Columns | None,
    smoothing: Path | None,
    smooth_columns: Columns | None,
) -> Program:
    """What the manifest says that the folder was generated from; its texts were checked to be there."""
    embedding_bits, bits = manifest.get("embedding_bits", 8), manifest.get("bits", {})
    graph = pipeline.to_graph(checkpoint, manifest["max_tokens"])
    recipe = choose_recipe(manifest["recipe"], embedding_bits, bits)
    stored = manifest.get("smoothing_sha256")
    if stored is not None and smoothing is not None:
        smoothed = smooth(graph, checkpoint.tokenizer, recipe, smoothing, smooth_columns)
        if smoothed.sha256 != stored:
            raise EtchError("other-smoothing", "verify", f"the model was smoothed by other texts: SHA-256 {stored}")
        graph = smoothed.graph
    program = lower(graph, recipe)
    stored = manifest.get("calibration_sha256")
    if stored is None or calibration is None:
        return program
    again = calibrate(program, graph, checkpoint.tokenizer, calibration, columns=columns)
    if again.sha256 != stored:
        raise EtchError("other-calibration", "verify", f"the model was calibrated with other texts: SHA-256 {stored}")
    return again.program


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace")


def takes_pairs(task: Task, segments: int, tokenizer: TokenizerSpec) -> bool:
    """Whether the program of a model of so many segments has `--pairs`."""
    return task.takes_pairs and not task.asks and tokenizer.template.segments <= segments


def pairs_of(lines: Sequence[bytes], tokenizer: WheelTokenizer) -> list[tuple[bytes, bytes]]:
    """Neighbours, but for those that the program's FIRST<TAB>SECOND cannot hold, or that cannot be cut."""
    pairs = [pair for pair in pairwise(lines) if b"\t" not in b"".join(pair)]
    return [pair for pair in pairs if can_be_cut(tokenizer, *map(_text, pair))]


_Said = tuple[dict[str, Any], dict[str, Any]]  # the objects that the program gives for a text, and for its tokens


def _run(built: Path, program: Program, lines: list[bytes], *options: str) -> list[_Said]:
    answers = json_lines(built, lines, "--json", *program.task.options, *options_of(program), *options)
    return list(zip(answers, json_lines(built, lines, "--tokens", *options), strict=True))


def _said_by(built: Path, program: Program, output: Output, lines: list[bytes]) -> list[_Said]:
    """What a head says that has calls of its own; nothing of others."""
    if not (output.name and output.task.asks):
        return []
    alone = replace(program, outputs=(output,))
    return [
        ({"heads": {output.name: said}, **said}, ids) for said, ids in _run(built, alone, lines, "--head", output.name)
    ]


def _answers(program: Program, output: Output, said: Sequence[_Said]) -> list[Answer] | list[WrittenAnswer]:
    """What one head says in them, or the only one."""
    try:
        if program.target_rules is not None:
            return [answer_of(*each) for each in said]
        return [_answer(output, *each) for each in said]
    except KeyError as error:
        raise ProgramError(f"a line without {error}") from error
    except (TypeError, ValueError) as error:
        raise ProgramError("a line of another form than the program's") from error


def _answer(output: Output, said: dict[str, Any], tokens: dict[str, Any]) -> Answer:
    task = output.task
    of_head = said["heads"][output.name] if output.name else said
    label = of_head["label"] if task.says_label else None
    return Answer(label, task.outputs_of(of_head), said["tokens"], said["truncated"], tokens["ids"])
