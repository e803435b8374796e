# SPDX-License-Identifier: Apache-2.0
"""DeBERTa, the first version: every distance has a row of its own, queries, keys and values are one linear whose rows
go by heads, keys have no bias. Names as in `transformers`."""

from __future__ import annotations

import numpy as np

from ...ir.graph import Attention, Linear, Op, Parameter
from ...ir.parameter import Array, F32Array
from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases import bert_like, deberta_like
from ..shared import parts
from ..shared.computed import Computed
from ..shared.disentangled import KEYS, QUERIES, Relative, disentangled, farthest_distance, known_kinds, read_kinds
from ..shared.encoder_layer import LayerShape, post_norm_layer

MODEL_TYPE = "deberta"
HARMLESS_KEYS = deberta_like.HARMLESS_KEYS
_SELF = "attention.self."
_INPUTS = {"query": "q_bias", "key": None, "value": "v_bias"}  # in the order of a head's rows, with their biases


def _layer(
    config: Config, tensors: TensorFile, prefix: str, prefixes: list[str], shape: LayerShape, max_tokens: int
) -> tuple[Op, ...]:
    if config.flag("talking_head", False):
        raise parts.refuse("config-not-supported", "talking_head is true: heads that mix are not supported")
    kinds, farthest = read_kinds(config), farthest_distance(config)
    if farthest > parts.MAX_WIDTH:
        raise parts.refuse("buckets-out-of-range", f"distances up to {farthest}: expected at most {parts.MAX_WIDTH}")
    used = config.flag("relative_attention", False)
    relative = Relative(known_kinds(kinds), 1 + len(kinds), used, buckets=0, farthest=farthest)

    def projection(kind: str) -> Linear:
        name = {KEYS: "pos_proj", QUERIES: "pos_q_proj"}[kind]
        sources, size = [f"{each}{_SELF}{name}" for each in prefixes], (shape.hidden, shape.hidden)
        return parts.linear(tensors, name, sources, size, "", "", bias=kind == QUERIES)

    attention = disentangled(
        tensors,
        f"{prefix}rel_embeddings.weight",
        None,
        projection,
        Attention("query", "key", "value", "context", shape.heads),
        shape.hidden,
        relative,
        max_tokens,
    )
    inputs = _inputs(tensors, prefixes, shape)
    return post_norm_layer(tensors, prefixes, bert_like.LAYER, shape, context=(*inputs, attention))


def _inputs(tensors: TensorFile, prefixes: list[str], shape: LayerShape) -> tuple[Linear, ...]:
    stored = [
        tensors.take(f"{each}{_SELF}in_proj.weight", (len(_INPUTS) * shape.hidden, shape.hidden)) for each in prefixes
    ]

    def linear(part: int, name: str, source: str | None) -> Linear:
        weight = Parameter(f"{name}_weight", tuple(_rows_by_head(array, part, shape) for array in stored))
        bias = None
        if source is not None:
            biases = tuple(tensors.take(f"{each}{_SELF}{source}", (shape.hidden,)) for each in prefixes)
            bias = Parameter(f"{name}_bias", biases)
        return Linear(name, weight, bias, "hidden", name)

    return tuple(linear(part, *names) for part, names in enumerate(_INPUTS.items()))


def _rows_by_head(array: Array, part: int, shape: LayerShape) -> Computed:
    """The rows of a part of each head."""

    def rows() -> F32Array:
        by_head = array.values.astype(np.float32, copy=False).reshape(shape.heads, len(_INPUTS), -1, shape.hidden)
        return by_head[:, part].reshape(shape.hidden, shape.hidden)

    return Computed(f"{array.name}[{part}]", (shape.hidden, shape.hidden), rows, array.file)


FAMILY = deberta_like.Family("Deberta", "DebertaTokenizer", _layer)
