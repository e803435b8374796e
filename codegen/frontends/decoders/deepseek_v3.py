# SPDX-License-Identifier: Apache-2.0
"""DeepSeek-V3 (DeepSeek-AI, 2024, arXiv:2412.19437) where experts are not chosen in groups, as Moonlight-16B-A3B:
latent attention, and experts by sigmoids of their scores and a stored bias. Names as in `transformers`. What guesses
tokens beyond the next one is left aside."""

from __future__ import annotations

from dataclasses import replace

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared import experts, parts
from ..shared.latent_attention import Latent
from ..shared.llama_stack import Stack
from ..shared.sigmoid_experts import Usual, mixture_in
from .youtu import FORM, latent_stack

MODEL_TYPE = "deepseek_v3"
# Training's, those of one way to choose experts, and a width that is that of turned values.
_HARMLESS = """
    attention_dropout aux_loss_alpha ep_size head_dim moe_layer_freq num_mtp_layers num_nextn_predict_layers
    pretraining_tp scoring_func seq_aux topk_method
"""
HARMLESS_KEYS = experts.HARMLESS_KEYS | frozenset(_HARMLESS.split())
# Where the configuration does not say them.
_USUAL = Usual(experts=256, top=8, inner=2048, beside=1, factor=2.5, groups=(8, 4))
_LATENT = Latent(query=1536, key=512, turned=64, still=128, value=128, pairs=True, bias=False)
_HEADS, _INNER, _DENSE = 128, 18_432, 3


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    mixture = mixture_in(config, _USUAL, experts.first_dense(config, "first_k_dense_replace", _DENSE))
    layers = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    tensors.ignore(f"{prefix}layers.{layers}.*")
    form = replace(FORM, heads=_HEADS, inner=_INNER, mixture=mixture)
    return latent_stack(config, tensors, prefix, vocabulary, tokens, _LATENT, form)


FAMILY = Family("DeepseekV3", "TokenizersBackend", _stack, tags="score")
