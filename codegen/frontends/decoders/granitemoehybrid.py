# SPDX-License-Identifier: Apache-2.0
"""Granite 4, the dense ones: Granite, whose gate and up are one linear of the file, and which may know no positions.
Layers of Mamba and experts are refused. Names as in `transformers`, which has no classifier of it."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ...load.tokenizer_files.tokenizer_config import AS_IN_JSON
from ..bases.decoder_family import Family
from ..shared import parts
from ..shared.layer_kinds import FULL
from ..shared.llama_stack import Biases, Form, Stack, causal_stack
from .granite import factors_in, logits_factor

MODEL_TYPE = "granitemoehybrid"
# Training's, and those of what a dense model has none of: experts, layers of Mamba.
_HARMLESS = """
    attention_dropout init_method intermediate_size logits_to_keep mamba_chunk_size mamba_conv_bias mamba_d_conv
    mamba_d_head mamba_d_state mamba_expand mamba_n_groups mamba_n_heads mamba_proj_bias normalization_function
    num_experts_per_tok output_router_logits router_aux_loss_coef time_step_limit time_step_max time_step_min
"""
HARMLESS_KEYS = frozenset(_HARMLESS.split())
_EXPERTS, _SCORES, _INNER = 8, 1.0, 1024  # where the configuration does not say them
_KINDS, _ATTENTION = "layer_types", ("attention", FULL)


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    _check_dense(config)
    turned = config.values.get("position_embedding_type") == "rope"
    layers = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    bias = config.flag("attention_bias", False)
    form = Form(
        Biases(bias, bias, feed_forward=False),
        factors=factors_in(config, _SCORES),
        turned=() if turned else (False,) * layers,
        one_gate="shared_mlp.input_linear",
        narrowing="shared_mlp.output_linear",
        inner_key="shared_intermediate_size",
        inner=_INNER,
    )
    return causal_stack(config, tensors, prefix, vocabulary, tokens, form)


def _check_dense(config: Config) -> None:
    """EtchError where there is more than attention and one feed-forward block."""
    if experts := config.natural_int("num_local_experts", _EXPERTS):
        raise parts.refuse("config-not-supported", f"num_local_experts {experts}: mixtures of experts")
    key = parts.either_name(config, _KINDS, "layers_block_type")
    if config.values.get(key) is None:
        raise parts.refuse("config-not-supported", f"{key} names no layers: all are Mamba's then")
    kinds, layers = config.strings(key), config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    if len(kinds) != layers or not set(kinds) <= set(_ATTENTION):
        raise parts.refuse("layers-out-of-range", f"{key}: expected {layers} of {' or '.join(_ATTENTION)}")


FAMILY = Family("GraniteMoeHybrid", AS_IN_JSON, _stack, logits_factor=logits_factor)
