# SPDX-License-Identifier: Apache-2.0
"""gpt-oss (OpenAI, 2025, arXiv:2508.10925) in plain weights: Llama's shape with biases, windows of the past in every
other layer, a learned sink of each head, yarn's angles, and experts whose gates are between bounds. Names as in
`transformers`."""

from __future__ import annotations

from ...ir.clamped_gate import ClampedGate
from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared import experts, parts
from ..shared.experts import Mixture, Transposed
from ..shared.layer_kinds import FULL, SLIDING, Seen, layer_kinds
from ..shared.llama_stack import (
    MAX_POSITIONS,
    POSITIONS,
    Biases,
    Form,
    Rotation,
    Stack,
    llama_stack,
    masks_by_kind,
)
from ..shared.rotary import Angles, angles_in, kind_of, said_in
from ..shared.yarn import yarn_angles
from .granite_swa import SINKS

MODEL_TYPE = "gpt_oss"
# Training's; an activation, and the first positions, which the class does not read.
HARMLESS_KEYS = experts.HARMLESS_KEYS | {"attention_dropout", "hidden_act", "initial_context_length"}
_COUNTS = ("num_local_experts", "num_experts")  # one key by two names
_NAMES = (Transposed("mlp.router", "mlp.experts.gate_up_proj", "mlp.experts.down_proj"),)
# Where the configuration does not say them.
_EXPERTS, _INNER, _HEAD_WIDTH, _KEY_HEADS, _EPSILON, _THETA, _WINDOW = (128, 4), 2880, 64, 8, 1e-5, 150_000.0, 128
_ALPHA, _LIMIT = 1.702, 7.0
_ANGLES = {
    **{"rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": False},
    "original_max_position_embeddings": 4096,
}


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    count, top = experts.counts_of(config, _COUNTS, _EXPERTS)
    inner = config.positive_int("intermediate_size", _INNER, maximum=parts.MAX_WIDTH)
    alpha, limit = (
        parts.factor_of(config, f"swiglu_{of}", usual) for of, usual in (("alpha", _ALPHA), ("limit", _LIMIT))
    )
    bias = config.flag("attention_bias", True)
    form = Form(
        Biases(bias, bias, feed_forward=False),
        head_width=_HEAD_WIDTH,
        key_heads=_KEY_HEADS,
        epsilon=_EPSILON,
        sinks=SINKS,
        mixture=Mixture(count, top, inner, "chosen", _NAMES, clamped=ClampedGate(alpha, limit)),
    )
    layers = range(config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS))
    kinds = layer_kinds(config, tuple(FULL if i % 2 else SLIDING for i in layers))
    masks = masks_by_kind(config, kinds, _WINDOW, tokens)

    def seen_by(width: int) -> Seen:
        return Rotation(_angles(config, width), tokens, masks=masks).seen(width)

    return llama_stack(config, tensors, prefix, vocabulary, seen_by, form)


def _angles(config: Config, width: int) -> Angles:
    """Of heads of `width` values."""
    values, key = said_in(config)
    theta, positions = config.number("rope_theta", _THETA), config.positive_int(POSITIONS, maximum=MAX_POSITIONS)
    values = values or _ANGLES
    if kind_of(Config.from_json(values)) == "yarn":
        return yarn_angles(values, key, theta, positions, width)
    return angles_in(values, key, theta, positions)


FAMILY = Family("GptOss", "TokenizersBackend", _stack, tags="score")
