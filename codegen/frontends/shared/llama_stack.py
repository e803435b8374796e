# SPDX-License-Identifier: Apache-2.0
"""Llama's layers, with the words before them and the norm behind: of a decoder or, without a mask, of an encoder. Rms
norms before the blocks, positions by turning queries and keys, queries that share keys, a gate; of some families also
norms behind the blocks and of queries and keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...ir.graph import Attention, Embed, Layers, Multiply, Node, Norm, Op, Parameter, Term
from ...ir.in_place import LEAST_CAP
from ...ir.parameter import Array
from ...load.config import Config
from ...load.safetensors import TensorFile
from . import parts
from .experts import Mixture
from .latent_attention import Latent, latent_attention
from .layer_kinds import FULL, SLIDING, Seen, layer_kinds, seen_by_kind, windows_by_kind
from .llama_parts import LlamaParts, NormBiases, OwnWeights, read_sizes
from .masks import CAUSAL, Masks, masks_of_past
from .pairs import by_halves
from .periods import layers_of_kinds
from .rotary import Angles, angles_of, rotary_tables, still_tables
from .xielu import trained_xielu

WORDS = "embed_tokens.weight"
POSITIONS = "max_position_embeddings"
MAX_POSITIONS = 1 << 20
HEAD_NORMS = ("q_norm", "k_norm")  # as most that have some call those of each head's queries and keys
_TURNED, _STILL = "turned", "still"
_SQUARED = "relu2"
_MIXED, _DENSE = "mixed", "dense"  # kinds of layers where some have experts
_OWN = frozenset(("key", "value"))  # of a layer that is written token by token


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

    words: float = 1.0  # before the first layer
    scores: float | None = None  # of attention, in the place of 1 / sqrt(head width)
    blocks: float = 1.0  # what attention and feed-forward add to a row


@dataclass(frozen=True)
class BlockNorms:
    """Names of a layer's norms, None where there is none."""

    before_attention: str | None = "input_layernorm"
    before_feed_forward: str | None = "post_attention_layernorm"
    # Of what a block adds to the rows.
    behind_attention: str | None = None
    behind_feed_forward: str | None = None
    # Of what its last linear reads.
    in_attention: str | None = None
    in_feed_forward: str | None = None


BEHIND = BlockNorms(None, None, "post_attention_layernorm", "post_feedforward_layernorm")


@dataclass(frozen=True)
class Form:
    """What families differ in."""

    biases: Biases
    head_norms: tuple[str, str] | None = None  # names of the norms of each head's queries and keys, where it has some
    norms_behind_turning: bool = False  # those of heads
    own_head_norms: OwnWeights | None = None  # where each head has weights of its own
    row_norms: bool = False  # queries and keys are normalized, all heads as one
    head_width: int | None = None  # where the configuration does not say it; None: the width is shared evenly
    heads: int | None = None  # the same; None: it has to
    key_heads: int | None = None  # the same; None: as many as heads
    epsilon: float = 1e-6  # the same
    theta: float = 10_000.0  # the same
    activation: str = "silu"  # the same
    activation_key: str = "hidden_act"
    renamed: Mapping[str, str] = field(default_factory=dict)  # what an activation's name means in the place of itself
    norms: BlockNorms = BlockNorms()
    gamma_of: Callable[[Array], Array] = lambda weight: weight  # what a norm's weight is to multiply by
    layer_norms: bool = False  # in the place of rms norms
    norm_biases: NormBiases = "all"  # which layer norms have some
    bare_norms: bool = False  # without parameters
    epsilon_key: str | None = "rms_norm_eps"  # None: no key says it
    parallel: bool = False  # feed-forward reads the rows that attention does
    ungated: tuple[str, str] | None = None  # the two linears of a feed-forward block without a gate
    squared: bool = False  # what the activation gives
    trained: bool = False  # that of a block without a gate, by the file's numbers: xIELU
    turned: tuple[bool, ...] = ()  # by layer, whether queries and keys are; empty: those of all are
    factors: Factors = Factors()
    score_cap: float | None = None  # what bounds the scores of attention
    sinks: str | None = None  # what takes part in each head's softmax, by this name
    pairs: bool = False  # two neighbours of a head are turned with each other, in the place of its halves
    one_input: bool = False  # queries, keys and values are one linear of the file,
    one_gate: str | None = None  # gate and up are, by this name
    narrowing: str = "mlp.down_proj"  # the last linear of a feed-forward block with a gate
    inner_key: str = "intermediate_size"  # says how wide that block is,
    inner: int | None = None  # which it is where the configuration does not say it; None: it has to
    mixture: Mixture | None = None  # of experts
    latent: Latent | None = None  # what keys and values are made of, where not of the rows
    # What a layer has between attention and feed-forward: attention to rows of others.
    between: Callable[[LlamaParts], tuple[Op, ...]] | None = None


