# SPDX-License-Identifier: Apache-2.0
"""Qwen 3.5's texts, dense ones: layers of linear attention by the gated delta rule (Yang et al. 2024,
arXiv:2412.06464) behind a short convolution, and layers of attention with a gate and angles for a part of each head.
Norms multiply by 1 + weight. Names as in `transformers`, whose token by token form is meant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext

import numpy as np

from ...ir.convolutions import MOST_TAPS
from ...ir.graph import (
    Attention,
    CausalConvolution,
    DeltaRule,
    Embed,
    Linear,
    Multiply,
    Norm,
    Op,
    Parameter,
    Term,
)
from ...ir.parameter import Array
from ...load.config import Config
from ...load.safetensors import TensorFile
from ...load.tokenizer_files.tokenizer_config import QWEN3_5_TOKENIZER
from ..bases.decoder_family import Family
from ..shared import parts
from ..shared.computed import Computed, depthwise, one_more, rows_of_heads
from ..shared.layer_kinds import FULL, Seen, layer_kinds
from ..shared.llama_parts import LlamaParts, read_sizes
from ..shared.llama_stack import HEAD_NORMS, MAX_POSITIONS, POSITIONS, WORDS, Rotation, Stack
from ..shared.periods import layers_of_kinds
from ..shared.rotary import partial_angles, said_in

MODEL_TYPE = "qwen3_5_text"
HARMLESS_KEYS = frozenset({"attention_dropout"})  # training's
LINEAR = "linear_attention"
# Where the configuration does not say them.
_HEADS, _KEY_HEADS, _HEAD_WIDTH, _EVERY, _THETA, _PART, _EPSILON = 16, 4, 256, 4, 10_000.0, 0.25, 1e-6
_TAPS, _DELTA_WIDTH, _DELTA_KEY_HEADS, _DELTA_HEADS = 4, 128, 16, 32
_LARGEST = 100.0  # logarithm of a rate that is computed
_OF_IMAGES = ("mrope_section", "mrope_interleaved")  # of angles by two more positions, which are those of texts, too
_OWN = frozenset(("key", "value", "delta_input", "delta_rows"))  # of a layer that is written token by token


@dataclass(frozen=True)
class _Delta:
    """Sizes of layers of linear attention."""

    heads: int
    key_heads: int
    key_width: int
    value_width: int
    taps: int

    @classmethod
    def read(cls, config: Config) -> _Delta:
        def said(key: str, usual: int) -> int:
            return config.positive_int(f"linear_{key}", usual, maximum=parts.MAX_WIDTH)

        read = cls(
            said("num_value_heads", _DELTA_HEADS),
            said("num_key_heads", _DELTA_KEY_HEADS),
            said("key_head_dim", _DELTA_WIDTH),
            said("value_head_dim", _DELTA_WIDTH),
            said("conv_kernel_dim", _TAPS),
        )
        if read.heads % read.key_heads:
            message = f"linear_num_value_heads {read.heads} on linear_num_key_heads {read.key_heads}: no multiple"
            raise parts.refuse("heads-do-not-divide", message)
        if not 2 <= read.taps <= MOST_TAPS:
            raise parts.refuse("config-out-of-range", f"linear_conv_kernel_dim {read.taps}: expected 2 to {MOST_TAPS}")
        if config.text("hidden_act", "silu") not in ("silu", "swish"):
            message = f"hidden_act '{config.text('hidden_act')}' behind a convolution (supported: silu)"
            raise parts.refuse("activation-not-supported", message)
        return read

    @property
    def rows(self) -> int:
        """How wide what it makes is."""
        return self.heads * self.value_width

    @property
    def input(self) -> int:
        """Of queries, keys and values."""
        return 2 * self.key_heads * self.key_width + self.rows

    @property
    def widths(self) -> dict[str, int]:
        rows = dict.fromkeys(("delta_rows", "delta_gate"), self.rows)
        each = dict.fromkeys(("delta_decay", "delta_beta"), self.heads)
        return rows | each | dict.fromkeys(("delta_input", "delta_mixed"), self.input)


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    sizes, delta = read_sizes(config, tensors, _HEAD_WIDTH, _HEADS, _KEY_HEADS), _Delta.read(config)
    epsilon = parts.epsilon_of(config, "rms_norm_eps", _EPSILON)
    made = LlamaParts(tensors, prefix, sizes, epsilon, one_more)
    tensors.ignore("mtp.*", "model.visual.*", "visual.*")  # of a head that guesses further tokens, and of images
    words = parts.parameter(tensors, "word_embeddings", f"{prefix}{WORDS}", (vocabulary, sizes.width))
    seen, bias = _seen(config, tokens, sizes.head_width), config.flag("attention_bias", False)
    activation = parts.activation_of(config, default="silu")

    def ops_of(kind: str, layers: tuple[int, ...]) -> tuple[Op, ...]:
        of_kind = replace(made, layers=layers)
        block = _delta(of_kind, delta) if kind == LINEAR else _attention(of_kind, seen, bias)
        return (of_kind.norm("attention_norm", "input_layernorm"), *block, *_feed_forward(of_kind, activation))

    gates = {"attention_gate": sizes.widths["context"]}
    layers, widths = layers_of_kinds(_kinds(config), ops_of, {**sizes.widths, **gates, **delta.widths}, _OWN)
    return Stack((Embed((Term(words, "ids"),), "hidden"), *layers, made.final_norm()), widths, words, sizes.width)


def _kinds(config: Config) -> tuple[str, ...]:
    """Of each layer."""
    every = config.positive_int("full_attention_interval", _EVERY, maximum=parts.MAX_LAYERS)
    layers = range(config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS))
    kinds = layer_kinds(config, tuple(LINEAR if (i + 1) % every else FULL for i in layers), (FULL, LINEAR))
    if FULL not in kinds:
        raise parts.refuse("layers-out-of-range", "no layer has full attention: one at least is supported")
    return kinds


def _seen(config: Config, tokens: int, width: int) -> Seen:
    values, key = said_in(config)
    said = {name: value for name, value in values.items() if name not in _OF_IMAGES}
    usual = config.number("rope_theta", _THETA), config.number("partial_rotary_factor", _PART)
    angles, turned = partial_angles(said, key, usual, config.positive_int(POSITIONS, maximum=MAX_POSITIONS), width)
    return Rotation(angles, tokens, turned).seen(width)


def _delta(made: LlamaParts, delta: _Delta) -> tuple[Op, ...]:
    """Linear attention; what decides how fast a state decays and changes stays of floats."""
    tensors, width = made.tensors, made.sizes.width

    def of(name: str) -> list[str]:
        return made.sources(f"linear_attn.{name}")

    def linear(name: str, source: str, out: str, activation: str = "none") -> Linear:
        shape = (delta.widths[out], width)
        exact = out == "delta_beta"
        return parts.linear(tensors, name, of(source), shape, "normed", out, activation, exact=exact, bias=False)

    def each(name: str, source: str, shape: tuple[int, ...], change: Callable[[Array], Array]) -> Parameter:
        return Parameter(name, tuple(change(tensors.take(tensor, shape)) for tensor in of(source)))

    heads = (delta.heads,)
    kernels = each("convolution_weight", "conv1d.weight", (delta.input, 1, delta.taps), depthwise)
    decays = each("delta_decay_weight", "in_proj_a.weight", (delta.heads, width), lambda array: array)
    steps = each("delta_decay_bias", "dt_bias", heads, lambda array: array)
    gamma = each("delta_norm_gamma", "norm.weight", (delta.value_width,), lambda array: array)
    return (
        linear("delta_input", "in_proj_qkv", "delta_input"),
        linear("delta_gate", "in_proj_z", "delta_gate", "silu"),
        linear("delta_beta", "in_proj_b", "delta_beta", "sigmoid"),
        Linear("delta_decay", decays, steps, "normed", "delta_decay", exact=True),
        CausalConvolution("convolution", kernels, None, "delta_input", "delta_mixed"),
        DeltaRule(
            *("delta_rule", each("delta_rates", "A_log", heads, _rates)),
            *(delta.heads, delta.key_heads, delta.key_width),
            *("delta_mixed", "delta_decay", "delta_beta", "delta_rows"),
        ),
        Norm("delta_norm", gamma, None, made.epsilon, "delta_rows", "delta_rows", "rms", delta.heads),
        Multiply("delta_rows", "delta_gate", "delta_rows"),
        parts.linear(
            *(tensors, "delta_output", of("out_proj"), (width, delta.rows), "delta_rows", "hidden"),
            residual="hidden",
            bias=False,
        ),
    )


def _rates(logarithms: Array) -> Computed:
    """e to the power of them, the same on every machine; past what bounds allow any, as Decimal ends somewhere."""

    def compute() -> np.ndarray:
        with localcontext() as context:
            context.prec = 50
            return np.array([float(Decimal(min(float(x), _LARGEST)).exp()) for x in logarithms.values])

    return Computed(f"exp({logarithms.name})", logarithms.shape, compute, logarithms.file)


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


def _feed_forward(made: LlamaParts, activation: str) -> tuple[Op, ...]:
    return (
        made.norm("feed_forward_norm", "post_attention_layernorm"),
        *made.gate_and_up(False, activation),
        Multiply("gate", "inner", "inner"),
        made.linear("output", "mlp.down_proj", False, "inner", "hidden", add="hidden"),
    )


FAMILY = Family("Qwen3_5Text", QWEN3_5_TOKENIZER, _stack, writer="Qwen3_5ForCausalLM")
