# SPDX-License-Identifier: Apache-2.0
"""T5 (Raffel et al., 2020, arXiv:1910.10683) and its version 1.1, which Flan-T5 is: rms norms before the blocks, no
biases, scores that are not scaled, positions by a bias of the distances of the first layer that all of them have. Names
as in `transformers` 5.23, whose configuration says in several keys what is tied and scaled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..ir.graph import (
    Array,
    Attention,
    Embed,
    Graph,
    Head,
    Layers,
    Linear,
    Mask,
    Multiply,
    Norm,
    Op,
    Parameter,
    Term,
)
from ..load.config import Config
from ..load.folder import Checkpoint
from ..load.generation_config import GenerationSettings
from ..load.limits import Limits
from ..load.safetensors import TensorFile
from ..tasks.translation import Translation
from . import parts
from .computed import Computed
from .distance_bias import distance_bias
from .target import build_behind_encoder, build_target

MODEL_TYPE = "t5"
_CLASS = "T5ForConditionalGeneration"
_WORDS = "shared.weight"
_TIED = ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight")
_LOGITS = "lm_head.weight"
_POSITIONS = "n_positions"
# Of a text and of a target where no file says it: distances have no end, T5 was trained with these.
_USUAL_TOKENS = 512
_BUCKETS, _FARTHEST = "relative_attention_num_buckets", "relative_attention_max_distance"
# Training's; prompts and settings of single tasks, which `--task` asks for.
_HARMLESS = """
    dropout_rate initializer_factor is_decoder num_hidden_layers task_specific_params
"""
HARMLESS_KEYS = frozenset(_HARMLESS.split())


def read_limits(config: Config) -> Limits:
    """There are no positions: what the folder says, or T5's own, is the default, and --max-tokens may be more."""
    width, vocabulary = config.positive_int("d_model"), config.positive_int("vocab_size")
    positions = config.positive_int(_POSITIONS, _USUAL_TOKENS, maximum=parts.MAX_WIDTH)
    key = _POSITIONS if _POSITIONS in config else f"without {_POSITIONS}, T5's own"
    return Limits(width, vocabulary, positions, key, "T5Tokenizer", writes_texts=True)


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """As `build_behind_encoder`; where nothing has a position, the token that a target begins with takes none."""
    positions = read_limits(checkpoint.config).positions + 1
    return build_behind_encoder(checkpoint, _CLASS, graph_of, max_tokens, positions)


@dataclass(frozen=True)
class Class:
    """What a class of the library has of its own."""

    feed_forward: str  # where the configuration does not say it
    may_scale: bool  # what logits are made of


