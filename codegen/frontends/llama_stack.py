# SPDX-License-Identifier: Apache-2.0
"""Llama's layers, with the words before them and the norm behind: of a decoder or, without a mask, of an encoder. Rms
norms before the blocks, positions by turning queries and keys, queries that share keys, a gate; of some families also
norms of each head's queries and keys."""

from __future__ import annotations

from dataclasses import dataclass

from ..ir.graph import Attention, Embed, Layers, Linear, Mask, Multiply, Node, Norm, Op, Parameter, Rotary, Term
from ..load.config import Config
from ..load.safetensors import TensorFile
from . import parts
from .rotary import Angles, angles_of, rotary_tables

WORDS = "embed_tokens.weight"
POSITIONS = "max_position_embeddings"
MAX_POSITIONS = 1 << 20
_THETA = 10_000.0


@dataclass(frozen=True)
class Biases:
    """Which linears of a layer have one."""

    attention_inputs: bool  # queries, keys and values
    attention_output: bool
    feed_forward: bool

    @classmethod
    def said_in(cls, config: Config) -> Biases:
        """By the keys that Llama's configuration has for them."""
        attention = config.flag("attention_bias", False)
        return cls(attention, attention, config.flag("mlp_bias", False))


@dataclass(frozen=True)
class Form:
    """What families differ in."""

    biases: Biases
    head_norms: bool = False
    head_width: int | None = None  # where the configuration does not say it; None: the width is shared evenly
    epsilon: float = 1e-6  # the same


@dataclass(frozen=True)
class Rotation:
    """How queries and keys are turned, and for how many positions."""

    angles: Angles
    positions: int


@dataclass(frozen=True)
class Stack:
    """The ops from the ids to the rows `hidden`."""

    body: tuple[Node, ...]
    widths: dict[str, int]  # of the values that they write
    words: Parameter  # [vocabulary, width]
    width: int


def causal_stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int, form: Form) -> Stack:
    """Of a decoder that sees `tokens` at most."""
    positions = config.positive_int(POSITIONS, maximum=MAX_POSITIONS)
    rotation = Rotation(angles_of(config, _THETA, positions), tokens)
    return llama_stack(config, tensors, prefix, vocabulary, rotation, form, "causal")


def llama_stack(
    config: Config,
    tensors: TensorFile,
    prefix: str,
    vocabulary: int,
    rotation: Rotation,
    form: Form,
    mask: Mask,
) -> Stack:
    """Takes every tensor below `prefix`."""
    width = config.positive_int("hidden_size", maximum=parts.MAX_WIDTH)
    heads = config.positive_int("num_attention_heads", maximum=parts.MAX_WIDTH)
    key_heads = config.positive_int("num_key_value_heads", heads, maximum=heads)
    inner = config.positive_int("intermediate_size", maximum=parts.MAX_WIDTH)
    count = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    parts.check_layers(tensors, count)
    if "head_dim" not in config and form.head_width is None:
        parts.check_heads(width, heads)
    head_width = config.positive_int("head_dim", form.head_width or width // heads, maximum=parts.MAX_WIDTH)
    if heads % key_heads or head_width % 2:
        message = (
            f"{heads} heads of {head_width} values on {key_heads} of keys: a multiple and an even number are needed"
        )
        raise parts.refuse("heads-do-not-divide", message)
    widths = dict.fromkeys(("hidden", "normed"), width) | dict.fromkeys(("query", "context"), heads * head_width)
    widths |= dict.fromkeys(("key", "value"), key_heads * head_width) | dict.fromkeys(("gate", "inner"), inner)
    epsilon = parts.epsilon_of(config, "rms_norm_eps", form.epsilon)
    prefixes = [f"{prefix}layers.{i}." for i in range(count)]

    def norm(name: str, sources: list[str], out: str = "normed") -> Norm:
        gammas = tuple(tensors.take(f"{source}.weight", (width,)) for source in sources)
        return Norm(name, Parameter(f"{name}_gamma", gammas), None, epsilon, "hidden", out, "rms")

    def head_norm(value: str, source: str, count: int) -> Norm:
        gammas = tuple(tensors.take(f"{of}self_attn.{source}.weight", (head_width,)) for of in prefixes)
        gamma = Parameter(f"{value}_norm_gamma", gammas)
        return Norm(f"{value}_norm", gamma, None, epsilon, value, value, "rms", count)

    def linear(
        name: str, of: str, bias: bool, value: str, out: str, activation: str = "none", add: str | None = None
    ) -> Linear:
        sources = [f"{layer}{of}" for layer in prefixes]
        shape = (widths[out], widths[value])
        return parts.linear(tensors, name, sources, shape, value, out, activation, residual=add, bias=bias)

    tensors.ignore(f"{prefix}layers.*.self_attn.rotary_emb.inv_freq")  # of older files: made here
    words = parts.parameter(tensors, "word_embeddings", f"{prefix}{WORDS}", (vocabulary, width))
    activation = parts.activation_of(config, default="silu")
    cosines, sines = rotary_tables("rotary", rotation.angles, rotation.positions, head_width)
    turned = tuple(Rotary((cosines,), (sines,), n, of) for of, n in (("query", heads), ("key", key_heads)))
    normed = (("query", "q_norm", heads), ("key", "k_norm", key_heads)) if form.head_norms else ()
    biases = form.biases
    layer: tuple[Op, ...] = (
        norm("attention_norm", [f"{of}input_layernorm" for of in prefixes]),
        linear("query", "self_attn.q_proj", biases.attention_inputs, "normed", "query"),
        linear("key", "self_attn.k_proj", biases.attention_inputs, "normed", "key"),
        linear("value", "self_attn.v_proj", biases.attention_inputs, "normed", "value"),
        *(head_norm(*each) for each in normed),
        *turned,
        Attention("query", "key", "value", "context", heads, key_heads, mask=mask),
        linear("attention_output", "self_attn.o_proj", biases.attention_output, "context", "hidden", add="hidden"),
        norm("feed_forward_norm", [f"{of}post_attention_layernorm" for of in prefixes]),
        linear("gate", "mlp.gate_proj", biases.feed_forward, "normed", "gate", activation),
        linear("up", "mlp.up_proj", biases.feed_forward, "normed", "inner"),
        Multiply("gate", "inner", "inner"),
        linear("output", "mlp.down_proj", biases.feed_forward, "inner", "hidden", add="hidden"),
    )
    last = norm("final_norm", [f"{prefix}norm"], "hidden")
    return Stack((Embed((Term(words, "ids"),), "hidden"), Layers("layer", count, layer), last), widths, words, width)
