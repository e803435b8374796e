# SPDX-License-Identifier: Apache-2.0
"""Tiny generative models that have, in place of some layers' attention, a convolution or the delta rule."""

from __future__ import annotations

from typing import Any

from tokenizers_of_texts import SPECIAL
from writer_shapes import LFM2, LLAMA, QWEN3_5, VOCABULARY, WINDOWS

HYBRIDS: dict[str, tuple[str, dict[str, Any]]] = {
    "qwen3_5_text/own": ("Qwen3_5", QWEN3_5 | {"tie_word_embeddings": True, "linear_conv_kernel_dim": 3}),
    "qwen3_5_text/biased": (
        "Qwen3_5",
        QWEN3_5
        | {"num_hidden_layers": 4, "layer_types": None, "full_attention_interval": 2, "attention_bias": True}
        | {"linear_num_key_heads": 3, "linear_num_value_heads": 3, "linear_value_head_dim": 6, "pad_token_id": 0}
        | {"rope_parameters": {"rope_type": "default", "rope_theta": 90.0, "partial_rotary_factor": 0.5}},
    ),
    "qwen3_5/whole": (
        "Qwen3_5Whole",
        {
            "text_config": QWEN3_5 | {"num_hidden_layers": 2, "layer_types": ["linear_attention", "full_attention"]},
            "vision_config": {"depth": 1, "hidden_size": 8, "num_heads": 2, "intermediate_size": 6, "patch_size": 2}
            | {"out_hidden_size": 24, "num_position_embeddings": 4, "in_channels": 1},
            **{"vocab_size": VOCABULARY, "bos_token_id": 1, "eos_token_id": 2, "tie_word_embeddings": True},
        },
    ),
    "lfm2/own": ("Lfm2", LFM2 | {"conv_bias": True, "tie_word_embeddings": False, "conv_L_cache": 4}),
    "lfm2/texts": (
        "Lfm2",
        LFM2
        | {"num_hidden_layers": 5, "layer_types": None, "full_attn_idxs": [1, 3], "hidden_size": 16}
        | {"block_auto_adjust_ff_dim": True, "block_ff_dim": 36, "block_multiple_of": 5}
        | SPECIAL["lfm2/texts"],
    ),
    "lfm3/own": (
        "Lfm3",
        LLAMA
        | {"num_hidden_layers": 5, "layer_types": ["conv", *WINDOWS, "conv", WINDOWS[1]], "sliding_window": 6}
        | {"head_dim": 8, "pad_token_id": 0, "conv_L_cache": 5, "conv_bias": True, "norm_eps": 1e-3}
        | {
            "rope_parameters": {
                "sliding_attention": {"rope_type": "default", "rope_theta": 70.0},
                "full_attention": {
                    **{"rope_type": "proportional", "rope_theta": 900.0, "partial_rotary_factor": 0.7, "factor": 2.5}
                },
            }
        },
    ),
    "lfm3/plain": (
        "Lfm3",
        LLAMA
        | {"num_hidden_layers": 2, "layer_types": ["full_attention", "conv"], "attention_bias": True, "head_dim": 6}
        | {"use_sandwich_norm": False, "use_attention_gate": False, "tie_word_embeddings": False, "pad_token_id": 0},
    ),
}
