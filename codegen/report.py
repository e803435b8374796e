# SPDX-License-Identifier: Apache-2.0
"""What generate and inspect print: what was found, the planned memory, the error of each tensor."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from .errors import EtchError, printable
from .evaluate import Rows, Score
from .ir import graph as g
from .ir import program as p
from .ir import walks
from .ir.op import carried, writes
from .ir.parameter import FloatArray
from .ir.task import counted
from .ir.tokenizer_spec import UnigramModel
from .load.checkpoint import Checkpoint
from .memory.plan import Plan, Region, plan_memory
from .memory.regions import Room
from .pack.tables import table_bytes
from .quantize import chosen_bits
from .quantize.bits import bits_text, width_of
from .render.model import Model
from .targets import Target
from .tokenizer import UNICODE_TABLE_BYTES, TargetTables, TokenizerTables, compile_target, compile_tokenizer
from .vocabulary.pruning import Pruning


def checkpoint_report(checkpoint: Checkpoint, graph: g.Graph) -> list[str]:
    """What the folder holds."""
    lines = [
        f"model        {checkpoint.config.model_type}, {_shape(graph)}, {parameter_count(graph):,} parameters",
        f"task         {graph.task.described(graph)}",
        f"inputs       {counted(graph.segments, 'segment')}, up to {graph.max_tokens} tokens "
        f"(default {checkpoint.default_max_tokens} from {checkpoint.max_tokens_source})",
        f"vocabulary   {graph.vocabulary:,} entries, {checkpoint.tokenizer.summary}",
        f"checkpoint   sha256 {checkpoint.digest}",
    ]
    return lines + [f"note         {printable(note)}" for note in checkpoint.notes + graph.notes]


def parameter_count(graph: g.Graph) -> int:
    """Values that the model has learnt; those that are shared count once."""
    once = {parameter.name: parameter for parameter in g.parameters_of(graph)}
    return sum(int(np.prod(array.shape)) for parameter in once.values() for array in parameter.arrays)


def _shape(graph: g.Graph) -> str:
    """Layers of encoder and decoder, width and heads, where there are any."""
    nodes = [node for phase in graph.phases for node in phase.body]
    layers = [node for node in nodes if isinstance(node, g.Layers)]
    attentions = [op for op, _ in g.ops_of(graph) if isinstance(op, g.Attention)]
    # Each layer attends or convolves, those before a loop too.
    count = sum(layer.count * _layers_in(layer.body) for layer in layers)
    count += sum(isinstance(node, g.Attention | g.CausalConvolution) for node in nodes)
    words = [counted(count, "layer")] if layers else []
    if attentions:
        words += [f"hidden {_hidden(graph, layers, attentions[0])}", f"{attentions[0].heads} heads"]
    return ", ".join(words) or "no layers"


def _layers_in(body: Sequence[g.Op]) -> int:
    """Of a loop: a decoder's layer attends once more, to what it does not write."""
    to_itself = Counter(op.mask != "none" for op in body if isinstance(op, g.Attention))
    return max(to_itself.values(), default=0) + sum(isinstance(op, g.CausalConvolution) for op in body)


def _hidden(graph: g.Graph, layers: Sequence[g.Layers], attention: g.Attention) -> int:
    """The width of the rows that layers change: in between all heads of an attention may be wider, or narrower."""
    handed = (value for of in layers for op in of.body for value in writes(op) if value in carried(of.body))
    return graph.widths[next(handed, attention.query)]


def memory_report(model: Model) -> list[str]:
    """Tables and arena of one recipe."""
    weights = table_bytes(tuple(t for t in model.tables if not _is_tokenizer(t.name, model)), model.target)
    total = table_bytes(model.tables, model.target)
    return [
        f"tables       {total:,} bytes: weights {weights:,}, tokenizer {total - weights:,}",
        _tokenizer_line(model),
        *_place_lines(model),
        *plan_lines(model.plan, model.rooms),
        *_arenas_beside(model),
        f"stack        {model.stack_budget:,} bytes at most",
    ]


def _place_lines(model: Model) -> list[str]:
    """Where the tables lie that calls read."""
    lines = []
    for place in model.table_plan.places:
        room, copied = place.room, ", copied there" if place.copied else ""
        taken = model.table_plan.bytes_of(place, model.tables, model.target)
        lines.append(f"  in {place.name:<9}{taken:,} bytes, of {room.bytes:,}; a byte costs {room.cost}{copied}")
        inside = ", ".join(table.name for table in model.table_plan.read_in(place, model.tables))
        lines += textwrap.wrap(inside, 100, initial_indent=" " * 14, subsequent_indent=" " * 14)
    return lines


