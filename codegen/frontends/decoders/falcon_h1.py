# SPDX-License-Identifier: Apache-2.0
"""Falcon-H1: in every layer Mamba-2's state space and Llama's attention side by side, and a gated feed-forward block,
with factors of nearly everything. Names as in `transformers`, which has no classifier of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...ir.graph import Attention, Linear, Multiply, Op
from ...ir.op import map_slots
from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared import parts
from ..shared.computed import scaled
from ..shared.layer_kinds import Seen
from ..shared.llama_parts import LlamaParts, read_sizes
from ..shared.llama_stack import MAX_POSITIONS, POSITIONS, WORDS, Rotation, Stack
from ..shared.mamba_mixer import HYBRID_KEYS, Mamba, MixerFactors, Usual, mixer
from ..shared.mamba_stack import mamba_stack
from ..shared.rotary import angles_of

MODEL_TYPE = "falcon_h1"
# Training's, how the library goes through a text, and what older files say that the library reads nowhere.
_HARMLESS = """
    attention_dropout attn_layer_indices mamba_chunk_size mamba_expand mamba_use_mlp mlp_expansion_factor
    num_logits_to_keep time_step_floor time_step_max time_step_min
"""
HARMLESS_KEYS = frozenset(_HARMLESS.split())
_KEY_HEADS, _THETA, _EPSILON, _ROWS, _POSITIONS = 8, 10_000.0, 1e-5, 1024, 8192  # where no key says them
_USUAL = Usual(heads=128, groups=1, state_width=256, keys=HYBRID_KEYS)


@dataclass(frozen=True)
class _Factors:
    """What is multiplied on the way."""

    attention_in: float
    attention_out: float
    key: float
    gate: float
    down: float
    mixer: MixerFactors


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    null = "num_key_value_heads" in config and config.values["num_key_value_heads"] is None
    sizes = read_sizes(config, tensors, None, 32, None if null else _KEY_HEADS)
    mamba, activation = _mamba(config, sizes.width), parts.activation_of(config, default="silu")
    made = LlamaParts(tensors, prefix, sizes, parts.epsilon_of(config, "rms_norm_eps", _EPSILON))
    positions = config.positive_int(POSITIONS, _POSITIONS, maximum=MAX_POSITIONS)
    seen = Rotation(angles_of(config, _THETA, positions), tokens).seen(sizes.head_width)
    bias, inner_bias = config.flag("attention_bias", False), config.flag("mlp_bias", False)
    factors = _factors(config)

    def ops_of(of_kind: LlamaParts, kind: str) -> tuple[Op, ...]:
        return (
            of_kind.norm("mixer_norm", "input_layernorm"),
            *mixer(of_kind, mamba, "mamba", factors.mixer),
            *_attention(of_kind, seen, bias, factors),
            of_kind.norm("feed_forward_norm", "pre_ff_layernorm"),
            *_feed_forward(of_kind, inner_bias, activation, factors),
        )

    return mamba_stack(
        *(made, (WORDS, vocabulary), ["hybrid"] * sizes.layers, ops_of, sizes.widths | mamba.widths),
        factor=parts.factor_of(config, "embedding_multiplier"),
        final_norm="final_layernorm",
    )


def _mamba(config: Config, width: int) -> Mamba:
    """Its width is a key of its own, or null; its norm is one of three forms."""
    key, rows = "mamba_d_ssm", None
    if key not in config or config.values[key] is not None:
        rows = config.positive_int(key, _ROWS, maximum=parts.MAX_WIDTH)
    mamba = Mamba.read(config, _USUAL, width, rows)
    mamba = replace(mamba, output_bias=config.flag("projectors_bias", False))
    if not config.flag("mamba_rms_norm", False):
        return replace(mamba, norm="none")
    return replace(mamba, norm="before" if config.flag("mamba_norm_before_gate", True) else "behind")


def _factors(config: Config) -> _Factors:
    gate, down = _several(config, "mlp_multipliers", 2)
    # The library has a table of these, of float32.
    made = tuple(float(np.float32(factor)) for factor in _several(config, "ssm_multipliers", 5))
    rows, out = (parts.factor_of(config, f"ssm_{of}_multiplier") for of in ("in", "out"))
    inside, outside, key = (
        parts.factor_of(config, f"{of}_multiplier") for of in ("attention_in", "attention_out", "key")
    )
    return _Factors(inside, outside, key, gate, down, MixerFactors(rows, made, out))


def _several(config: Config, key: str, count: int) -> tuple[float, ...]:
    """Factors of a list, all 1 where there is none."""
    said = config.values.get(key)
    if said is None:
        return (1.0,) * count
    if not isinstance(said, list) or len(said) != count:
        raise parts.refuse("config-type", f"{key}: expected {count} numbers")
    each = Config.from_json({f"{key} {i + 1}": factor for i, factor in enumerate(said)})
    return tuple(parts.factor_of(each, name) for name in each.values)


def _attention(made: LlamaParts, seen: Seen, bias: bool, factors: _Factors) -> tuple[Op, ...]:
    heads, key_heads = made.sizes.heads, made.sizes.key_heads
    query, key, value = (
        replace(linear, weight=scaled(linear.weight, factors.attention_in)) for linear in made.projections(bias)
    )
    output = made.linear("attention_output", "self_attn.o_proj", bias, "context", "hidden", add="hidden")
    return (
        *(query, _times(key, factors.key), value),
        *(seen.turned("query", heads), seen.turned("key", key_heads)),
        Attention("query", "key", "value", "context", heads, key_heads, mask="causal"),
        _times(output, factors.attention_out),
    )


def _feed_forward(made: LlamaParts, bias: bool, activation: str, factors: _Factors) -> tuple[Op, ...]:
    source = "feed_forward"
    gate = made.linear("gate", f"{source}.gate_proj", bias, "normed", "gate", activation)
    down = made.linear("output", f"{source}.down_proj", bias, "inner", "hidden", add="hidden")
    return (
        _times(gate, factors.gate),
        made.linear("up", f"{source}.up_proj", bias, "normed", "inner"),
        Multiply("gate", "inner", "inner"),
        _times(down, factors.down),
    )


def _times(linear: Linear, factor: float) -> Linear:
    """What it makes, before its activation, times a number."""
    return map_slots(linear, lambda weights: scaled(weights, factor))


FAMILY = Family(
    "FalconH1",
    "TokenizersBackend",
    _stack,
    logits_factor=lambda config: parts.factor_of(config, "lm_head_multiplier"),
    usual_positions=_POSITIONS,
    padding=0,
)
