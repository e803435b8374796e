# SPDX-License-Identifier: Apache-2.0
"""ALBERT: layers that share their weights, embeddings of another width than the layers. Names as in `transformers`.

Layer i of `num_hidden_layers` belongs to a group of layers that are the same; a group is `inner_group_num` layers one
after the other.
"""

from __future__ import annotations

from ...ir.graph import Graph, Layers, Node
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.limits import Limits, usual_limits
from ...load.safetensors import TensorFile
from ..bases import bert_like
from ..bases.architecture import check_architecture
from ..bases.heads import Classifier, Encoder, FamilyHeads, graph_with_head
from ..shared import parts
from ..shared.encoder_layer import LayerNames, LayerShape, post_norm_layer
from ..shared.prediction_head import Prediction

MODEL_TYPE = "albert"
NAME = "Albert"
# The last four are in Google's files, and no model reads them.
HARMLESS_KEYS = frozenset(
    ("classifier_dropout_prob", "down_scale_factor", "gap_size", "net_structure_type", "num_memory_blocks")
)
_LAYER = LayerNames(
    query="attention.query",
    key="attention.key",
    value="attention.value",
    attention_output="attention.dense",
    attention_norm="attention.LayerNorm",
    intermediate="ffn",
    output="ffn_output",
    output_norm="full_layer_layer_norm",
)


def read_limits(config: Config) -> Limits:
    """By the usual keys."""
    return usual_limits(config, "AlbertTokenizer")


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    config, tensors = checkpoint.config, checkpoint.tensors
    check_architecture(checkpoint, NAME, pre_training=("ForMaskedLM",))
    bert_like.check_encoder_only(config)
    shape, tables = bert_like.read_shape(config, activation="gelu_new"), bert_like.read_tables(config)
    parts.check_max_tokens(max_tokens, tables.positions)
    prefix = tensors.below("albert.")
    width = config.positive_int("embedding_size", 128, maximum=parts.MAX_WIDTH)
    prediction = Prediction.as_bert("predictions", "predictions", shape, width)
    prediction.giving_words(checkpoint, f"{prefix}{bert_like.WORDS}")
    body: tuple[Node, ...] = (
        *bert_like.embed_projected(tensors, prefix, tables, width, shape, "encoder.embedding_hidden_mapping_in"),
        _layers(config, tensors, f"{prefix}encoder.albert_layer_groups", shape),
    )
    encoder = Encoder(body, shape.widths | {"embedded": width}, tables.vocabulary, tables.segments)
    heads = FamilyHeads(
        Classifier("classifier", ("pooler", f"{prefix}pooler", "tanh")),
        prediction,
        left_out=(f"{prefix}pooler.weight", f"{prefix}pooler.bias", "sop_classifier.*"),
    )
    return graph_with_head(checkpoint, max_tokens, NAME, encoder, heads)


def _layers(config: Config, tensors: TensorFile, prefix: str, shape: LayerShape) -> Layers:
    """All of them; the weights of a group are stored once."""
    layers = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    groups = config.positive_int("num_hidden_groups", 1, maximum=parts.MAX_LAYERS)
    inner = config.positive_int("inner_group_num", 1, maximum=parts.MAX_LAYERS)
    if groups > layers or layers * inner > parts.MAX_LAYERS:
        raise parts.refuse(
            "layers-out-of-range",
            f"{layers} layers in {groups} groups of {inner}: expected at most as many groups as layers, and "
            f"{parts.MAX_LAYERS} layers in all",
        )
    parts.check_layers(tensors, groups * inner, "num_hidden_groups * inner_group_num")
    stored = [f"{prefix}.{group}.albert_layers.{layer}." for group in range(groups) for layer in range(inner)]
    # The library's expression: its rounding decides where the groups do not divide the layers.
    of_group = [int(layer / (layers / groups)) for layer in range(layers)]
    of_layer = tuple(group * inner + layer for group in of_group for layer in range(inner))
    return Layers("encoder_layer", len(of_layer), post_norm_layer(tensors, stored, _LAYER, shape, of_layer=of_layer))