@dataclass(frozen=True)
class Rotation:
    """How queries and keys are turned, and for how many positions."""

    angles: Angles
    positions: int
    turned: int | None = None  # of a head's values, where not all are
    layers: tuple[bool, ...] = ()  # by layer, whether its queries and keys are; empty: those of all are
    masks: Masks = CAUSAL

    def seen(self, width: int) -> Seen:
        """Of heads of `width` values."""
        turned = width if self.turned is None else self.turned
        tables = {_TURNED: rotary_tables("rotary", self.angles, self.positions, turned)}
        if not all(self.layers):
            tables[_STILL] = still_tables("still", self.positions)
        kinds = [_TURNED if is_turned else _STILL for is_turned in self.layers] or [_TURNED]
        return seen_by_kind(kinds, tables, self.masks)


@dataclass(frozen=True)
class Stack:
    """The ops from the ids to rows."""

    body: tuple[Node, ...]
    widths: dict[str, int]  # of the values that they write
    words: Parameter  # [vocabulary, width]
    width: int  # of the rows
    rows: str = "hidden"


def window_in(config: Config, usual: int | None = None) -> int | None:
    """How many tokens of the past a row sees, its own one of them; `usual` where the configuration does not say it,
    None: there is no window."""
    if config.values.get("sliding_window") is None and ("sliding_window" in config or usual is None):
        return None
    return _window(config, usual)


def masks_by_kind(config: Config, kinds: Sequence[str], usual: int, tokens: int) -> Masks:
    """Where some layers have a window of the past; `usual` where the configuration does not say it."""
    if SLIDING not in kinds:
        return CAUSAL
    return masks_of_past(windows_by_kind(kinds, _window(config, usual)), tokens)


def masks_where_used(config: Config, windowed: Sequence[bool], usual: int | None, tokens: int) -> Masks:
    """Where use_sliding_window says whether there is a window, and layer_types which layers have it: those `windowed`
    where it does not."""
    window = window_in(config, usual) if config.flag("use_sliding_window", False) else None
    kinds = layer_kinds(config, tuple(FULL if window is None or not has else SLIDING for has in windowed))
    if window is not None:
        return masks_of_past(windows_by_kind(kinds, window), tokens)
    if SLIDING in kinds:
        raise parts.refuse("config-not-supported", f"layer_types: {SLIDING}, and use_sliding_window says no window")
    return CAUSAL


def _window(config: Config, usual: int | None) -> int:
    window = config.positive_int("sliding_window", usual, maximum=MAX_POSITIONS)
    if window == 1:
        raise parts.refuse("config-not-supported", "sliding_window 1: the library keeps all tokens then in its cache")
    return window


def cap_of(config: Config, key: str, usual: float) -> float | None:
    """What a tanh bounds scores or logits by, `usual` where the configuration does not say it; null: there is none."""
    if key in config and config.values[key] is None:
        return None
    cap = config.number(key, usual)
    if not LEAST_CAP <= cap <= 1 / LEAST_CAP:
        raise parts.refuse("config-out-of-range", f"{key} {cap:g}: expected {LEAST_CAP:g} to {1 / LEAST_CAP:g}")
    return cap


