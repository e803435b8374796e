# SPDX-License-Identifier: Apache-2.0
"""Qwen's layers of linear attention beside full attention with a gate and angles for a part of each head, and what
stands before and behind them: of Qwen 3.5 and Qwen3-Next. Norms multiply by 1 + weight."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ...ir.graph import Attention, Embed, Linear, Multiply, Op, Parameter, Term
from ...load.config import Config
from ...load.safetensors import TensorFile
from . import parts
from .computed import one_more, rows_of_heads
from .delta_attention import LINEAR, OWN, Delta, Inputs, Usual, delta_attention
from .experts import Mixture
from .layer_kinds import FULL, Seen, layer_kinds
from .llama_parts import LlamaParts, read_sizes
from .llama_stack import HEAD_NORMS, MAX_POSITIONS, POSITIONS, WORDS, Rotation, Stack
from .periods import layers_of_kinds
from .rotary import partial_angles, said_in

# Where the configuration does not say them.
_HEAD_WIDTH, _EVERY, _THETA, _PART, _EPSILON = 256, 4, 10_000.0, 0.25, 1e-6
_USUAL = Usual(heads=32, key_heads=16, key_width=128, value_width=128)
_OF_IMAGES = ("mrope_section", "mrope_interleaved")  # of angles by two more positions, which are those of texts, too
_MIXED = "with experts"
_OWN = OWN | {"key", "value"}  # of a layer that is written token by token


@dataclass(frozen=True)
class DeltaForm:
    """What families differ in."""

    heads: int  # where the configuration does not say it
    key_heads: int  # the same
    inputs: Callable[[LlamaParts, Delta], Inputs]  # of linear attention
    mixture: Mixture | None = None  # of experts


def delta_stack(
    config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int, form: DeltaForm
) -> Stack:
    """Of a decoder that sees `tokens` at most; takes every tensor below `prefix`."""
    mixture = form.mixture
    inner = 1 if mixture is not None and not mixture.dense else None  # no layer has such a block
    sizes = read_sizes(config, tensors, _HEAD_WIDTH, form.heads, form.key_heads, inner)
    delta, activation = Delta.read(config, _USUAL), parts.activation_of(config, default="silu")
    made = LlamaParts(tensors, prefix, sizes, parts.epsilon_of(config, "rms_norm_eps", _EPSILON), one_more)
    tensors.ignore("mtp.*", "model.visual.*", "visual.*")  # of a head that guesses further tokens, and of images
    words = parts.parameter(tensors, "word_embeddings", f"{prefix}{WORDS}", (vocabulary, sizes.width))
    seen, bias = _seen(config, tokens, sizes.head_width), config.flag("attention_bias", False)

    def ops_of(kind: str, layers: tuple[int, ...]) -> tuple[Op, ...]:
        of_kind = replace(made, layers=layers)
        is_linear, is_mixed = kind.startswith(LINEAR), kind.endswith(_MIXED)
        block = (
            delta_attention(of_kind, delta, form.inputs(of_kind, delta))
            if is_linear
            else _attention(of_kind, seen, bias)
        )
        norm = of_kind.norm("feed_forward_norm", "post_attention_layernorm")
        if mixture is None or not is_mixed:
            behind = feed_forward(of_kind, activation)
        else:
            behind = mixture.ops(tensors, of_kind.sources, sizes.width, activation, "normed")
        return (of_kind.norm("attention_norm", "input_layernorm"), *block, norm, *behind)

    widths = {**sizes.widths, "attention_gate": sizes.widths["context"], **delta.widths}
    widths |= {} if mixture is None else mixture.widths(sizes.width)
    layers, widths = layers_of_kinds(_kinds(config, mixture), ops_of, widths, _OWN)
    return Stack((Embed((Term(words, "ids"),), "hidden"), *layers, made.final_norm()), widths, words, sizes.width)


def feed_forward(made: LlamaParts, activation: str, value: str = "normed") -> tuple[Op, ...]:
    """What adds to `hidden` what is made of `value`."""
    return (
        *made.gate_and_up(False, activation, value),
        Multiply("gate", "inner", "inner"),
        made.linear("output", "mlp.down_proj", False, "inner", "hidden", add="hidden"),
    )


def check_has_full(kinds: tuple[str, ...]) -> tuple[str, ...]:
    """EtchError where no layer has full attention."""
    if FULL not in kinds:
        raise parts.refuse("layers-out-of-range", "no layer has full attention: one at least is supported")
    return kinds


def _kinds(config: Config, mixture: Mixture | None) -> tuple[str, ...]:
    """Of each layer, and whether it has experts."""
    every = config.positive_int("full_attention_interval", _EVERY, maximum=parts.MAX_LAYERS)
    layers = range(config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS))
    usual = tuple(LINEAR if (i + 1) % every else FULL for i in layers)
    kinds = check_has_full(layer_kinds(config, usual, (FULL, LINEAR)))
    if mixture is None:
        return kinds
    return tuple(kind if i in mixture.dense else f"{kind} {_MIXED}" for i, kind in enumerate(kinds))


def _seen(config: Config, tokens: int, width: int) -> Seen:
    values, key = said_in(config)
    said = {name: value for name, value in values.items() if name not in _OF_IMAGES}
    usual = config.number("rope_theta", _THETA), config.number("partial_rotary_factor", _PART)
    angles, turned = partial_angles(said, key, usual, config.positive_int(POSITIONS, maximum=MAX_POSITIONS), width)
    return Rotation(angles, tokens, turned).seen(width)


def _attention(made: LlamaParts, seen: Seen, bias: bool) -> tuple[Op, ...]:
    """A gate beside each head's queries, in the file one behind the other."""
    heads, key_heads = made.sizes.heads, made.sizes.key_heads
    wide = made.sizes.widths["query"]
    sources = made.sources("self_attn.q_proj")
    weights = [made.tensors.take(f"{of}.weight", (2 * wide, made.sizes.width)) for of in sources]
    biases = [made.tensors.take(f"{of}.bias", (2 * wide,)) for of in sources if bias]

    def half(name: str, part: int, out: str, activation: str) -> Linear:
        of_weights, of_biases = (
            tuple(rows_of_heads(array, heads, part, part + 1, 2) for array in arrays) for arrays in (weights, biases)
        )
        of_bias = Parameter(f"{name}_bias", of_biases) if bias else None
        return Linear(name, Parameter(f"{name}_weight", of_weights), of_bias, "normed", out, activation)

    return (
        half("query", 0, "query", "none"),
        half("attention_gate", 1, "attention_gate", "sigmoid"),
        made.linear("key", "self_attn.k_proj", bias, "normed", "key"),
        made.linear("value", "self_attn.v_proj", bias, "normed", "value"),
        *made.head_norms(HEAD_NORMS),
        *(seen.turned("query", heads), seen.turned("key", key_heads)),
        Attention("query", "key", "value", "context", heads, key_heads, mask=seen.masks.mask),
        Multiply("context", "attention_gate", "context"),
        made.linear("attention_output", "self_attn.o_proj", bias, "context", "hidden", add="hidden"),
    )
