# SPDX-License-Identifier: Apache-2.0
"""GLM 4.7 Flash: latent attention and experts as DeepSeek-V3 has them. Names as in `transformers`, which has no
classifier of it. What guesses tokens beyond the next one is left aside."""

from __future__ import annotations

from dataclasses import replace

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared import experts, parts
from ..shared.latent_attention import Latent
from ..shared.llama_stack import Stack
from ..shared.sigmoid_experts import Usual, mixture_in
from . import deepseek_v3
from .youtu import FORM, latent_stack

MODEL_TYPE = "glm4_moe_lite"
HARMLESS_KEYS = deepseek_v3.HARMLESS_KEYS | {"first_k_dense_replace"}  # mlp_layer_types says it
# Where the configuration does not say them.
_USUAL = Usual(experts=64, top=4, inner=1536, beside=1, factor=1.8)
_LATENT = Latent(query=768, key=512, turned=64, still=192, value=256, pairs=True, bias=False)
_HEADS, _INNER, _EPSILON = 20, 10_240, 1e-5


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    mixture = mixture_in(config, _USUAL, experts.dense_by_kind(config, frozenset({0})))
    layers = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    tensors.ignore(f"{prefix}layers.{layers}.*")
    form = replace(FORM, heads=_HEADS, inner=_INNER, epsilon=_EPSILON, mixture=mixture)
    return latent_stack(config, tensors, prefix, vocabulary, tokens, _LATENT, form)


FAMILY = Family("Glm4MoeLite", "TokenizersBackend", _stack)
