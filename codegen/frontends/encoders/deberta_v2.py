# SPDX-License-Identifier: Apache-2.0
"""DeBERTa-v2 and v3: buckets of distances, a norm of their embedding, projections that are those of the content. Names
as in `transformers`."""

from __future__ import annotations

from dataclasses import replace

from ...ir.graph import Attention, Linear, Op
from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases import bert_like, deberta_like
from ..shared import parts
from ..shared.disentangled import KEYS, QUERIES, Relative, disentangled, farthest_distance, known_kinds, read_kinds
from ..shared.encoder_layer import LayerShape, post_norm_layer

MODEL_TYPE = "deberta-v2"
HARMLESS_KEYS = deberta_like.HARMLESS_KEYS | {"cls_dropout", "conv_act", "conv_groups"}
_LAYER = replace(
    bert_like.LAYER,
    query="attention.self.query_proj",
    key="attention.self.key_proj",
    value="attention.self.value_proj",
)
# By kind: the linear of the content, and that of positions where they have one of their own.
_PROJECTIONS = {KEYS: ("key", "pos_key_proj"), QUERIES: ("query", "pos_query_proj")}


def _layer(
    config: Config, tensors: TensorFile, prefix: str, prefixes: list[str], shape: LayerShape, max_tokens: int
) -> tuple[Op, ...]:
    deberta_like.check_only(config, "attention_head_size", shape.hidden // shape.heads)
    if config.natural_int("conv_kernel_size", 0):
        raise parts.refuse(
            "convolution-not-supported",
            f"conv_kernel_size is {config.values['conv_kernel_size']}: a convolution beside the first layer is not "
            "supported",
        )
    body = post_norm_layer(tensors, prefixes, _LAYER, shape)
    norm = None
    if "layer_norm" in [word.strip() for word in config.text("norm_rel_ebd", "none").lower().split("|")]:
        norm = parts.layer_norm(tensors, "relative_norm", [f"{prefix}LayerNorm"], shape.hidden, shape.epsilon, "")
    shares = config.flag("share_att_key", False)

    def projection(kind: str) -> Linear:
        content, own = _PROJECTIONS[kind]
        if shares:
            return next(op for op in body if isinstance(op, Linear) and op.name == content)
        sources = [f"{each}attention.self.{own}" for each in prefixes]
        return parts.linear(tensors, own, sources, (shape.hidden, shape.hidden), "", "")

    def with_positions(op: Op) -> Op:
        if not isinstance(op, Attention):
            return op
        table, relative = f"{prefix}rel_embeddings.weight", _read_relative(config)
        return disentangled(tensors, table, norm, projection, op, shape.hidden, relative, max_tokens)

    return tuple(map(with_positions, body))


def _read_relative(config: Config) -> Relative:
    kinds, farthest = known_kinds(read_kinds(config)), farthest_distance(config)
    buckets = config.values.get("position_buckets", -1)
    buckets = buckets if type(buckets) is int and buckets > 0 else 0
    if max(farthest, buckets) > parts.MAX_WIDTH or buckets == 1 or (buckets and farthest - 1 <= buckets // 2):
        raise parts.refuse(
            "buckets-out-of-range",
            f"position_buckets {buckets} for distances up to {farthest}: expected 2 or more, half of them for less",
        )
    return Relative(kinds, 1 + len(kinds), config.flag("relative_attention", False), buckets, farthest)


FAMILY = deberta_like.Family("DebertaV2", "DebertaV2Tokenizer", _layer)
