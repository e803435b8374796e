# SPDX-License-Identifier: Apache-2.0
"""What generate and inspect print: what was found, the planned memory, the error of each tensor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from . import graph as g
from . import program as p
from .errors import printable
from .evaluate import Rows, Score
from .load.folder import Checkpoint
from .quantize import chosen_bits
from .quantize.bits import bits_text, width_of
from .render.model import Model
from .render.tables import slots_of, table_bytes
from .tasks import Classification, Regression
from .tokenizer import UNICODE_TABLE_BYTES, compile_wordpiece
from .vocabulary import Pruning

_LABELS_SHOWN = 12
_KEPT_TOO = {"spelled": "one ASCII character", "unknown": "added, but none that goes on a word"}


def checkpoint_report(checkpoint: Checkpoint, graph: g.Graph) -> list[str]:
    """What the folder holds."""
    parameters = sum(int(np.prod(array.shape)) for parameter in _parameters(graph) for array in parameter.arrays)
    layers = next(node for node in graph.body if isinstance(node, g.Layers))
    heads = next(node.heads for node in layers.body if isinstance(node, g.Attention))
    lines = [
        f"model        {checkpoint.config.model_type}, {layers.count} layers, hidden {graph.widths['hidden']}, "
        f"{heads} heads, {parameters:,} parameters",
        f"task         {_task(graph)}",
        f"inputs       {graph.segments} segments, up to {graph.max_tokens} tokens "
        f"(default {checkpoint.default_max_tokens} from {checkpoint.max_tokens_source})",
        f"vocabulary   {graph.vocabulary:,} entries, "
        f"{'uncased' if checkpoint.tokenizer.lowercase else 'cased'} WordPiece",
        f"checkpoint   sha256 {checkpoint.digest}",
    ]
    return lines + [f"note         {printable(note)}" for note in checkpoint.notes + graph.notes]


def _task(graph: g.Graph) -> str:
    task = graph.task
    if isinstance(task, Classification):
        kind = "single-label" if task.activation == "softmax" else "multi-label"
        return f"{kind} classification ({task.activation}), {_named(task.labels, 'label')}"
    if isinstance(task, Regression):
        return f"regression (no activation), {_named(task.values, 'value')}"
    pooling = next(node.kind for node in graph.body if isinstance(node, g.Pool))
    normalized = any(isinstance(node, g.Normalize) for node in graph.body)
    return f"embedding of {task.width} values, pooling {pooling}, {'' if normalized else 'not '}normalized"


def _named(names: tuple[str, ...], noun: str) -> str:
    shown = [printable(name, 40) for name in names[:_LABELS_SHOWN]]
    more = f" and {len(names) - _LABELS_SHOWN} more" if len(names) > _LABELS_SHOWN else ""
    return f"{len(names)} {noun}{'' if len(names) == 1 else 's'}: {', '.join(shown)}{more}"


def memory_report(model: Model) -> list[str]:
    """Tables and arena of one recipe."""
    plan = model.plan
    gap = 100.0 * (plan.arena_bytes - plan.lower_bound) / plan.lower_bound
    weights = table_bytes(tuple(t for t in model.tables if not _is_tokenizer(t.name, model)), model.target)
    total = table_bytes(model.tables, model.target)
    return [
        f"tables       {total:,} bytes: weights {weights:,}, tokenizer {total - weights:,}",
        _tokenizer_line(model),
        f"arena        {plan.arena_bytes:,} bytes (lower bound {plan.lower_bound:,}, gap {gap:.1f} %), "
        f"blocks of {plan.row_block} rows",
        f"stack        {model.stack_budget:,} bytes at most",
    ]


def pruning_report(pruning: Pruning, checkpoint: Checkpoint, graph: g.Graph, model: Model) -> list[str]:
    """What --prune-vocabulary dropped, from the whole checkpoint and graph, and what that does to the corpus."""
    rows = graph.vocabulary - len(pruning.kept)
    program = model.program
    word = next(op.word for op in p.ops_of(program) if isinstance(op, p.EmbeddingSum)).name
    row_bytes = sum(table.bytes for table in model.tables if table.part == word) // program.vocabulary
    tokenizer = compile_wordpiece(checkpoint.tokenizer).constants["table_bytes"]
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


def _parameters(graph: g.Graph) -> Iterator[g.Parameter]:
    for node in graph.body:
        for inner in node.body if isinstance(node, g.Layers) else (node,):
            if isinstance(inner, g.EmbeddingSum):
                yield from (inner.word, inner.segment, inner.position)
            elif isinstance(inner, g.LayerNorm):
                yield from (inner.gamma, inner.beta)
            elif isinstance(inner, g.Linear):
                yield inner.weight
                if inner.bias is not None:
                    yield inner.bias


def _error_lines(graph: g.Graph, program: p.Program) -> list[str]:
    """Quantization error of each integer tensor: the largest, and the root mean square relative to the tensor's own."""
    originals = {array.name: array for parameter in _parameters(graph) for array in parameter.arrays}
    rows: list[str] = []
    for slot, _ in slots_of(program):
        for weights in slot.per_layer:
            if isinstance(weights, p.LayerNormWeights) or isinstance(weights.matrix, p.F32Matrix):
                continue
            bits = width_of(weights.matrix)
            matrix = weights.matrix.expanded if isinstance(weights.matrix, p.S4Matrix) else weights.matrix
            largest, relative = quantization_error(matrix, originals[weights.source].values)
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
