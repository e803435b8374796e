# SPDX-License-Identifier: Apache-2.0
"""Llama's layers, with the words before them and the norm behind: of a decoder or, without a mask, of an encoder. Rms
norms before the blocks, positions by turning queries and keys, queries that share keys, a gate; of some families also
norms of each head's queries and keys."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...ir.graph import Attention, Embed, Layers, Linear, Mask, Multiply, Node, Op, Parameter, Term
from ...ir.op import map_slots
from ...load.config import Config
from ...load.safetensors import TensorFile
from . import parts
from .computed import scaled
from .layer_kinds import Seen, seen_by_kind
from .llama_parts import LlamaParts, Sizes, read_sizes
from .rotary import Angles, angles_of, rotary_tables, still_tables

WORDS = "embed_tokens.weight"
POSITIONS = "max_position_embeddings"
MAX_POSITIONS = 1 << 20
_TURNED, _STILL = "turned", "still"


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
class Factors:
    """What is multiplied on the way."""

    words: float  # before the first layer
    scores: float  # of attention, in the place of 1 / sqrt(head width)
    blocks: float  # what attention and feed-forward add to a row


@dataclass(frozen=True)
class Form:
    """What families differ in."""

    biases: Biases
    head_norms: bool = False
    head_width: int | None = None  # where the configuration does not say it; None: the width is shared evenly
    key_heads: int | None = None  # the same; None: as many as heads
    epsilon: float = 1e-6  # the same
    theta: float = 10_000.0  # the same
    activation: str = "silu"  # the same
    layer_norms: bool = False  # in the place of rms norms
    epsilon_key: str = "rms_norm_eps"
    parallel: bool = False  # feed-forward reads the rows that attention does
    ungated: tuple[str, str] | None = None  # the two linears of a feed-forward block without a gate
    turned: tuple[bool, ...] = ()  # by layer, whether queries and keys are; empty: those of all are
    factors: Factors | None = None
    stacked: bool = False  # queries, keys and values are one linear of the file, gate and up another


@dataclass(frozen=True)
class Rotation:
    """How queries and keys are turned, and for how many positions."""

    angles: Angles
    positions: int
    turned: int | None = None  # of a head's values, where not all are


@dataclass(frozen=True)
class Stack:
    """The ops from the ids to rows."""

    body: tuple[Node, ...]
    widths: dict[str, int]  # of the values that they write
    words: Parameter  # [vocabulary, width]
    width: int  # of the rows
    rows: str = "hidden"


def check_past(window: int, tokens: int, key: str = "sliding_window") -> None:
    """Of decoders whose rows see so many of the past: as long as it holds all tokens, these are those so far."""
    if tokens > window:
        message = f"{key} {window} is less than {tokens} tokens: lower --max-tokens, of a writer --max-target"
        raise parts.refuse("config-not-supported", message)


def causal_stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int, form: Form) -> Stack:
    """Of a decoder that sees `tokens` at most."""
    positions = config.positive_int(POSITIONS, maximum=MAX_POSITIONS)
    rotation = Rotation(angles_of(config, form.theta, positions), tokens)
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
    sizes = read_sizes(config, tensors, form.head_width, key_heads=form.key_heads)
    epsilon = parts.epsilon_of(config, form.epsilon_key, form.epsilon)
    made = LlamaParts(tensors, prefix, sizes, epsilon, layer_norms=form.layer_norms, stacked=form.stacked)
    tensors.ignore(f"{prefix}layers.*.self_attn.rotary_emb.inv_freq")  # of older files: made here
    words = parts.parameter(tensors, "word_embeddings", f"{prefix}{WORDS}", (vocabulary, sizes.width))
    activation = parts.activation_of(config, default=form.activation)
    turning = _turning(rotation, sizes, form)
    heads, key_heads, biases = sizes.heads, sizes.key_heads, form.biases
    scale = None if form.factors is None else form.factors.scores
    layer: tuple[Op, ...] = (
        made.norm("attention_norm", "input_layernorm"),
        *made.projections(biases.attention_inputs),
        *(made.head_norms() if form.head_norms else ()),
        turning.turned("query", heads),
        turning.turned("key", key_heads),
        Attention("query", "key", "value", "context", heads, key_heads, scale, mask=mask),
        made.linear("attention_output", "self_attn.o_proj", biases.attention_output, "context", "hidden", add="hidden"),
        *(() if form.parallel else (made.norm("feed_forward_norm", "post_attention_layernorm"),)),
        *_feed_forward(made, form, activation),
    )
    word = Term(words, "ids")
    if form.factors is not None:
        word, layer = replace(word, factor=form.factors.words), _scaled(layer, form.factors.blocks)
    body = (Embed((word,), "hidden"), Layers("layer", sizes.layers, layer), made.final_norm())
    return Stack(body, sizes.widths, words, sizes.width)


def _feed_forward(made: LlamaParts, form: Form, activation: str) -> tuple[Op, ...]:
    bias = form.biases.feed_forward
    ops: tuple[Op, ...]
    if form.ungated is None:
        ops, narrowing = (*made.gate_and_up(bias, activation), Multiply("gate", "inner", "inner")), "mlp.down_proj"
    else:
        widening, narrowing = form.ungated
        ops = (made.linear("intermediate", widening, bias, "normed", "inner", activation),)
    return (*ops, made.linear("output", narrowing, bias, "inner", "hidden", add="hidden"))


def _turning(rotation: Rotation, sizes: Sizes, form: Form) -> Seen:
    turned = sizes.head_width if rotation.turned is None else rotation.turned
    tables = {_TURNED: rotary_tables("rotary", rotation.angles, rotation.positions, turned)}
    if not all(form.turned):
        tables[_STILL] = still_tables("still", rotation.positions)
    kinds = [_TURNED if is_turned else _STILL for is_turned in form.turned] or [_TURNED]
    return seen_by_kind(kinds, tables, None)


def _scaled(layer: tuple[Op, ...], factor: float) -> tuple[Op, ...]:
    """What linears add to the rows, times a number."""

    def changed(op: Op) -> Op:
        adds = isinstance(op, Linear) and op.residual is not None
        return map_slots(op, lambda weights: scaled(weights, factor)) if adds else op

    return tuple(map(changed, layer))
