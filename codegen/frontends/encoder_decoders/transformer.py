# SPDX-License-Identifier: Apache-2.0
"""The transformer of the textbooks (Vaswani et al., 2017), encoder and decoder; its tables of words are tied as in the
paper, or not as in courses: the folder of tools/train/plain/README.md."""

from __future__ import annotations

import math

from ...ir.graph import Embed, Graph, Head, Layers, Linear, Node, Parameter, Term
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.generation_config import GenerationSettings
from ...load.limits import Limits
from ...load.safetensors import TensorFile
from ...tasks.translation import Translation
from ..encoders import transformer_encoder
from ..encoders.transformer_encoder import POSITIONS, choice
from ..shared import parts
from ..shared.decoder_layer import DecoderNames, decoder_layer, decoder_widths
from ..shared.encoder_layer import LayerShape, post_norm_layer, pre_norm_layer
from ..shared.sinusoids import interleaved_sinusoids
from ..shared.target_rules import build_behind_encoder, build_target_rules

MODEL_TYPE = "transformer"
_CLASS = "Transformer"
_LAYER = DecoderNames(
    self_query="attention.query",
    self_key="attention.key",
    self_value="attention.value",
    self_output="attention.output",
    self_norm="attention_norm",
    cross_query="cross_attention.query",
    cross_key="cross_attention.key",
    cross_value="cross_attention.value",
    cross_output="cross_attention.output",
    cross_norm="cross_attention_norm",
    target_intermediate="feed_forward.intermediate",
    target_output="feed_forward.output",
    target_norm="feed_forward_norm",
)


def read_limits(config: Config) -> Limits:
    """Positions are those of a text, and of what is written, which may have a vocabulary of its own."""
    width, vocabulary, target = (config.positive_int(key) for key in ("hidden_size", "vocab_size", "target_vocab_size"))
    positions = config.positive_int(POSITIONS, maximum=parts.MAX_WIDTH)
    return Limits(width, vocabulary, positions, POSITIONS, writes_texts=True, target_entries=target)


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint. It writes as many tokens as the folder says, or as there are positions."""
    return build_behind_encoder(checkpoint, _CLASS, graph_of, max_tokens, read_limits(checkpoint.config).positions)


def graph_of(
    config: Config,
    tensors: TensorFile,
    max_source: int,
    max_target: int,
    generation: GenerationSettings | None = None,
) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file exactly once. `max_source` are the tokens of a text,
    `max_target` those of a target behind what it begins with, its end included."""
    limits, shape = read_limits(config), transformer_encoder.read_shape(config)
    rules = build_target_rules(config, generation, limits.target_vocabulary, max_target, has_encoder=True)
    for tokens in (max_source, rules.steps(max_source)):
        parts.check_max_tokens(tokens, limits.positions, POSITIONS)
    pre_norm = choice(config, "norm", ("post", "pre")) == "pre"
    source_words, target_words, weight = _words(config, tensors, shape.hidden, limits)
    body = (
        _embedding(config, tensors, source_words, "source", shape.hidden, limits, "hidden"),
        _layers(config, tensors, "encoder", shape, pre_norm),
        *_final_norm(tensors, "encoder", shape, "hidden", pre_norm),
    )
    bias = parts.parameter(tensors, "vocabulary_bias", "output.bias", weight.shape[:1]) if shape.bias else None
    repeat = (
        _embedding(config, tensors, target_words, "target", shape.hidden, limits, "target"),
        _layers(config, tensors, "decoder", shape, pre_norm),
        *_final_norm(tensors, "decoder", shape, "target", pre_norm),
        Linear("logits", weight, bias, "target", "logits"),
    )
    tensors.finish()
    widths = shape.widths | decoder_widths(shape) | {"logits": limits.target_vocabulary}
    if pre_norm:
        widths |= dict.fromkeys(("normed", "target_normed"), shape.hidden)
    return Graph(
        widths,
        body,
        (Head(Translation(limits.target_vocabulary, max_target), "logits"),),
        limits.vocabulary,
        1,
        max_source,
        repeat=repeat,
        target_rules=rules,
    )


def _words(config: Config, tensors: TensorFile, width: int, limits: Limits) -> tuple[Parameter, Parameter, Parameter]:
    """The tables of texts and of targets, and the weights of the logits: one and the same where they are tied."""
    source, target = (limits.vocabulary, width), (limits.target_vocabulary, width)
    if not config.flag("tied"):
        return (
            parts.parameter(tensors, "source_words", "source_embedding.weight", source),
            parts.parameter(tensors, "target_words", "target_embedding.weight", target),
            parts.parameter(tensors, "vocabulary_weight", "output.weight", target),
        )
    if source != target:
        message = f"'tied' is true: vocab_size {source[0]} and target_vocab_size {target[0]} must agree"
        raise parts.refuse("config-value", message)
    words = parts.parameter(tensors, "word_embeddings", "embedding.weight", source)
    return words, words, words


def _embedding(
    config: Config, tensors: TensorFile, words: Parameter, of: str, width: int, limits: Limits, out: str
) -> Node:
    if choice(config, "positions", ("sinusoidal", "learned")) == "learned":
        rows = (limits.positions, width)
        positions = parts.parameter(tensors, f"{of}_positions", f"{of}_positions.weight", rows)
    else:
        positions = interleaved_sinusoids(f"{of}_positions", limits.positions, width)
    factor = math.sqrt(width) if config.flag("scale_embedding") else None
    return Embed((Term(words, "ids", factor=factor), Term(positions, "positions")), out)


def _layers(config: Config, tensors: TensorFile, of: str, shape: LayerShape, pre_norm: bool) -> Layers:
    key = f"num_{of}_layers"
    count = config.positive_int(key, maximum=parts.MAX_LAYERS)
    parts.check_layers(tensors, count, key)
    prefixes = [f"{of}_layers.{i}." for i in range(count)]
    if of == "decoder":
        return Layers("decoder_layer", count, decoder_layer(tensors, prefixes, _LAYER, shape, "hidden", pre_norm))
    layer = pre_norm_layer if pre_norm else post_norm_layer
    return Layers("encoder_layer", count, layer(tensors, prefixes, transformer_encoder.LAYER, shape))


def _final_norm(tensors: TensorFile, of: str, shape: LayerShape, value: str, pre_norm: bool) -> tuple[Node, ...]:
    if not pre_norm:
        return ()
    name = f"{of}_norm"
    return (parts.layer_norm(tensors, name, [name], shape.hidden, shape.epsilon, value, bias=shape.bias),)
