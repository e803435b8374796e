# SPDX-License-Identifier: Apache-2.0
"""The first GPT: a decoder alone with norms behind the blocks. Names as in `transformers`."""

from __future__ import annotations

from dataclasses import replace

from ...ir.graph import Attention, Layers, Op
from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Names
from ..shared import parts
from ..shared.layer_parts import ATTENTION
from ..shared.llama_stack import Stack
from ..shared.transposed_parts import TransposedParts
from .gpt2 import UNREAD, embed, family, sizes_in

MODEL_TYPE = "openai-gpt"
# The positions once more, and what the first files say of tokens that they do not have.
HARMLESS_KEYS = UNREAD | {"n_ctx", "n_special", "predict_special_tokens"}
_NAMES = Names("transformer.", words="tokens_embed.weight")
_ACTIVATION = "afn"
_ACTIVATIONS = {"gelu": "gelu_new", "relu": "relu", "silu": "silu", "swish": "silu"}  # what the class makes of a name


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, _: int) -> Stack:
    width, heads, count = sizes_in(config, tensors)
    inner = 4 * width
    tensors.ignore(f"{prefix}h.*.attn.bias")  # the causal mask
    names = f"{prefix}{_NAMES.words}", f"{prefix}positions_embed.weight"
    words, embedding = embed(config, tensors, *names, vocabulary, width)
    epsilon = parts.epsilon_of(config, "layer_norm_epsilon", 1e-5)
    part = TransposedParts(tensors, [f"{prefix}h.{i}." for i in range(count)], width, epsilon)
    layer: tuple[Op, ...] = (
        *part.attention("hidden"),
        Attention(*ATTENTION, "context", heads, mask="causal"),
        part.linear("attention_output", "attn.c_proj", (width, width), "context", "hidden", residual="hidden"),
        part.norm("attention_norm", "ln_1", "hidden"),
        part.linear("intermediate", "mlp.c_fc", (width, inner), "hidden", "inner", _activation(config)),
        part.linear("output", "mlp.c_proj", (inner, width), "inner", "hidden", residual="hidden"),
        part.norm("output_norm", "ln_2", "hidden"),
    )
    widths = dict.fromkeys(("hidden", "context", *ATTENTION), width) | {"inner": inner}
    return Stack((embedding, Layers("layer", count, layer)), widths, words, width)


def _activation(config: Config) -> str:
    name = config.text(_ACTIVATION, "gelu")
    if name not in _ACTIVATIONS:
        message = f"{_ACTIVATION} '{name}' is not supported (supported: {', '.join(_ACTIVATIONS)})"
        raise parts.refuse("activation-not-supported", message)
    return parts.activation_named(_ACTIVATIONS[name], _ACTIVATION)


FAMILY = replace(
    family("OpenAIGPT", "OpenAIGPTTokenizer", _stack, _NAMES, writer="OpenAIGPTLMHeadModel"), own_masks=True
)
