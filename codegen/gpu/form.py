# SPDX-License-Identifier: Apache-2.0
"""The program that the code for GPUs computes, whatever the program says that it was made from.

Ops are made by their constructors, never by `replace`: a field that is new to this file has its default here, and a
program that says otherwise differs.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..ir import program as p
from .difference import described
from .encoder import Encoder, refusal

_MATRICES: dict[str, tuple[type, ...]] = {"s8": (p.S8Matrix, p.S4Matrix), "f32": (p.F32Matrix,)}
_ACTIVATIONS = ("none", "relu", "gelu", "gelu_tanh", "quick_gelu", "silu", "tanh", "sigmoid")
_POOLINGS = ("first", "mean", "max", "mean_sqrt")


def form_of(program: p.Program, encoder: Encoder) -> p.Program:
    """With the names, widths, activations and weights of `encoder`. EtchError where these do not fit each other."""
    if len(program.outputs) != 1:
        raise refusal(f"{len(program.outputs)} outputs")
    form = _Form(program, encoder)
    head, output = form.head()
    if not program.task.on_gpus or program.task.outputs != output.width:
        raise refusal(f"{described(program.task)} of {output.width} outputs")
    return p.Program(
        recipe=program.recipe,
        steps=(*form.embedding(), form.loop(), p.Repeat("texts", tuple(head))),
        outputs=(p.Output(program.task, output),),
        vocabulary=program.vocabulary,
        segments=program.segments,
        max_tokens=program.max_tokens,
    )


class _Form:
    def __init__(self, program: p.Program, encoder: Encoder) -> None:
        self._program = program
        self._encoder = encoder
        self._kind = encoder.embedding.kind
        if self._kind not in _MATRICES:
            raise refusal(f"operands of kind {self._kind}")
        self._width = encoder.embedding.out.width
        shape = encoder.attention.shape
        if shape.heads * shape.width != self._width:
            raise refusal(f"{shape.heads} heads of {shape.width} in rows of {self._width}")
        self._shape = p.HeadShape(shape.heads, shape.heads, shape.width)
        self._hidden = p.Buffer(encoder.embedding.out.name, "f32", "tokens", self._width)

    def embedding(self) -> list[p.Step]:
        e, program = self._encoder, self._program
        entries = {"ids": program.vocabulary, "segments": program.segments, "positions": program.max_tokens}
        if len(e.embedding.terms) != len(entries):
            raise refusal(f"an embedding of {len(e.embedding.terms)} tables")
        terms = tuple(
            p.EmbeddingTerm(self._table(term.table, count), by)  # type: ignore[arg-type]
            for term, (by, count) in zip(e.embedding.terms, entries.items(), strict=True)
        )
        norm = p.Norm("layer", self._norm(e.embedding_norm.weights, 1), self._hidden, self._hidden)
        return [p.EmbeddingSum(self._kind, terms, self._hidden), norm]

    def loop(self) -> p.Loop:
        e, hidden, width, count = self._encoder, self._hidden, self._width, self._encoder.loop.count
        shape = self._shape
        keys = p.Buffer(e.attention.keys.name, "keys", "tokens", width, shape.heads, self._kind)
        values = p.Buffer(e.attention.values.name, "values", "tokens", width, shape.heads, self._kind)
        query = p.Buffer(e.query.out.name, "f32", "block", width)
        context = p.Buffer(e.attention.context.name, "f32", "block", width)
        inner = p.Buffer(e.intermediate.out.name, "f32", "block", e.intermediate.out.width)
        key_rows, value_rows = (p.Buffer(linear.out.name, "f32", "block", width) for linear in (e.key, e.value))
        *to_keys, key = self._linear(e.key, count, hidden, key_rows)
        operand = key.input  # the values are of the rows that the keys are made from
        value = p.Linear(
            self._kind,
            _linear_slot(e.value.weights, self._kind, count, (width, width)),
            operand,
            "none",
            None,
            value_rows,
        )
        return p.Loop(
            e.loop.name,
            count,
            (
                p.Blocks(
                    (
                        *to_keys,
                        key,
                        p.PackKeys(shape, key_rows, keys),
                        value,
                        p.PackValues(shape, value_rows, values),
                    ),
                    last_layer_first_row=False,
                ),
                p.Blocks(
                    (
                        *self._linear(e.query, count, hidden, query),
                        p.Attention(self._kind, shape, e.attention.score_scale, query, keys, values, context),
                        *self._linear(e.attention_output, count, context, hidden, residual=hidden),
                        p.Norm("layer", self._norm(e.attention_norm.weights, count), hidden, hidden),
                        *self._linear(e.intermediate, count, hidden, inner, _known(e.intermediate.activation)),
                        *self._linear(e.output, count, inner, hidden, residual=hidden),
                        p.Norm("layer", self._norm(e.output_norm.weights, count), hidden, hidden),
                    ),
                    # A pooling of the first rows finds them in any case.
                    last_layer_first_row=e.pool is None or e.pool.kind == "first",
                ),
            ),
        )

    def head(self) -> tuple[list[p.Op], p.Buffer]:
        """The ops behind the layers, and the row that they leave."""
        e = self._encoder
        if e.pool is not None:
            if e.pool.beside:
                raise refusal("several poolings at once")
            if e.pool.kind not in _POOLINGS or e.pool.end is not None:
                raise refusal(f"pooling {e.pool.kind}")
            row = p.Buffer(e.pool.out.name, "f32", "one", self._width)
            return [p.Pool(e.pool.kind, self._hidden, row), *([p.Normalize(row)] if e.normalize else [])], row
        first, last = e.linears
        between, outputs = (p.Buffer(linear.out.name, "f32", "one", linear.out.width) for linear in e.linears)
        ops = self._linear(first, 1, self._hidden, between, _known(first.activation))
        weights = _linear_slot(last.weights, "f32", 1, (outputs.width, between.width))
        return [*ops, p.Linear("f32", weights, between, "none", None, outputs)], outputs

    def _linear(
        self,
        linear: p.Linear,
        layers: int,
        source: p.Buffer,
        out: p.Buffer,
        activation: str = "none",
        residual: p.Buffer | None = None,
    ) -> tuple[p.Linear] | tuple[p.Quantize, p.Linear]:
        """A linear of the program's kind, and before it what makes its operand."""
        weights = _linear_slot(linear.weights, self._kind, layers, (out.width, source.width))
        if self._kind == "f32":
            return (p.Linear("f32", weights, source, activation, residual, out),)
        rows: p.Rows = "one" if out.rows == "one" else "block"
        quantized = p.Buffer(linear.input.name, "quantized", rows, source.width)
        return p.Quantize(source, quantized), p.Linear("s8", weights, quantized, activation, residual, out)

    def _table(self, slot: p.WeightSlot, entries: int) -> p.WeightSlot:
        found = []
        for weights in _of_layers(slot, 1):
            if not isinstance(weights, p.EmbeddingWeights):
                raise refusal(f"{slot.name}: {described(weights)} in the place of an embedding's table")
            if weights.tied:
                raise refusal(f"{slot.name}: a table that is also the weights of a linear")
            _check_matrix(slot, weights.matrix, self._kind, (entries, self._width))
            found.append(p.EmbeddingWeights(weights.matrix, weights.source))
        return p.WeightSlot(slot.name, tuple(found))

    def _norm(self, slot: p.WeightSlot, layers: int) -> p.WeightSlot:
        found = []
        for weights in _of_layers(slot, layers):
            if not isinstance(weights, p.NormWeights):
                raise refusal(f"{slot.name}: {described(weights)} in the place of a norm's weights")
            if _shape(weights.gamma) != (self._width,) or _shape(weights.beta) != (self._width,):
                raise refusal(f"{slot.name}: gamma and beta are not of {self._width} values")
            found.append(
                p.NormWeights(weights.gamma, weights.beta, weights.epsilon, weights.inverse_width, weights.source)
            )
        return p.WeightSlot(slot.name, tuple(found))


