# SPDX-License-Identifier: Apache-2.0
"""Executes a program over texts. Blocks of rows, threads and batches do not change a bit, so all rows run at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import program as p
from .attention import attention_f32, attention_s8, split_heads
from .embedding import entries
from .floats import F32Array, QuantizedRows, layer_norm, quantize_rows
from .linear import linear
from .pooling import normalize, pool


class Text(NamedTuple):
    """Token ids, special tokens included, and the segment of each."""

    ids: Sequence[int]
    segments: Sequence[int]


Rows = F32Array | QuantizedRows
WeightsFor = Callable[[p.LinearWeights, Rows], p.LinearWeights]


def emulate(program: p.Program, ids: Sequence[int], segments: Sequence[int]) -> F32Array:
    """What the program computes for one text: logits, values or an embedding."""
    return emulate_texts(program, [Text(ids, segments)])[0]


def emulate_texts(program: p.Program, texts: Sequence[Text], weights_for: WeightsFor | None = None) -> F32Array:
    """The same [texts, outputs]: the same bits as text by text, in less time where texts are short.

    `weights_for` may exchange the weights of a linear when its inputs are known.
    """
    forward = _Forward(program, texts, weights_for)
    for step in program.steps:
        if isinstance(step, p.Loop):
            for layer in range(step.count):
                for blocks in step.body:
                    first_row = blocks.last_layer_first_row and layer == step.count - 1
                    for op in blocks.body:
                        forward.run(op, layer, first_row)
        else:
            forward.run(step, 0, first_row=False)
    return forward.output()


class _Value(NamedTuple):
    """What a buffer holds: one row per token of every text, or only one row per text."""

    rows: Rows
    per_text: bool


class _Forward:
    def __init__(self, program: p.Program, texts: Sequence[Text], weights_for: WeightsFor | None) -> None:
        self._program = program
        self._weights_for = weights_for
        self._ids = _joined([text.ids for text in texts], program.vocabulary)
        self._segments = _joined([text.segments for text in texts], program.segments)
        lengths = [len(text.ids) for text in texts]
        for text, length in zip(texts, lengths, strict=True):
            if not 1 <= length <= program.max_tokens or len(text.segments) != length:
                raise ValueError(f"{length} ids and {len(text.segments)} segments, at most {program.max_tokens} tokens")
        ends = np.cumsum(lengths)
        self._first_rows = ends - lengths
        self._spans = [slice(end - length, end) for end, length in zip(ends, lengths, strict=True)]
        self._positions = np.concatenate([np.arange(length) for length in lengths])
        self._buffers: dict[str, _Value] = {}
        self._caches: dict[str, list[Rows]] = {}  # keys and values, [heads, tokens, width] for each text
        self._execute = {
            p.EmbeddingSum: self._embedding_sum,
            p.LayerNorm: self._layer_norm,
            p.Quantize: self._quantize,
            p.Linear: self._linear,
            p.PackKeys: self._pack,
            p.PackValues: self._pack,
            p.Attention: self._attention,
            p.Pool: self._pool,
            p.Normalize: self._normalize,
        }

    def run(self, op: p.Op, layer: int, first_row: bool) -> None:
        """One op, in layer `layer` of its loop; with `first_row` only for the first row of each text."""
        self._execute[type(op)](op, layer, first_row)

    def output(self) -> F32Array:
        """What the program's result buffer holds."""
        return self._read(self._program.output, per_text=True)

    def _embedding_sum(self, op: p.EmbeddingSum, layer: int, first_row: bool) -> None:
        word, segment, position = (slot.per_layer[layer] for slot in (op.word, op.segment, op.position))
        self._write(
            op.out,
            (entries(word, self._ids) + entries(segment, self._segments)) + entries(position, self._positions),
            False,
        )

    def _layer_norm(self, op: p.LayerNorm, layer: int, first_row: bool) -> None:
        per_text = first_row or op.rows.rows == "one"
        w = op.weights.per_layer[layer]
        x = self._read(op.rows, per_text)
        self._write(op.rows, layer_norm(x, w.gamma, w.beta, w.epsilon, w.inverse_width), per_text)

    def _quantize(self, op: p.Quantize, layer: int, first_row: bool) -> None:
        per_text = first_row or op.out.rows == "one"
        self._write(op.out, quantize_rows(self._read(op.input, per_text)), per_text)

    def _linear(self, op: p.Linear, layer: int, first_row: bool) -> None:
        per_text = first_row or op.out.rows == "one"
        residual = None if op.residual is None else self._read(op.residual, per_text)
        x = self._read(op.input, per_text)
        weights = op.weights.per_layer[layer]
        if self._weights_for is not None:
            weights = self._weights_for(weights, x)
        self._write(op.out, linear(x, weights, op.activation, residual), per_text)

    def _pack(self, op: p.PackKeys | p.PackValues, layer: int, first_row: bool) -> None:
        rows = self._read(op.input, per_text=False)
        heads = split_heads(rows, self._program.heads)
        packed = quantize_rows(heads) if op.kind == "s8" else heads
        self._caches[op.out.name] = [packed[:, span] for span in self._spans]

    def _attention(self, op: p.Attention, layer: int, first_row: bool) -> None:
        query = self._read(op.query, first_row)
        attend = attention_s8 if op.kind == "s8" else attention_f32
        context = []
        for i, (keys, values) in enumerate(zip(self._caches[op.keys.name], self._caches[op.values.name], strict=True)):
            rows = query[i : i + 1] if first_row else query[self._spans[i]]
            context.append(attend(rows, keys, values, self._program.heads))
        self._write(op.context, np.concatenate(context), first_row)

    def _pool(self, op: p.Pool, layer: int, first_row: bool) -> None:
        if op.kind == "first":  # all that is up to date, where the last layer ran for the first rows only
            texts = [row[None] for row in self._read(op.input, per_text=True)]
        else:
            rows = self._read(op.input, per_text=False)
            texts = [rows[span] for span in self._spans]
        self._write(op.out, np.concatenate([pool(op.kind, text) for text in texts]), per_text=True)

    def _normalize(self, op: p.Normalize, layer: int, first_row: bool) -> None:
        self._write(op.rows, normalize(self._read(op.rows, per_text=True)), per_text=True)

    def _read(self, buffer: p.Buffer, per_text: bool) -> Rows:
        value = self._buffers[buffer.name]
        if value.per_text and not per_text:
            raise ValueError(f"'{buffer.name}': only the first rows are up to date")
        return value.rows[self._first_rows] if per_text and not value.per_text else value.rows

    def _write(self, buffer: p.Buffer, rows: Rows, per_text: bool) -> None:
        self._buffers[buffer.name] = _Value(rows, per_text)


def _joined(lists: list[Sequence[int]], limit: int) -> NDArray[np.int64]:
    """One array of all; every entry in [0, limit)."""
    joined = np.concatenate([np.asarray(values, np.int64) for values in lists])
    if joined.size and (joined.min() < 0 or joined.max() >= limit):
        raise ValueError(f"ids or segments out of range: {joined.min()}..{joined.max()}, limit {limit}")
    return joined