def plan_lines(plan: Plan, rooms: Sequence[Room]) -> list[str]:
    """The arena; of a plan with other regions each of them, with the buffers that lie there."""

    def described(region: Region) -> str:
        return f"{region.bytes:,} bytes (lower bound {region.lower_bound:,}, gap {region.gap:.1f} %)"

    arena = plan.regions[0]
    lines = [f"arena        {described(arena)}, blocks of {counted(plan.row_block, 'row')}"]
    for room in rooms:
        region = plan.of_room(room.name)
        words = "the arena" if region is arena else described(region)
        lines.append(f"  in {room.name:<9}{words}, of {room.bytes:,}; a byte costs {room.cost}")
        buffers = ", ".join(sorted(item.name for item in region.placements))
        lines += textwrap.wrap(buffers, 100, initial_indent=" " * 14, subsequent_indent=" " * 14)
    return lines


def _arenas_beside(model: Model) -> list[str]:
    """Of a generative model: the arena with other beams, shorter texts and shorter targets."""
    program = model.program
    rules = program.target_rules
    if rules is None:
        return []
    shorter = {
        name: (most // 4, most // 2) for name, most in (("source", program.max_tokens), ("target", rules.max_tokens))
    }
    beside = {
        "beams": [(n, replace(rules, search=replace(rules.search, beams=n))) for n in (1, 2, 4, 8)],
        "target": [(n, replace(rules, max_tokens=n)) for n in shorter["target"] if n],
    }
    changed = {
        name: [(n, replace(program, target_rules=other)) for n, other in all_of] for name, all_of in beside.items()
    }
    changed["source"] = [(n, replace(program, max_tokens=n)) for n in shorter["source"] if n]
    scratch = model.tokenizer.constants["scratch_bytes"]
    lines = []
    for name, programs in changed.items():
        sizes = ((n, _arena_of(other, model.target, scratch)) for n, other in programs)
        lines.append(f"  by {name:<8}" + ", ".join(f"{n}: {size}" for n, size in sizes))
    return lines


def _arena_of(program: p.Program, target: Target, tokenizer_scratch: int) -> str:
    """Its bytes; of a program that is not the model's own one that cannot be is no refusal."""
    try:
        return f"{plan_memory(program, target, tokenizer_scratch).arena_bytes:,}"
    except EtchError as error:
        if error.code != "arena-too-large":
            raise
        return "too large"


def pruning_report(pruning: Pruning, checkpoint: Checkpoint, graph: g.Graph, model: Model) -> list[str]:
    """What --prune-vocabulary dropped, from the whole checkpoint and graph, and what that does to the corpus."""
    rows = graph.vocabulary - len(pruning.kept)
    program = model.program
    lookups = (op for op in walks.ops_of(program) if isinstance(op, p.EmbeddingSum | p.EmbeddingMean))
    word = next(term.table.name for op in lookups for term in op.terms if term.by == "ids")
    of_rows = {word} if graph.target_rules is None else {word, *(head.value for head in graph.heads)}
    row_bytes = sum(table.bytes for table in model.tables if table.part in of_rows) // program.vocabulary
    before = compile_tokenizer(checkpoint.tokenizer, words_of=graph.vocabulary if graph.task.by_words else 0)
    target = None if checkpoint.target is None else compile_target(checkpoint.target, checkpoint.tokenizer, before)
    tokenizer = _text_bytes(before, target) - _text_bytes(model.tokenizer, model.target_text)
    dropped = _share(pruning.tokens_dropped, pruning.tokens_before)
    return [
        f"pruned       {len(pruning.kept):,} of {pruning.entries:,} pieces kept: used {pruning.bound.min_count:,} "
        f"times or more, special, or {_kept_too(pruning, checkpoint)}",
        f"  saved      {rows * row_bytes + tokenizer:,} bytes: {rows:,} embedding rows {rows * row_bytes:,}, "
        f"tokenizer {tokenizer:,}",
        f"  corpus     {pruning.texts:,} texts of {pruning.tokens_before:,} tokens, {dropped} of them dropped pieces; "
        f"{pruning.tokens_after:,} tokens now",
        f"  unknown    {_share(pruning.unknown_after, pruning.tokens_after)} of the tokens, before "
        f"{_share(pruning.unknown_before, pruning.tokens_before)}",
    ]


def _kept_too(pruning: Pruning, checkpoint: Checkpoint) -> str:
    if pruning.bound.rare_words == "unknown":
        return "added, but none that goes on a word"
    return "one character" if isinstance(checkpoint.tokenizer.model, UnigramModel) else "one ASCII character"


def _text_bytes(tokenizer: TokenizerTables, target: TargetTables | None) -> int:
    """Of what makes ids of texts, and texts of ids."""
    own = 0 if target is None else sum(array.nbytes for _, array in target.arrays)
    return tokenizer.constants["table_bytes"] + own


def _share(part: int, whole: int) -> str:
    return f"{100 * part / max(whole, 1):.2f} %"


def evaluation_report(rows: Rows, ours: Score, others: Mapping[str, Score]) -> list[str]:
    """The score of the model and, by their names, of those that it was made from."""
    asked = len(rows.rows)
    which = f"all {asked:,} rows" if asked == rows.total else f"{asked:,} of {rows.total:,} rows, evenly spaced"
    values = ", ".join((f"{ours.measure} {ours}", *ours.others))
    lines = [f"evaluation   {values} on {which} (emulated, {asked / max(ours.seconds, 1e-9):.0f} rows/s)"]
    for name, score in others.items():
        otherwise = int((ours.answers != score.answers).reshape(asked, -1).any(axis=1).sum())
        values = ", ".join((f"{score.measure} {score}", *score.others))
        lines.append(f"  {name:<11}{values}; {otherwise:,} rows answered otherwise")
    return [*lines, *(f"  {note}" for note in ours.notes)]


def generation_report(checkpoint: Checkpoint, graph: g.Graph, model: Model) -> list[str]:
    """All that `generate` prints before it writes."""
    lines = checkpoint_report(checkpoint, graph)
    embedding_bits, bits = chosen_bits(model.program)
    others = "" if embedding_bits == 8 else f" --embedding-bits {embedding_bits}"
    others += f" --bits {bits_text(bits)}" if bits else ""
    target = f"target {model.target.name} ({model.target.packing} packing)"
    lines.append(f"recipe       {model.program.recipe}{others}, {target}")
    lines += memory_report(model)
    lines.append(f"golden       {len(model.goldens)} texts for the self test")
    lines += _error_lines(graph, model.program)
    lines += () if model.smoothing is None else model.smoothing.lines
    lines += () if model.calibration is None else model.calibration.lines
    return lines


def _tokenizer_line(model: Model) -> str:
    constants = model.tokenizer.constants
    own, shared = constants["table_bytes"], UNICODE_TABLE_BYTES
    pieces = constants["piece_count"]
    return (
        f"  tokenizer  {own / pieces:.2f} bytes a piece; with the {shared:,} bytes of Unicode tables in libetch.a "
        f"{(own + shared) / pieces:.2f}"
    )


def _is_tokenizer(name: str, model: Model) -> bool:
    return any(name == array for array, _ in model.tokenizer.arrays)


def _error_lines(graph: g.Graph, program: p.Program) -> list[str]:
    """Quantization error of each integer tensor: the largest, and the root mean square relative to the tensor's own."""
    originals = {array.name: array for parameter in g.parameters_of(graph) for array in parameter.arrays}
    terms = [term for op, _ in g.ops_of(graph) if isinstance(op, g.Embed) for term in op.terms]
    first = {array.name: term.first for term in terms for array in term.table.arrays}  # entry that is stored
    rows: list[str] = []
    for slot, _ in walks.slots_of(program):
        for weights in slot.stored:
            if not isinstance(weights, p.LinearWeights | p.EmbeddingWeights):
                continue
            if isinstance(weights.matrix, p.F32Matrix) or p.of_table(weights):
                continue
            bits = width_of(weights.matrix)
            matrix = weights.matrix.expanded if isinstance(weights.matrix, p.S4Matrix) else weights.matrix
            largest, relative = quantization_error(
                matrix, originals[weights.source].values[first.get(weights.source, 0) :]
            )
            rows.append(f"  {printable(weights.source):<58} {bits} {largest:12.3g} {100 * relative:9.2f} %")
    if not rows:
        return ["tensors      kept as float32"]
    return [f"  {'integer tensor':<53} {'bits':>6} {'max error':>12} {'rms error':>11}", *rows]


def quantization_error(matrix: p.S8Matrix, original: FloatArray) -> tuple[float, float]:
    """Largest |w - q * scale|, and its root mean square divided by that of w."""
    error_square = square = largest = 0.0
    for begin in range(0, matrix.q.shape[0], 4096):
        w = original[begin : min(begin + 4096, matrix.q.shape[0])].astype(np.float64)
        error = matrix.q[begin : begin + 4096] * matrix.scales[begin : begin + 4096, None].astype(np.float64) - w
        largest = max(largest, float(np.abs(error).max()))
        error_square += float(np.square(error).sum())
        square += float(np.square(w).sum())
    return largest, float(np.sqrt(error_square / square)) if square > 0 else 0.0