def graph_of(
    config: Config,
    tensors: TensorFile,
    max_source: int,
    max_target: int,
    generation: GenerationSettings | None = None,
    of_class: Class = Class(feed_forward="relu", may_scale=True),
) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file exactly once. `max_source` are the tokens of a text,
    `max_target` those of a target behind the token that it begins with, its end included."""
    vocabulary = config.positive_int("vocab_size", maximum=parts.MAX_VOCABULARY)
    _check_pad(config)
    target = build_target(config, generation, vocabulary, max_target, has_encoder=True)
    for tokens in (max_source, target.steps(max_source)):
        parts.check_max_tokens(tokens, parts.MAX_WIDTH, "of what has no positions")
    shape = _shape(config, of_class.feed_forward)
    # Of the first files, which nothing reads.
    tensors.ignore("decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight")
    parts.check_copies(tensors, _WORDS, _TIED)
    words = parts.parameter(tensors, "word_embeddings", _WORDS, (vocabulary, shape.hidden))
    projection, scale = _logits(config, tensors, words, of_class.may_scale)
    encoder = _Stack(config, tensors, shape, "encoder", "hidden", "")
    decoder = _Stack(config, tensors, shape, "decoder", "target", "target_")
    body = (
        Embed((Term(words, "ids"),), "hidden"),
        encoder.layers((*encoder.self_attention("", max_source), *encoder.feed_forward(1))),
        encoder.final_norm(),
    )
    repeat = (
        Embed((Term(words, "ids"),), "target"),
        decoder.layers(
            (
                *decoder.self_attention("self_", target.steps(max_source)),
                *decoder.cross_attention("cross_"),
                *decoder.feed_forward(2),
            )
        ),
        decoder.final_norm(scale),
        Linear("logits", projection, None, "target", "logits"),
    )
    tensors.finish()
    return Graph(
        encoder.widths | decoder.widths | {"logits": vocabulary},
        body,
        (Head(Translation(vocabulary, max_target), "logits"),),
        vocabulary,
        1,
        max_source,
        repeat=repeat,
        target=target,
    )


@dataclass(frozen=True)
class _Shape:
    """The same in each layer of both."""

    hidden: int
    heads: int
    attention: int  # width of all heads
    intermediate: int
    activation: str
    gated: bool
    epsilon: float
    buckets: int
    farthest: int


def _shape(config: Config, feed_forward: str) -> _Shape:
    heads = config.positive_int("num_heads", maximum=parts.MAX_WIDTH)
    buckets, farthest = config.positive_int(_BUCKETS, 32, parts.MAX_WIDTH), config.positive_int(_FARTHEST, 128)
    if buckets < 4 or farthest <= buckets // 2:
        message = f"{_BUCKETS} {buckets} up to {_FARTHEST} {farthest}: 4 or more are needed, half of them for less"
        raise parts.refuse("buckets-out-of-range", message)
    parts.check_other_name(config, "num_heads", "num_attention_heads")
    name = config.text("feed_forward_proj", feed_forward)
    gated, activation = name.startswith("gated-"), name.removeprefix("gated-")
    if name == "gated-gelu":  # as the library has it
        activation = "gelu_new"
    for key, found in (("dense_act_fn", activation), ("is_gated_act", gated)):
        if config.values.get(key, found) != found:
            raise parts.refuse("config-value", f"{key} is not what feed_forward_proj says, {found}: make them agree")
    return _Shape(
        hidden=config.positive_int("d_model", maximum=parts.MAX_WIDTH),
        heads=heads,
        attention=heads * config.positive_int("d_kv", maximum=parts.MAX_WIDTH // heads),
        intermediate=config.positive_int("d_ff", maximum=parts.MAX_WIDTH),
        activation=parts.activation_named(activation, "feed_forward_proj"),
        gated=gated,
        epsilon=parts.epsilon_of(config, "layer_norm_epsilon", 1e-6),
        buckets=buckets,
        farthest=farthest,
    )


def _check_pad(config: Config) -> None:
    """EtchError where it is null, as in the library. What a target begins with is said by another key."""
    if "pad_token_id" in config and config.values["pad_token_id"] is None:
        raise parts.refuse("config-missing", "'pad_token_id' is null: the library's T5 has one")


def _logits(config: Config, tensors: TensorFile, words: Parameter, may_scale: bool) -> tuple[Parameter, float]:
    """Their weights, and what rows are multiplied by before. Version 1.0 has the words for weights and scales,
    version 1.1 does neither; what the library saves of it says that it is tied, and not scaled."""
    tied = config.flag("tie_word_embeddings", True)
    scaled = may_scale and config.flag("scale_decoder_outputs", tied)
    if scaled and not tied:
        raise parts.refuse("config-value", "scale_decoder_outputs is true, tie_word_embeddings is not")
    if scaled or (tied and _LOGITS not in tensors):
        parts.check_copies(tensors, _WORDS, (_LOGITS,))
        projection = words
    else:
        projection = parts.parameter(tensors, "vocabulary_weight", _LOGITS, words.shape)
    return projection, words.shape[1] ** -0.5 if scaled else 1.0


class _Stack:
    """Encoder or decoder: `value` are its rows, `prefix` is before the names of what it makes of them."""

    def __init__(self, config: Config, tensors: TensorFile, shape: _Shape, of: str, value: str, prefix: str) -> None:
        self._tensors, self._shape, self._of, self._value, self._prefix = tensors, shape, of, value, prefix
        key = "num_layers"
        if of == "decoder" and config.values.get("num_decoder_layers") is not None:
            key = "num_decoder_layers"
        count = config.positive_int(key, maximum=parts.MAX_LAYERS)
        parts.check_layers(tensors, count, key)
        self._blocks = [f"{of}.block.{i}." for i in range(count)]
        self._normed, self._gate, self._inner = (f"{prefix}{name}" for name in ("normed", "gate", "inner"))
        self.widths = dict.fromkeys(("hidden", value, self._normed), shape.hidden)
        self.widths |= dict.fromkeys((self._gate, self._inner) if shape.gated else (self._inner,), shape.intermediate)

    def layers(self, body: tuple[Op, ...]) -> Layers:
        """All blocks."""
        return Layers(f"{self._of}_layer", len(self._blocks), body)

    def self_attention(self, prefix: str, positions: int) -> tuple[Op, ...]:
        """To all rows of the stack or those so far, which are at most `positions`, with the bias of their distance."""
        tensor = f"{self._blocks[0]}layer.0.SelfAttention.relative_attention_bias.weight"
        shape, encodes = self._shape, self._of == "encoder"
        learned = self._tensors.take(tensor, (shape.buckets, shape.heads))
        name = f"{self._prefix}position_bias"
        bias = distance_bias(name, learned, positions, shape.buckets, shape.farthest, both_sides=encodes)
        return self._attention(prefix, 0, "SelfAttention", self._normed, "none" if encodes else "causal", bias)

    def cross_attention(self, prefix: str) -> tuple[Op, ...]:
        """To the rows of the encoder."""
        return self._attention(prefix, 1, "EncDecAttention", "hidden", "none", None)

    def _attention(
        self, prefix: str, part: int, module: str, source: str, mask: Mask, bias: Parameter | None
    ) -> tuple[Op, ...]:
        query, key, value, context = (f"{prefix}{what}" for what in ("query", "key", "value", "context"))
        self.widths |= dict.fromkeys((query, key, value, context), self._shape.attention)
        name, of = prefix or "attention_", f"layer.{part}.{module}"
        return (
            self._norm(f"{name}norm", part),
            self._linear(query, f"{of}.q", self._normed, query),
            self._linear(key, f"{of}.k", source, key),
            self._linear(value, f"{of}.v", source, value),
            Attention(query, key, value, context, self._shape.heads, scale=1.0, mask=mask, bias=bias),
            self._linear(f"{name}output", f"{of}.o", context, self._value, residual=self._value),
        )

    def feed_forward(self, part: int) -> tuple[Op, ...]:
        """With a gate or without."""
        shape, of, normed = self._shape, f"layer.{part}.DenseReluDense", self._normed
        if shape.gated:
            inner: tuple[Op, ...] = (
                self._linear(self._gate, f"{of}.wi_0", normed, self._gate, shape.activation),
                self._linear(f"{self._prefix}up", f"{of}.wi_1", normed, self._inner),
                Multiply(self._gate, self._inner, self._inner),
            )
        else:
            inner = (self._linear(f"{self._prefix}intermediate", f"{of}.wi", normed, self._inner, shape.activation),)
        output = self._linear(f"{self._prefix}output", f"{of}.wo", self._inner, self._value, residual=self._value)
        return (self._norm(f"{self._prefix}feed_forward_norm", part), *inner, output)

    def final_norm(self, scale: float = 1.0) -> Norm:
        """In place, its rows times `scale`."""
        gamma: Array = self._tensors.take(f"{self._of}.final_layer_norm.weight", (self._shape.hidden,))
        if scale != 1.0:
            gamma = _times(gamma, scale)
        name = f"{self._of}_norm"
        return self._rms(name, Parameter(f"{name}_gamma", (gamma,)), self._value)

    def _norm(self, name: str, part: int) -> Norm:
        sources = (f"{block}layer.{part}.layer_norm.weight" for block in self._blocks)
        gammas = tuple(self._tensors.take(source, (self._shape.hidden,)) for source in sources)
        return self._rms(name, Parameter(f"{name}_gamma", gammas), self._normed)

    def _rms(self, name: str, gamma: Parameter, out: str) -> Norm:
        return Norm(name, gamma, None, self._shape.epsilon, self._value, out, "rms")

    def _linear(
        self, name: str, module: str, value: str, out: str, activation: str = "none", residual: str | None = None
    ) -> Linear:
        sources, shape = [f"{block}{module}" for block in self._blocks], (self.widths[out], self.widths[value])
        return parts.linear(self._tensors, name, sources, shape, value, out, activation, residual=residual, bias=False)


def _times(array: Array, factor: float) -> Computed:
    return Computed(array.name, array.shape, lambda: array.values.astype(np.float64) * factor, array.file)
