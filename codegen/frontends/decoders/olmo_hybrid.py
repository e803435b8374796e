# SPDX-License-Identifier: Apache-2.0
"""OLMo Hybrid: layers of linear attention by the gated delta rule, which may turn what it keeps to the other sign, with
norms before the blocks, and OLMo 3's layers of full attention, with norms behind them and, where theta is null, without
angles. Names as in `transformers`, which has no classifier of it."""

from __future__ import annotations

from dataclasses import replace

from ...ir.graph import Add, Attention, Embed, Linear, Op, Term
from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared import parts
from ..shared.computed import below_each_other
from ..shared.delta_attention import LINEAR, OWN, Delta, Inputs, Names, Usual, delta_attention, taken
from ..shared.delta_stack import check_has_full, feed_forward
from ..shared.layer_kinds import FULL, Seen, layer_kinds
from ..shared.llama_parts import LlamaParts, read_sizes
from ..shared.llama_stack import MAX_POSITIONS, POSITIONS, WORDS, Rotation, Stack
from ..shared.periods import layers_of_kinds
from ..shared.rotary import angles_in, said_in

MODEL_TYPE = "olmo_hybrid"
# Training's, and from which weights are made before it.
_HARMLESS = """
    attention_dropout linear_a_log_max linear_a_log_min linear_dt_init_floor linear_dt_max linear_dt_min
"""
HARMLESS_KEYS = frozenset(_HARMLESS.split())
_HEADS, _EVERY, _THETA, _EPSILON = 30, 4, 10_000.0, 1e-6  # where the configuration does not say them
_OUT_EPSILON = 1e-5  # of the norm of what the rule makes, whatever it says
_NAMES = Names(norm="o_norm", output="o_proj")
_CONVOLUTIONS = "q_conv1d", "k_conv1d", "v_conv1d"  # in most files, for the library makes one of them
# The library's names, and those of files.
_FIRST_NORM, _SECOND_NORM = (
    ("input_layernorm", "attention_layer_norm"),
    ("post_attention_layernorm", "feedforward_layer_norm"),
)


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    sizes = read_sizes(config, tensors, None, _HEADS)
    delta, activation = _delta(config, sizes.width, sizes.heads), parts.activation_of(config, default="silu")
    made = LlamaParts(tensors, prefix, sizes, parts.epsilon_of(config, "rms_norm_eps", _EPSILON))
    words = parts.parameter(tensors, "word_embeddings", f"{prefix}{WORDS}", (vocabulary, sizes.width))
    seen, bias = _seen(config, tokens, sizes.head_width), config.flag("attention_bias", False)
    doubled = (Add("delta_beta", "delta_beta", "delta_beta"),) if config.flag("linear_allow_neg_eigval", True) else ()

    def ops_of(kind: str, layers: tuple[int, ...]) -> tuple[Op, ...]:
        of_kind = replace(made, layers=layers)
        if kind == FULL:
            return (*_attention(of_kind, seen, bias), *_behind(of_kind, activation))
        apart = f"{of_kind.sources(f'linear_attn.{_CONVOLUTIONS[0]}')[0]}.weight" in tensors
        names = replace(_NAMES, convolution=_CONVOLUTIONS) if apart else _NAMES
        inputs = _inputs_of(of_kind, delta)
        return (
            of_kind.norm("attention_norm", _said(of_kind, *_FIRST_NORM)),
            *delta_attention(of_kind, delta, inputs, names, epsilon=_OUT_EPSILON, more=doubled),
            of_kind.norm("feed_forward_norm", _said(of_kind, *_SECOND_NORM)),
            *feed_forward(of_kind, activation),
        )

    widths = {**sizes.widths, **delta.widths}
    layers, widths = layers_of_kinds(_kinds(config), ops_of, widths, OWN | {"key", "value"})
    return Stack((Embed((Term(words, "ids"),), "hidden"), *layers, made.final_norm()), widths, words, sizes.width)


def _delta(config: Config, width: int, heads: int) -> Delta:
    """As many heads as attention has, three quarters as wide together as the rows."""
    keys = config.values.get("linear_num_key_heads")
    key_heads = heads if keys is None else config.positive_int("linear_num_key_heads", maximum=parts.MAX_WIDTH)
    return Delta.read(config, Usual(heads, key_heads, int(0.75 * width / key_heads)), by_null=True)


def _kinds(config: Config) -> tuple[str, ...]:
    """Of each layer: every fourth has full attention, or else the last one."""
    count = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    usual = tuple(FULL if (i + 1) % _EVERY == 0 else LINEAR for i in range(count))
    usual = usual if FULL in usual else (*usual[:-1], FULL)
    return check_has_full(layer_kinds(config, usual, (FULL, LINEAR)))


def _seen(config: Config, tokens: int, width: int) -> Seen | None:
    """None where nothing is turned."""
    values, key = said_in(config)
    theta = values.get("rope_theta", config.values.get("rope_theta", _THETA))
    if theta is None:
        return None
    positions = config.positive_int(POSITIONS, maximum=MAX_POSITIONS)
    angles = angles_in(values, key, config.number("rope_theta", _THETA), positions)
    return Rotation(angles, tokens).seen(width)


def _inputs_of(made: LlamaParts, delta: Delta) -> Inputs:
    """A linear for each, queries, keys and values apart."""
    both = taken(made, "q_proj", delta.keys), taken(made, "k_proj", delta.keys), taken(made, "v_proj", delta.rows)
    return Inputs(
        tuple(below_each_other(of_layer) for of_layer in zip(*both, strict=True)),
        taken(made, "g_proj", delta.rows),
        taken(made, "b_proj", delta.heads),
        taken(made, "a_proj", delta.heads),
    )


def _said(made: LlamaParts, name: str, of_files: str) -> str:
    """What the file calls a norm of these layers."""
    return of_files if f"{made.sources(of_files)[0]}.weight" in made.tensors else name


def _attention(made: LlamaParts, seen: Seen | None, bias: bool) -> tuple[Op, ...]:
    heads, key_heads = made.sizes.heads, made.sizes.key_heads
    output = made.linear("attention_output", "self_attn.o_proj", bias, "context", "hidden", add="hidden")
    return (
        *made.projections(bias, "hidden"),
        *made.row_norms(),
        *(() if seen is None else (seen.turned("query", heads), seen.turned("key", key_heads))),
        Attention("query", "key", "value", "context", heads, key_heads, mask="causal"),
        *made.added(output, _said(made, *_SECOND_NORM)),
    )


def _behind(made: LlamaParts, activation: str) -> tuple[Op, ...]:
    """The feed-forward block of a layer of full attention."""
    *ops, last = feed_forward(made, activation, "hidden")
    assert isinstance(last, Linear)
    return (*ops, *made.added(last, "post_feedforward_layernorm"))


FAMILY = Family("OlmoHybrid", "TokenizersBackend", _stack, padding=100_277)