def with_squares(config: Config, form: Form, ungated: tuple[str, str] = ("mlp.up_proj", "mlp.down_proj")) -> Form:
    """Of a family without gates, whose activation is relu and squares behind it where the configuration says none."""
    squared = config.text(form.activation_key, _SQUARED) == _SQUARED
    return replace(form, activation=_SQUARED, renamed={_SQUARED: "relu"}, squared=squared, ungated=ungated)


def causal_stack(
    config: Config,
    tensors: TensorFile,
    prefix: str,
    vocabulary: int,
    tokens: int,
    form: Form,
    masks: Masks = CAUSAL,
) -> Stack:
    """Of a decoder that sees `tokens` at most, all so far where `masks` says nothing else."""
    positions = config.positive_int(POSITIONS, maximum=MAX_POSITIONS)
    rotation = Rotation(angles_of(config, form.theta, positions), tokens, layers=form.turned, masks=masks)
    return llama_stack(config, tensors, prefix, vocabulary, rotation.seen, form)


def llama_stack(
    config: Config,
    tensors: TensorFile,
    prefix: str,
    vocabulary: int,
    seen_by: Callable[[int], Seen],
    form: Form,
) -> Stack:
    """Takes every tensor below `prefix`. `seen_by` is asked for what heads of a width see."""
    inner = config.positive_int(form.inner_key, form.inner, maximum=parts.MAX_WIDTH)
    sizes = read_sizes(config, tensors, form.head_width, form.heads, form.key_heads, inner)
    widths: dict[str, int] = {}
    if form.latent is not None:
        sizes, widths = form.latent.in_heads(sizes), form.latent.widths
    key = form.epsilon_key
    made = LlamaParts(
        tensors,
        prefix,
        sizes,
        form.epsilon if key is None else parts.epsilon_of(config, key, form.epsilon),
        form.gamma_of,
        form.layer_norms,
        form.norm_biases,
        form.bare_norms,
        form.one_input,
        form.one_gate,
    )
    words = parts.parameter(tensors, "word_embeddings", f"{prefix}{WORDS}", (vocabulary, sizes.width))
    seen, activation = seen_by(sizes.head_width), _activation(config, form)
    embed = Embed((Term(words, "ids", factor=form.factors.words),), "hidden")
    if form.mixture is None:
        between = () if form.between is None else form.between(made)
        layer = (*_attention(made, form, seen), *between, *_feed_forward(made, form, activation))
        body = (embed, Layers("layer", sizes.layers, layer), made.final_norm())
        return Stack(body, sizes.widths | widths, words, sizes.width)
    mixture = form.mixture
    kinds = tuple(_DENSE if layer in mixture.dense else _MIXED for layer in range(sizes.layers))
    if mixture.dense:  # layers of different kinds are written down apart from each other, and what they see is theirs
        kinds = tuple(f"{kind}, {seen.at(layer)}" for layer, kind in enumerate(kinds))

    def ops_of(kind: str, layers: tuple[int, ...]) -> tuple[Op, ...]:
        of_kind = replace(made, layers=layers)
        block = _feed_forward if layers[0] in mixture.dense else _experts
        attention = _attention(of_kind, form, seen.of(layers[0]) if mixture.dense else seen)
        return (*attention, *block(of_kind, form, activation))

    layers, widths = layers_of_kinds(kinds, ops_of, sizes.widths | widths | mixture.widths(sizes.width), _OWN)
    return Stack((embed, *layers, made.final_norm()), widths, words, sizes.width)


