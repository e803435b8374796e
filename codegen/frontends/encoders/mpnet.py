# SPDX-License-Identifier: Apache-2.0
"""MPNet: BERT's layers with a bias of scores by distance, no segments, positions from 2 on. Names as in `transformers`.

A padding token that a text spells out counts as any other here; `transformers` gives it no position of its own.
"""

from __future__ import annotations

from ...ir.graph import Embed, Graph, Layers, Node, Parameter, Term
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.limits import Limits
from ...load.safetensors import TensorFile
from ..bases import bert_like
from ..bases.architecture import check_architecture
from ..bases.heads import Classifier, Encoder, FamilyHeads, graph_with_head
from ..shared import parts
from ..shared.distance_bias import distance_bias
from ..shared.encoder_layer import LayerNames, LayerShape, post_norm_layer
from ..shared.prediction_head import Prediction

MODEL_TYPE = "mpnet"
NAME = "MPNet"
FIRST_POSITION = 2  # behind that of the padding token, MPNetEmbeddings.padding_idx = 1
BUCKETS = 32  # that distances fall into, whatever relative_attention_num_buckets says: it only sizes the table
MAX_DISTANCE = 128
_POSITIONS = "max_position_embeddings"
_LAYER = LayerNames(
    query="attention.attn.q",
    key="attention.attn.k",
    value="attention.attn.v",
    attention_output="attention.attn.o",
    attention_norm="attention.LayerNorm",
    intermediate="intermediate.dense",
    output="output.dense",
    output_norm="output.LayerNorm",
)


def read_limits(config: Config) -> Limits:
    """Two positions are never a token's."""
    positions = config.positive_int(_POSITIONS, maximum=parts.MAX_WIDTH) - FIRST_POSITION
    width, vocabulary = config.positive_int("hidden_size"), config.positive_int("vocab_size")
    return Limits(width, vocabulary, positions, f"{_POSITIONS} - {FIRST_POSITION}", "MPNetTokenizer")


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    config, tensors = checkpoint.config, checkpoint.tensors
    check_architecture(checkpoint, NAME)
    bert_like.check_encoder_only(config)
    shape, limits = bert_like.read_shape(config), read_limits(config)
    bert_like.check_padding(checkpoint.tokenizer, FIRST_POSITION - 1)
    parts.check_max_tokens(max_tokens, limits.positions, limits.positions_key)
    prefix = tensors.below("mpnet.")
    prediction = Prediction.as_roberta(shape).giving_words(checkpoint, f"{prefix}{bert_like.WORDS}")
    body = _encoder(config, tensors, prefix, shape, limits, max_tokens)
    dense = ("classifier_dense", "classifier.dense", "tanh")
    encoder = Encoder(body, shape.widths, limits.vocabulary, segments=1)
    heads = FamilyHeads(
        Classifier("classifier.out_proj", dense, ("pooler", f"{prefix}pooler.dense", "tanh")),
        prediction,
        left_out=(f"{prefix}pooler.dense.weight", f"{prefix}pooler.dense.bias"),
    )
    return graph_with_head(checkpoint, max_tokens, NAME, encoder, heads)


def _encoder(
    config: Config, tensors: TensorFile, prefix: str, shape: LayerShape, limits: Limits, max_tokens: int
) -> tuple[Node, ...]:
    """Ids to `hidden`, one row per token."""
    layers = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    parts.check_layers(tensors, layers)
    embeddings, width = f"{prefix}embeddings.", shape.hidden
    words = parts.parameter(tensors, "word_embeddings", f"{prefix}{bert_like.WORDS}", (limits.vocabulary, width))
    entries = limits.positions + FIRST_POSITION
    table = f"{embeddings}position_embeddings.weight"
    positions = parts.parameter(tensors, "position_embeddings", table, (entries, width))
    bias = _position_bias(config, tensors, f"{prefix}encoder.relative_attention_bias.weight", shape.heads, max_tokens)
    prefixes = [f"{prefix}encoder.layer.{i}." for i in range(layers)]
    return (
        Embed((Term(words, "ids"), Term(positions, "positions", FIRST_POSITION)), "hidden"),
        parts.layer_norm(tensors, "embedding_norm", [f"{embeddings}LayerNorm"], width, shape.epsilon, "hidden"),
        Layers("encoder_layer", layers, post_norm_layer(tensors, prefixes, _LAYER, shape, attention_bias=bias)),
    )


def _position_bias(config: Config, tensors: TensorFile, name: str, heads: int, max_tokens: int) -> Parameter:
    """The same in all layers."""
    table = config.positive_int("relative_attention_num_buckets", BUCKETS, maximum=parts.MAX_WIDTH)
    if table < BUCKETS:
        raise parts.refuse(
            "buckets-out-of-range", f"relative_attention_num_buckets {table}: distances fall into {BUCKETS}"
        )
    return distance_bias("position_bias", (tensors.take(name, (table, heads)),), max_tokens, BUCKETS, MAX_DISTANCE)
