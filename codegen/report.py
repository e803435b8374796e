# SPDX-License-Identifier: Apache-2.0
"""What generate and inspect print: what was found, the planned memory, the error of each tensor."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .errors import printable
from .evaluate import Rows, Score
from .ir import graph as g
from .ir import program as p
from .load.folder import Checkpoint
from .quantize import chosen_bits
from .quantize.bits import bits_text, width_of
from .render.model import Model
from .render.tables import table_bytes
from .tokenizer import UNICODE_TABLE_BYTES, compile_tokenizer
from .vocabulary import Pruning

_KEPT_TOO = {"spelled": "one ASCII character", "unknown": "added, but none that goes on a word"}


def checkpoint_report(checkpoint: Checkpoint, graph: g.Graph) -> list[str]:
    """What the folder holds."""
    lines = [
        f"model        {checkpoint.config.model_type}, {_shape(graph)}, {parameter_count(graph):,} parameters",
        f"task         {graph.task.described(graph)}",
        f"inputs       {graph.segments} segments, up to {graph.max_tokens} tokens "
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
    # Each layer attends, those before a loop too.
    counts = [layer.count for layer in layers if any(isinstance(op, g.Attention) for op in layer.body)]
    count = sum(counts) + sum(isinstance(node, g.Attention) for node in nodes)
    words = [f"{count} layers"] if layers else []
    if attentions:
        words += [f"hidden {graph.widths[attentions[0].query]}", f"{attentions[0].heads} heads"]
    return ", ".join(words) or "no layers"


def memory_report(model: Model) -> list[str]:
    """Tables and arena of one recipe."""
    (arena,) = model.plan.regions
    weights = table_bytes(tuple(t for t in model.tables if not _is_tokenizer(t.name, model)), model.target)
    total = table_bytes(model.tables, model.target)
    return [
        f"tables       {total:,} bytes: weights {weights:,}, tokenizer {total - weights:,}",
        _tokenizer_line(model),
        f"arena        {arena.bytes:,} bytes (lower bound {arena.lower_bound:,}, gap {arena.gap:.1f} %), "
        f"blocks of {model.plan.row_block} rows",
        f"stack        {model.stack_budget:,} bytes at most",
    ]


def pruning_report(pruning: Pruning, checkpoint: Checkpoint, graph: g.Graph, model: Model) -> list[str]:
    """What --prune-vocabulary dropped, from the whole checkpoint and graph, and what that does to the corpus."""
    rows = graph.vocabulary - len(pruning.kept)
    program = model.program
    terms = (term for op in p.ops_of(program) if isinstance(op, p.EmbeddingSum) for term in op.terms)
    word = next(term.table.name for term in terms if term.by == "ids")
    row_bytes = sum(table.bytes for table in model.tables if table.part == word) // program.vocabulary
    tokenizer = compile_tokenizer(checkpoint.tokenizer, by_words=graph.task.by_words).constants["table_bytes"]
    tokenizer -= model.tokenizer.constants["table_bytes"]
    dropped = _share(pruning.tokens_dropped, pruning.tokens_before)
    return [
        f"pruned       {len(pruning.kept):,} of {pruning.entries:,} pieces kept: used {pruning.bound.min_count:,} "
        f"times or more, special, or {_KEPT_TOO[pruning.bound.rare_words]}",
        f"  saved      {rows * row_bytes + tokenizer:,} bytes: {rows:,} embedding rows {rows * row_bytes:,}, "
        f"tokenizer {tokenizer:,}",
        f"  corpus     {pruning.texts:,} texts of {pruning.tokens_before:,} tokens, {dropped} of them dropped pieces; "
        f"{pruning.tokens_after:,} tokens now",
        f"  unknown    {_share(pruning.unknown_after, pruning.tokens_after)} of the tokens, before "
        f"{_share(pruning.unknown_before, pruning.tokens_before)}",
    ]


def _share(part: int, whole: int) -> str:
    return f"{100 * part / max(whole, 1):.2f} %"


def evaluation_report(rows: Rows, ours: Score, others: Mapping[str, Score]) -> list[str]:
    """The score of the model and, by their names, of those that it was made from."""
    asked = len(rows.rows)
    which = f"all {asked:,} rows" if asked == rows.total else f"{asked:,} of {rows.total:,} rows, evenly spaced"
    lines = [f"evaluation   {ours.measure} {ours} on {which} (emulated, {asked / max(ours.seconds, 1e-9):.0f} rows/s)"]
    for name, score in others.items():
        otherwise = int((ours.answers != score.answers).reshape(asked, -1).any(axis=1).sum())
        lines.append(f"  {name:<11}{score.measure} {score}; {otherwise:,} rows answered otherwise")
    return lines


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
    if model.calibration is not None:
        lines += model.calibration.lines
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
    for slot, _ in p.slots_of(program):
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


def quantization_error(matrix: p.S8Matrix, original: g.F32Array) -> tuple[float, float]:
    """Largest |w - q * scale|, and its root mean square divided by that of w."""
    error_square = square = largest = 0.0
    for begin in range(0, matrix.q.shape[0], 4096):
        w = original[begin : min(begin + 4096, matrix.q.shape[0])].astype(np.float64)
        error = matrix.q[begin : begin + 4096] * matrix.scales[begin : begin + 4096, None].astype(np.float64) - w
        largest = max(largest, float(np.abs(error).max()))
        error_square += float(np.square(error).sum())
        square += float(np.square(w).sum())
    return largest, float(np.sqrt(error_square / square)) if square > 0 else 0.0
