# SPDX-License-Identifier: Apache-2.0
"""StarCoder2: Llama's shape with layer norms, biases and no gate, and a window of the past. Names as in
`transformers`."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared.llama_stack import Biases, Form, Stack, causal_stack, window_in
from ..shared.masks import masks_of_past

MODEL_TYPE = "starcoder2"
# Training's, and what the library does not read.
_HARMLESS = "activation_function attention_dropout embedding_dropout mlp_type norm_type residual_dropout"
HARMLESS_KEYS = frozenset(_HARMLESS.split())
_EPSILON, _KEY_HEADS, _ACTIVATION = 1e-5, 2, "gelu_pytorch_tanh"  # where the configuration does not say them


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    bias = config.flag("use_bias", True)
    form = Form(
        Biases(bias, bias, bias),
        key_heads=_KEY_HEADS,
        epsilon=_EPSILON,
        layer_norms=True,
        epsilon_key="norm_epsilon",
        activation=_ACTIVATION,
        ungated=("mlp.c_fc", "mlp.c_proj"),
    )
    masks = masks_of_past([window_in(config)], tokens)
    return causal_stack(config, tensors, prefix, vocabulary, tokens, form, masks)


FAMILY = Family("Starcoder2", "GPT2Tokenizer", _stack, tied=True, tags="score")
