# SPDX-License-Identifier: Apache-2.0
"""GPTBigCode, which SantaCoder and the first StarCoders are: GPT-2 whose heads share one of keys and values. Names as
in `transformers`."""

from __future__ import annotations

from ...ir.graph import Attention, Layers, Op
from ...load.config import Config
from ...load.safetensors import TensorFile
from ...load.tokenizer_files.tokenizer_config import AS_IN_JSON
from ..shared import parts
from ..shared.layer_parts import ATTENTION, LayerParts
from ..shared.llama_stack import Stack
from .gpt2 import NAMES, UNREAD, embed, family, sizes_in

MODEL_TYPE = "gpt_bigcode"
# What half precision and the first files' own class needed, and the number of heads that multi_query says.
_UNREAD = """
    attention_softmax_in_fp32 inference_runner max_batch_size max_sequence_length num_key_value_heads pad_key_length
    pre_allocate_kv_cache scale_attention_softmax_in_fp32 validate_runner_input
"""
HARMLESS_KEYS = UNREAD | frozenset(_UNREAD.split())


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, _: int) -> Stack:
    width, heads, count = sizes_in(config, tensors)
    if config.flag("add_cross_attention", False):
        raise parts.refuse("config-not-supported", "add_cross_attention is true")
    key_heads = 1 if config.flag("multi_query", True) else heads
    widths = dict.fromkeys(("hidden", "normed", "query", "context"), width)
    widths |= dict.fromkeys(("key", "value"), width // heads * key_heads)
    widths |= {"inner": parts.inner_or_four_times(config, "n_inner", width)}
    epsilon = parts.epsilon_of(config, "layer_norm_epsilon", 1e-5)
    activation = parts.activation_of(config, "activation_function", "gelu_pytorch_tanh")
    scale = None if config.flag("scale_attn_weights", True) else 1.0
    words, embedding = embed(config, tensors, f"{prefix}{NAMES.words}", f"{prefix}wpe.weight", vocabulary, width)
    made = LayerParts(tensors, [f"{prefix}h.{i}." for i in range(count)], widths, epsilon)
    layer: tuple[Op, ...] = (
        made.norm("attention_norm", "ln_1"),
        *made.projections("attn.c_attn", key_heads, heads // key_heads),
        Attention(*ATTENTION, "context", heads, key_heads, scale, mask="causal"),
        made.linear("attention_output", "attn.c_proj", "context", "hidden", residual="hidden"),
        made.norm("feed_forward_norm", "ln_2"),
        made.linear("intermediate", "mlp.c_fc", "normed", "inner", activation),
        made.linear("output", "mlp.c_proj", "inner", "hidden", residual="hidden"),
    )
    body = (
        embedding,
        Layers("layer", count, layer),
        parts.layer_norm(tensors, "final_norm", [f"{prefix}ln_f"], width, epsilon, "hidden"),
    )
    return Stack(body, widths, words, width)


FAMILY = family("GPTBigCode", AS_IN_JSON, _stack, tags="classifier")