def _linear_slot(slot: p.WeightSlot, kind: str, layers: int, shape: tuple[int, int]) -> p.WeightSlot:
    found = []
    for weights in _of_layers(slot, layers):
        if not isinstance(weights, p.LinearWeights):
            raise refusal(f"{slot.name}: {described(weights)} in the place of a linear's weights")
        _check_matrix(slot, weights.matrix, kind, shape)
        if weights.bias is not None and _shape(weights.bias) != shape[:1]:
            raise refusal(f"{slot.name}: a bias of {_shape(weights.bias)} for {shape[0]} outputs")
        found.append(p.LinearWeights(weights.matrix, weights.bias, weights.source))
    return p.WeightSlot(slot.name, tuple(found))


def _of_layers(slot: p.WeightSlot, layers: int) -> Iterator[p.Weights]:
    if len(slot.stored) != layers:
        raise refusal(f"{slot.name}: weights of {len(slot.stored)} layers for {layers}")
    yield from slot.stored


def _check_matrix(slot: p.WeightSlot, matrix: p.Integers | p.F32Matrix, kind: str, shape: tuple[int, int]) -> None:
    if not isinstance(matrix, _MATRICES[kind]):
        raise refusal(f"{slot.name}: {described(matrix)} for operands of kind {kind}")
    found = _shape(matrix.values if isinstance(matrix, p.F32Matrix) else matrix.q)
    if found != shape:
        raise refusal(f"{slot.name}: a matrix of {found} where {shape} is needed")


def _shape(array: object) -> object:
    return getattr(array, "shape", None)


def _known(activation: str) -> str:
    if activation not in _ACTIVATIONS:
        raise refusal(f"activation {activation}")
    return activation
