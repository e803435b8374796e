# SPDX-License-Identifier: Apache-2.0
"""The blocks of T5, encoder's and decoder's: rms norms before them, no biases, scores that are not scaled, positions by
a bias of the distances of the first layer that all of them have, or of each one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from ...ir.graph import Attention, Embed, Layers, Linear, Mask, Multiply, Node, Norm, Op, Parameter, Term
from ...ir.parameter import Array
from ...load.config import Config
from ...load.safetensors import TensorFile
from . import parts
from .computed import times
from .distance_bias import distance_bias

ROOT = "transformer."  # of both stacks in files of some classes with a head
# Of the first files, which nothing reads.
UNREAD = "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"
_BUCKETS, _FARTHEST = "relative_attention_num_buckets", "relative_attention_max_distance"
# Of the library, for one thing.
_OTHER_NAMES = {
    "d_model": "hidden_size",
    "d_kv": "head_dim",
    "num_heads": "num_attention_heads",
    "num_layers": "num_hidden_layers",
}


@dataclass(frozen=True)
class Form:
    """What families differ in."""

    feed_forward: str  # where the configuration does not say it
    scaling: Literal["said", "never", "always"]  # of the rows that logits are made of
    begin: int | None = None  # what a decoder reads first, where the configuration does not say it
    bias_by_layer: bool = False  # each layer has a bias of its own


@dataclass(frozen=True)
class Shape:
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
    bias_by_layer: bool


def read_shape(config: Config, form: Form) -> Shape:
    """EtchError where keys disagree."""
    heads = config.positive_int("num_heads", maximum=parts.MAX_WIDTH)
    buckets, farthest = config.positive_int(_BUCKETS, 32, parts.MAX_WIDTH), config.positive_int(_FARTHEST, 128)
    if buckets < 4 or farthest <= buckets // 2:
        message = f"{_BUCKETS} {buckets} up to {_FARTHEST} {farthest}: 4 or more are needed, half of them for less"
        raise parts.refuse("buckets-out-of-range", message)
    parts.check_other_names(config, _OTHER_NAMES)
    name = config.text("feed_forward_proj", form.feed_forward)
    gated, activation = name.startswith("gated-"), name.removeprefix("gated-")
    if name == "gated-gelu":  # as the library has it
        activation = "gelu_new"
    for key, found in (("dense_act_fn", activation), ("is_gated_act", gated)):
        if config.values.get(key, found) != found:
            raise parts.refuse("config-value", f"{key} is not what feed_forward_proj says, {found}: make them agree")
    return Shape(
        hidden=config.positive_int("d_model", maximum=parts.MAX_WIDTH),
        heads=heads,
        attention=heads * config.positive_int("d_kv", maximum=parts.MAX_WIDTH // heads),
        intermediate=config.positive_int("d_ff", maximum=parts.MAX_WIDTH),
        activation=parts.activation_named(activation, "feed_forward_proj"),
        gated=gated,
        epsilon=parts.epsilon_of(config, "layer_norm_epsilon", 1e-6),
        buckets=buckets,
        farthest=farthest,
        bias_by_layer=form.bias_by_layer,
    )


def check_pad(config: Config) -> None:
    """EtchError where a decoder's is null, as in the library. What it begins with is said by another key."""
    if "pad_token_id" in config and config.values["pad_token_id"] is None:
        raise parts.refuse("config-missing", "'pad_token_id' is null: the library's T5 has one")


def read_words(
    tensors: TensorFile, root: str, stacks: Sequence[str], shape: tuple[int, int], tied: Sequence[str] = ()
) -> Parameter:
    """The embedding that `stacks` share. The library stores it once, its older files and other tools by any of its
    names, or by those of what is `tied` to it."""
    names = [f"{root}shared.weight", *(f"{root}{of}.embed_tokens.weight" for of in stacks)]
    if not any(name in tensors for name in names):
        for other in tied:
            tensors.stand_in(names[0], other)
    return parts.tied_parameter(tensors, "word_embeddings", names, shape)


def embedded(words: Parameter, out: str, begin: int | None = None) -> Embed:
    """Words alone make the first rows of a stack: of the text, or of the text one token behind it and `begin` first."""
    return Embed((Term(words, "ids", shift=0 if begin is None else -1, outside=begin),), out)


class Stack:
    """Encoder or decoder: `value` are its rows, `prefix` is before the names of what it makes of them, `root` before
    those of its tensors."""

    def __init__(
        self,
        config: Config,
        tensors: TensorFile,
        shape: Shape,
        of: str,
        value: str,
        prefix: str = "",
        root: str = "",
    ) -> None:
        self._tensors, self._shape, self._of, self._value, self._prefix = tensors, shape, of, value, prefix
        key = "num_layers"
        if of == "decoder" and config.values.get("num_decoder_layers") is not None:
            key = "num_decoder_layers"
        count = config.positive_int(key, maximum=parts.MAX_LAYERS)
        parts.check_layers(tensors, count, key)
        self._root = f"{root}{of}."
        self._blocks = [f"{self._root}block.{i}." for i in range(count)]
        self._normed, self._gate, self._inner = (f"{prefix}{name}" for name in ("normed", "gate", "inner"))
        self.widths = dict.fromkeys(("hidden", value, self._normed), shape.hidden)
        self.widths |= dict.fromkeys((self._gate, self._inner) if shape.gated else (self._inner,), shape.intermediate)

    def encoded(self, positions: int) -> tuple[Node, ...]:
        """All of an encoder behind its embedding, for texts of at most `positions`."""
        return self._layers((*self._self_attention("", positions), *self._feed_forward(1))), self._final_norm()

    def decoded(self, positions: int, scale: float = 1.0) -> tuple[Node, ...]:
        """All of a decoder behind its embedding, beside an encoder's rows; its own are times `scale`."""
        attentions = (*self._self_attention("self_", positions), *self._cross_attention("cross_"))
        return self._layers((*attentions, *self._feed_forward(2))), self._final_norm(scale)

    def _layers(self, body: tuple[Op, ...]) -> Layers:
        """All blocks."""
        return Layers(f"{self._of}_layer", len(self._blocks), body)

    def _self_attention(self, prefix: str, positions: int) -> tuple[Op, ...]:
        """To all rows of the stack or those so far, which are at most `positions`, with the bias of their distance."""
        shape, encodes = self._shape, self._of == "encoder"
        tensors = (f"{block}layer.0.SelfAttention.relative_attention_bias.weight" for block in self._blocks)
        biases = islice(tensors, None if shape.bias_by_layer else 1)
        learned = [self._tensors.take(tensor, (shape.buckets, shape.heads)) for tensor in biases]
        name = f"{self._prefix}position_bias"
        bias = distance_bias(name, learned, positions, shape.buckets, shape.farthest, both_sides=encodes)
        return self._attention(prefix, 0, "SelfAttention", self._normed, "none" if encodes else "causal", bias)

    def _cross_attention(self, prefix: str) -> tuple[Op, ...]:
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

    def _feed_forward(self, part: int) -> tuple[Op, ...]:
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

    def _final_norm(self, scale: float = 1.0) -> Norm:
        """In place, its rows times `scale`."""
        gamma: Array = self._tensors.take(f"{self._root}final_layer_norm.weight", (self._shape.hidden,))
        if scale != 1.0:
            gamma = times(gamma, scale)
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
