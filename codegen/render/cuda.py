# SPDX-License-Identifier: Apache-2.0
"""What the templates of a model's files for GPUs say: an encoder's ops as its back end fuses them."""

from __future__ import annotations

from typing import Any

from ..gpu import Encoder
from ..ir import program as p
from .text import constant, float_literal, pascal


def cuda_values(program: p.Program, encoder: Encoder) -> dict[str, Any]:
    """The values of both files, for the ops that `encoder` found in `program`."""
    words, segments, positions = (term.table for term in encoder.embedding.terms)
    exact = encoder.embedding.kind == "s8"
    shape = encoder.attention.shape
    return {
        "exact": exact,
        "width": encoder.output.out.width,
        "inner": encoder.intermediate.out.width,
        "layer_type": pascal(encoder.loop.name),
        "layer_array": constant(encoder.loop.name + "s"),
        "layer_count": constant(encoder.loop.name + "_count"),
        "heads": shape.heads,
        "head_width": shape.width,
        "score_scale": float_literal(encoder.attention.score_scale),
        "activation": encoder.intermediate.activation,
        "embedding_type": "S8Embedding" if exact else "F32Embedding",
        "weights_type": "S8Weights" if exact else "F32Weights",
        "word": constant(words.name),
        "segment": constant(segments.name),
        "position": constant(positions.name),
        "embedding_norm": constant(encoder.embedding_norm.weights.name),
        "query": encoder.query.weights.name,
        "key": encoder.key.weights.name,
        "value": encoder.value.weights.name,
        "attention_output": encoder.attention_output.weights.name,
        "attention_norm": encoder.attention_norm.weights.name,
        "intermediate": encoder.intermediate.weights.name,
        "output_linear": encoder.output.weights.name,
        "output_norm": encoder.output_norm.weights.name,
        **_head(encoder),
        "normalizes": encoder.normalize,
        "host_ops": encoder.normalize or program.task.activates,
    }


def _head(encoder: Encoder) -> dict[str, Any]:
    if encoder.pool is not None:
        return {"pooling": encoder.pool.kind}
    hidden, last = encoder.linears
    return {
        "pooling": None,
        "hidden": constant(hidden.weights.name),
        "hidden_activation": hidden.activation,
        "last": constant(last.weights.name),
    }