def _attention(made: LlamaParts, form: Form, seen: Seen) -> tuple[Op, ...]:
    heads, key_heads = made.sizes.heads, made.sizes.key_heads
    value, norms = _block_input(made, "attention_norm", form.norms.before_attention)
    if form.latent is not None:
        return (*norms, *latent_attention(made, form.latent, seen, value, form.factors.blocks))
    query, key, values = made.projections(form.biases.attention_inputs, value)
    head_norms: tuple[Norm, ...] = made.head_norms(form.head_norms, own=form.own_head_norms) if form.head_norms else ()
    if form.pairs:
        width, turned = made.sizes.head_width, 2 * max(table.shape[1] for table in seen.cosines)
        query, key = by_halves(query, width, turned), by_halves(key, width, turned)
        head_norms = tuple(by_halves(norm, width, turned) for norm in head_norms)
    turning: tuple[Op, ...] = (seen.turned("query", heads), seen.turned("key", key_heads))
    output = made.linear(
        "attention_output", "self_attn.o_proj", form.biases.attention_output, "context", "hidden", add="hidden"
    )
    return (
        *norms,
        *(query, key, values),
        *(made.row_norms() if form.row_norms else ()),
        *(turning + head_norms if form.norms_behind_turning else head_norms + turning),
        Attention(
            *("query", "key", "value", "context", heads, key_heads, form.factors.scores),
            mask=seen.masks.mask,
            window=seen.masks.window,
            cap=form.score_cap,
            sinks=None if form.sinks is None else made.sinks(form.sinks),
        ),
        *_inside(made, "context_norm", form.norms.in_attention, "context"),
        *made.added(output, form.norms.behind_attention, form.factors.blocks),
    )


def _feed_forward(made: LlamaParts, form: Form, activation: str) -> tuple[Op, ...]:
    bias = form.biases.feed_forward
    ops: tuple[Op, ...] = ()
    value = "normed"
    if not form.parallel:
        value, ops = _block_input(made, "feed_forward_norm", form.norms.before_feed_forward)
    if form.ungated is None:
        ops += made.gate_and_up(bias, activation, value)
        ops += (Multiply("gate", "gate", "gate"),) if form.squared else ()
        ops += (Multiply("gate", "inner", "inner"),)
        narrowing = form.narrowing
    else:
        widening, narrowing = form.ungated
        ops += (made.linear("intermediate", widening, bias, value, "inner", activation),)
        ops += (Multiply("inner", "inner", "inner"),) if form.squared else ()
        ops += (trained_xielu(made.tensors, made.sources("mlp.act_fn"), "inner"),) if form.trained else ()
    output = made.linear("output", narrowing, bias, "inner", "hidden", add="hidden")
    inside = _inside(made, "inner_norm", form.norms.in_feed_forward, "inner")
    return (*ops, *inside, *made.added(output, form.norms.behind_feed_forward, form.factors.blocks))


def _experts(made: LlamaParts, form: Form, activation: str) -> tuple[Op, ...]:
    """In the place of it."""
    assert form.mixture is not None
    value, ops = _block_input(made, "feed_forward_norm", form.norms.before_feed_forward)
    sizes = made.sizes.width, activation, value
    mixed = form.mixture.ops(made.tensors, made.sources, *sizes, form.factors.blocks)
    if (behind := form.norms.behind_feed_forward) is not None:
        norm = replace(made.norm("output_norm", behind, "hidden"), input="mixed", out="mixed")
        mixed = (*mixed[:-1], norm, mixed[-1])
    return (*ops, *mixed)


def _block_input(made: LlamaParts, name: str, norm: str | None) -> tuple[str, tuple[Op, ...]]:
    """The rows that a block reads, and what makes them."""
    return ("hidden", ()) if norm is None else ("normed", (made.norm(name, norm),))


def _inside(made: LlamaParts, name: str, norm: str | None, value: str) -> tuple[Op, ...]:
    return () if norm is None else (made.norm(name, norm, value, value),)


def _activation(config: Config, form: Form) -> str:
    if form.trained or (form.mixture is not None and form.mixture.clamped is not None):
        return "none"
    name = config.text(form.activation_key, form.activation)
    return parts.activation_named(form.renamed.get(name, name), form.activation_key)
