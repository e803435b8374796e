# SPDX-License-Identifier: Apache-2.0
"""Granite 4: Granite, layer by layer with attention, which may know no positions, or with Mamba-2's state space, and
behind either one block whose gate and up are one linear of the file, beside it experts or none. Names as in
`transformers`, which has no classifier of it."""

from __future__ import annotations

from ...ir.graph import Multiply, Op
from ...load.config import Config
from ...load.safetensors import TensorFile
from ...load.tokenizer_files.tokenizer_config import AS_IN_JSON
from ..bases.decoder_family import Family
from ..shared import experts, parts
from ..shared.experts import Beside
from ..shared.layer_kinds import FULL
from ..shared.llama_parts import LlamaParts, read_sizes
from ..shared.llama_stack import MAX_POSITIONS, POSITIONS, WORDS, Rotation, Stack
from ..shared.mamba_mixer import HYBRID_KEYS, LINEAR, Mamba, MixerFactors, Usual, mixer
from ..shared.mamba_stack import attention, mamba_stack
from ..shared.rotary import angles_of
from . import granitemoe
from .granite import factors_in, logits_factor

MODEL_TYPE = "granitemoehybrid"
# Training's, how the library goes through a text, and what files say that the library reads nowhere.
_HARMLESS = """
    attention_dropout init_method logits_to_keep mamba_chunk_size normalization_function time_step_max time_step_min
"""
_OF_EXPERTS = frozenset({"intermediate_size", "num_experts_per_tok"})  # where there are none
_OF_MAMBA = frozenset({*HYBRID_KEYS.values(), "time_step_limit"})  # where no layer has it
HARMLESS_KEYS = experts.HARMLESS_KEYS | frozenset(_HARMLESS.split()) | _OF_EXPERTS | _OF_MAMBA
_EXPERTS, _SCORES, _INNER, _THETA, _EPSILON = 8, 1.0, 1024, 10_000.0, 1e-6  # where the configuration does not say them
_USUAL = Usual(heads=128, groups=1, state_width=256, keys=HYBRID_KEYS)
_KINDS, _NAMES = "layer_types", {"attention": FULL, FULL: FULL, "mamba": LINEAR, LINEAR: LINEAR}
_GATE_AND_UP, _DOWN = "shared_mlp.input_linear", "shared_mlp.output_linear"


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    inner = config.positive_int("shared_intermediate_size", _INNER, maximum=parts.MAX_WIDTH)
    sizes, kinds = read_sizes(config, tensors, None, inner=inner), _kinds(config)
    epsilon = parts.epsilon_of(config, "rms_norm_eps", _EPSILON)
    made = LlamaParts(tensors, prefix, sizes, epsilon, one_gate=_GATE_AND_UP)
    positions, seen = config.positive_int(POSITIONS, maximum=MAX_POSITIONS), None
    if config.values.get("position_embedding_type") == "rope":
        seen = Rotation(angles_of(config, _THETA, positions), tokens).seen(sizes.head_width)
    mamba = Mamba.read(config, _USUAL, sizes.width) if LINEAR in kinds else None
    factors, activation = factors_in(config, _SCORES), parts.activation_of(config, default="silu")
    bias, mixture = config.flag("attention_bias", False), _mixture(config, inner)

    def ops_of(of_kind: LlamaParts, kind: str) -> tuple[Op, ...]:
        if kind == FULL:
            block = attention(of_kind, seen, bias, scale=factors.scores, factor=factors.blocks)
        else:
            assert mamba is not None
            block = mixer(of_kind, mamba, "mamba", MixerFactors(out=factors.blocks))
        return (
            of_kind.norm("attention_norm", "input_layernorm"),
            *block,
            of_kind.norm("feed_forward_norm", "post_attention_layernorm"),
            *_behind(of_kind, mixture, activation, factors.blocks),
        )

    widths = sizes.widths | ({} if mamba is None else mamba.widths)
    widths |= {} if mixture is None else mixture.widths(sizes.width)
    return mamba_stack(made, (WORDS, vocabulary), kinds, ops_of, widths, factor=factors.words)


def _behind(made: LlamaParts, mixture: experts.Mixture | None, activation: str, factor: float) -> tuple[Op, ...]:
    if mixture is not None:
        return mixture.ops(made.tensors, made.sources, made.sizes.width, activation, "normed", factor)
    output = made.linear("output", _DOWN, False, "inner", "hidden", add="hidden")
    return (
        *made.gate_and_up(False, activation),
        Multiply("gate", "inner", "inner"),
        *made.added(output, None, factor),
    )


def _mixture(config: Config, inner: int) -> experts.Mixture | None:
    """Experts, and beside them the block that is always there."""
    if not config.natural_int("num_local_experts", _EXPERTS):
        return None
    return granitemoe.form_in(config, Beside(inner, (_GATE_AND_UP,), _DOWN)).mixture


def _kinds(config: Config) -> list[str]:
    """Of each layer; where none is named, all are Mamba's."""
    key, layers = parts.either_name(config, _KINDS, "layers_block_type"), config.positive_int("num_hidden_layers")
    kinds = (LINEAR,) * layers if config.values.get(key) is None else config.strings(key)
    if len(kinds) != layers or not set(kinds) <= set(_NAMES):
        raise parts.refuse("layers-out-of-range", f"{key}: expected {layers} of {' or '.join(_NAMES)}")
    return [_NAMES[kind] for kind in kinds]


FAMILY = Family("GraniteMoeHybrid", AS_IN_JSON, _stack, logits_factor=logits_factor)
