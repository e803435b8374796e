# SPDX-License-Identifier: Apache-2.0
"""The encoder of the textbooks (Vaswani et al., 2017) with a classifier: the folder of tools/train/plain/README.md."""

from __future__ import annotations

import math
from typing import TypeVar

from ...ir.graph import Embed, Graph, Layers, Node, Pooling, Term
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.limits import Limits
from ...load.safetensors import TensorFile
from ..shared import parts
from ..shared.classifier_head import classifier_head
from ..shared.encoder_layer import LayerNames, LayerShape, post_norm_layer, pre_norm_layer
from ..shared.sinusoids import interleaved_sinusoids

MODEL_TYPE = "transformer_encoder"
POSITIONS = "max_positions"
Word = TypeVar("Word", bound=str)
_POOLINGS: tuple[Pooling, ...] = ("mean", "max", "first", "last")
LAYER = LayerNames(
    query="attention.query",
    key="attention.key",
    value="attention.value",
    attention_output="attention.output",
    attention_norm="attention_norm",
    intermediate="feed_forward.intermediate",
    output="feed_forward.output",
    output_norm="feed_forward_norm",
)


def read_limits(config: Config) -> Limits:
    """Positions are called `max_positions`."""
    width, vocabulary = (config.positive_int(key) for key in ("hidden_size", "vocab_size"))
    return Limits(width, vocabulary, config.positive_int(POSITIONS, maximum=parts.MAX_WIDTH), POSITIONS)


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file exactly once."""
    config, tensors = checkpoint.config, checkpoint.tensors
    if checkpoint.sentence is not None:
        raise parts.refuse("architecture-conflict", f"{MODEL_TYPE} has a head of its own: remove modules.json")
    limits = read_limits(config)
    parts.check_max_tokens(max_tokens, limits.positions, POSITIONS)
    shape = read_shape(config)
    pre = choice(config, "norm", ("post", "pre")) == "pre"
    pooling = choice(config, "pooling", _POOLINGS)
    body: tuple[Node, ...] = (_embedding(config, tensors, shape, limits), _layers(config, tensors, shape, pre))
    widths = shape.widths
    if pre:
        widths |= {"normed": shape.hidden}
        body += (
            parts.layer_norm(
                tensors, "final_norm", ["final_norm"], shape.hidden, shape.epsilon, "hidden", bias=shape.bias
            ),
        )
    head, more, result = classifier_head(
        config, tensors, "hidden", shape.hidden, "classifier", pooling=pooling, bias=shape.bias
    )
    tensors.finish()
    return Graph(widths | more, body + head, (result,), limits.vocabulary, parts.SEGMENTS, max_tokens)


def read_shape(config: Config) -> LayerShape:
    """Of each layer."""
    shape = LayerShape(
        hidden=config.positive_int("hidden_size", maximum=parts.MAX_WIDTH),
        heads=config.positive_int("num_heads", maximum=parts.MAX_WIDTH),
        intermediate=config.positive_int("intermediate_size", maximum=parts.MAX_WIDTH),
        activation=parts.activation_of(config, "activation", None),
        epsilon=parts.epsilon_of(config, "layer_norm_eps", None),
        bias=config.flag("bias"),
    )
    parts.check_heads(shape.hidden, shape.heads, heads_key="num_heads")
    return shape


def _embedding(config: Config, tensors: TensorFile, shape: LayerShape, limits: Limits) -> Node:
    words = parts.parameter(tensors, "word_embeddings", "embedding.weight", (limits.vocabulary, shape.hidden))
    name = "position_embeddings"
    if choice(config, "positions", ("sinusoidal", "learned")) == "learned":
        positions = parts.parameter(tensors, name, "positions.weight", (limits.positions, shape.hidden))
    else:
        positions = interleaved_sinusoids(name, limits.positions, shape.hidden)
    factor = math.sqrt(shape.hidden) if config.flag("scale_embedding") else None
    return Embed((Term(words, "ids", factor=factor), Term(positions, "positions")), "hidden")


def _layers(config: Config, tensors: TensorFile, shape: LayerShape, pre: bool) -> Layers:
    count = config.positive_int("num_layers", maximum=parts.MAX_LAYERS)
    parts.check_layers(tensors, count, "num_layers")
    layer = pre_norm_layer if pre else post_norm_layer
    return Layers("encoder_layer", count, layer(tensors, [f"layers.{i}." for i in range(count)], LAYER, shape))


def choice(config: Config, key: str, supported: tuple[Word, ...]) -> Word:
    """What a key names, one of a few words."""
    value = config.text(key)
    found = next((word for word in supported if word == value), None)
    if found is None:
        raise parts.refuse("config-value", f"{key} '{value}' is not supported (supported: {', '.join(supported)})")
    return found
