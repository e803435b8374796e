# SPDX-License-Identifier: Apache-2.0
"""Hunyuan's third one, as Hy3-preview: Llama's attention with norms of each head's queries and keys, and experts as
DeepSeek-V3 chooses them. Names as in `transformers`. What guesses tokens beyond the next one is left aside."""

from __future__ import annotations

from dataclasses import replace

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared import experts
from ..shared.experts import OneByOne, Stacked
from ..shared.llama_stack import HEAD_NORMS, Biases, Form, Stack, causal_stack
from ..shared.sigmoid_experts import Usual, mixture_in

MODEL_TYPE = "hy_v3"
HARMLESS_KEYS = experts.HARMLESS_KEYS | {"attention_dropout", "enable_moe_fp32_combine", "num_nextn_predict_layers"}
# Where the configuration does not say them.
_USUAL = Usual(
    experts=192,
    top=8,
    inner=1536,
    beside=1,
    counts=("num_experts", "num_local_experts"),
    beside_key="num_shared_experts",
    normalized=None,
    factor_key="router_scaling_factor",
    factor=2.826,
)
_HEADS, _KEY_HEADS, _HEAD_WIDTH, _INNER, _EPSILON, _THETA = 64, 8, 128, 13_312, 1e-5, 11_158_840.0
_PARTS = ("gate_proj", "up_proj", "down_proj")
_NAMES = (
    OneByOne("mlp.router.gate", *(f"mlp.experts.{{}}.{of}" for of in _PARTS)),
    Stacked("mlp.router.gate", "mlp.experts.gate_up_proj", "mlp.experts.down_proj"),
)
_BIAS = ("mlp.expert_bias", "mlp.e_score_correction_bias")
_BESIDE = (("mlp.shared_mlp.gate_proj", "mlp.shared_mlp.up_proj"), "mlp.shared_mlp.down_proj")


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    dense = experts.dense_by_kind(config, frozenset({0}))
    attention, bias = config.flag("attention_bias", False), config.flag("mlp_bias", False)
    mixture = mixture_in(config, _USUAL, dense, _NAMES, _BIAS, _BESIDE)
    if mixture.beside is not None:
        mixture = replace(mixture, beside=replace(mixture.beside, bias=bias))
    form = Form(
        Biases(attention, attention, bias),
        head_norms=HEAD_NORMS,
        head_width=_HEAD_WIDTH,
        heads=_HEADS,
        key_heads=_KEY_HEADS,
        epsilon=_EPSILON,
        theta=_THETA,
        inner=_INNER,
        mixture=mixture,
    )
    return causal_stack(config, tensors, prefix, vocabulary, tokens, form)


FAMILY = Family("HYV3", "TokenizersBackend", _stack)
