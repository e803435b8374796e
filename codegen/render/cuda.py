# SPDX-License-Identifier: Apache-2.0
"""A program as the GPU computes it: an encoder whose layers end in LayerNorms, fused into few kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .. import program as p
from ..errors import EtchError
from ..targets import round_up
from .text import constant, float_literal, pascal

_ROW_PADDING = 16  # etch::cuda::kRowPadding
_EPILOGUES = {"none": "bias", "relu": "bias_relu", "gelu": "bias_gelu", "gelu_tanh": "bias_gelu"}


@dataclass(frozen=True)
class _Encoder:
    """The ops of a program by what they are there."""

    embedding: p.EmbeddingSum
    embedding_norm: p.LayerNorm
    loop: p.Loop
    key: p.Linear
    value: p.Linear
    query: p.Linear
    attention_output: p.Linear
    attention_norm: p.LayerNorm
    intermediate: p.Linear
    output: p.Linear
    output_norm: p.LayerNorm
    pool: p.Pool | None
    normalize: bool
    linears: tuple[p.Linear, ...]  # of the head, the last one f32

    @property
    def first_rows(self) -> bool:
        """Whether the last layer computes the first row of each text only; the pooling wants rows where they lay."""
        return self.loop.body[1].last_layer_first_row and self.pool is None


def cuda_values(program: p.Program) -> dict[str, Any]:
    """What the templates of the GPU's files say. EtchError where the program is no such encoder."""
    encoder = _encoder(program)
    width, inner = _outputs(encoder.output), _outputs(encoder.intermediate)
    heads = program.heads
    fast_head_width = _padded(heads.width)
    hidden, last = encoder.linears[:-1], encoder.linears[-1:]
    activation = encoder.intermediate.activation
    products = [3 * width, width, inner, *map(_outputs, hidden)]
    linears = [
        {
            "name": linear.weights.name,
            "constant": constant(linear.weights.name),
            "activation": linear.activation,
            "outputs": _outputs(linear),
            "stride": _padded(_outputs(linear)),
            "input": linear.input.name,
            "out": linear.out.name,
        }
        for linear in encoder.linears
    ]
    return {
        "exact": encoder.embedding.kind == "s8",
        "heads": heads.heads,
        "head_width": heads.width,
        "score_scale": float_literal(heads.score_scale),
        "layer_type": pascal(encoder.loop.name),
        "layer_array": constant(encoder.loop.name + "s"),
        "layer_count": constant(encoder.loop.name + "_count"),
        "embedding_type": "S8Embedding" if encoder.embedding.kind == "s8" else "F32Embedding",
        **_slot("word", encoder.embedding.word),
        **_slot("segment", encoder.embedding.segment),
        **_slot("position", encoder.embedding.position),
        **_slot("embedding_norm", encoder.embedding_norm.weights),
        "query": encoder.query.weights.name,
        "key": encoder.key.weights.name,
        "value": encoder.value.weights.name,
        "attention_output": encoder.attention_output.weights.name,
        "attention_norm": encoder.attention_norm.weights.name,
        "intermediate": encoder.intermediate.weights.name,
        "output_linear": encoder.output.weights.name,
        "output_norm": encoder.output_norm.weights.name,
        "hidden_linears": linears[: len(hidden)],
        "last_linear": linears[-1] if last else None,
        "all_head_linears": linears,
        "pooling": None if encoder.pool is None else encoder.pool.kind,
        "normalizes": encoder.normalize,
        "host_ops": encoder.normalize or program.task.name in ("single_label", "multi_label"),
        "first_rows": encoder.first_rows,
        "activation": activation,
        "epilogue": _EPILOGUES.get(activation, "bias"),
        "own_activation": activation not in _EPILOGUES,
        "tanh_gelu": activation == "gelu",
        "width": width,
        "width_stride": _padded(width),
        "inner": inner,
        "inner_stride": _padded(inner),
        "exact_projections_stride": _padded(3 * width),
        "exact_widest": max(map(_padded, products)),
        "fast_head_width": fast_head_width,
        "fast_projections": 3 * heads.heads * fast_head_width,
        "fast_context": heads.heads * fast_head_width,
        "fast_widest": max(map(_padded, [width, *map(_outputs, hidden)])),
        "outputs_width": program.output.width,
        "products": 4 + len(hidden),
    }


def _encoder(program: p.Program) -> _Encoder:
    """Finds each op where an encoder has it."""
    ops = [op for op in p.ops_of(program) if not isinstance(op, p.Quantize | p.PackKeys | p.PackValues)]
    loops = [step for step in program.steps if isinstance(step, p.Loop)]
    kinds = (p.EmbeddingSum, p.LayerNorm, p.Linear, p.Linear, p.Linear, p.Attention, p.Linear, p.LayerNorm)
    kinds += (p.Linear, p.Linear, p.LayerNorm)
    if len(loops) != 1 or len(ops) < len(kinds) or not all(map(isinstance, ops, kinds)):
        raise _refusal("another order of ops than embedding, layers, head")
    head = ops[len(kinds) :]
    linears = tuple(op for op in head if isinstance(op, p.Linear))
    pools = [op for op in head if isinstance(op, p.Pool)]
    normalizes = [op for op in head if isinstance(op, p.Normalize)]
    if len(pools) + bool(linears) != 1 or len(head) != len(linears) + len(pools) + len(normalizes):
        raise _refusal("another head than one pooling, or linears")
    if len(linears) not in (0, 2) or (linears and not loops[0].body[1].last_layer_first_row):
        raise _refusal("a head of other than two linears on the first row")
    embedding, embedding_norm, key, value, query, _, attention_output, attention_norm, *rest = ops[: len(kinds)]
    return _Encoder(
        embedding,
        embedding_norm,
        loops[0],
        key,
        value,
        query,
        attention_output,
        attention_norm,
        *rest,
        pool=pools[0] if pools else None,
        normalize=bool(normalizes),
        linears=linears,
    )


def _refusal(what: str) -> EtchError:
    return EtchError("gpu-not-supported", "render", f"the code for GPUs cannot express {what}")


def _slot(role: str, slot: p.WeightSlot) -> dict[str, str]:
    return {role: slot.name, f"{role}_constant": constant(slot.name)}


def _outputs(linear: p.Linear) -> int:
    return linear.out.width


def _padded(width: int) -> int:
    return round_up(width, _ROW_PADDING)
