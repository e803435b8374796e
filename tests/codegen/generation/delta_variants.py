# SPDX-License-Identifier: Apache-2.0
"""Tiny generative models with layers of linear attention by the gated delta rule."""

from __future__ import annotations

from typing import Any

from writer_shapes import LLAMA, QWEN3_5

_KINDS = QWEN3_5["layer_types"]
EXPERTS = {"num_experts": 5, "num_experts_per_tok": 2, "moe_intermediate_size": 11}
TWO_LAYERS = {"num_hidden_layers": 2, "layer_types": ["linear_attention", "full_attention"]}
DELTA: dict[str, tuple[str, dict[str, Any]]] = {
    "qwen3_5_text/own": ("Qwen3_5", QWEN3_5 | {"tie_word_embeddings": True, "linear_conv_kernel_dim": 3}),
    "qwen3_5_text/biased": (
        "Qwen3_5",
        QWEN3_5
        | {"num_hidden_layers": 4, "layer_types": None, "full_attention_interval": 2, "attention_bias": True}
        | {"linear_num_key_heads": 3, "linear_num_value_heads": 3, "linear_value_head_dim": 6, "pad_token_id": 0}
        | {"rope_parameters": {"rope_type": "default", "rope_theta": 90.0, "partial_rotary_factor": 0.5}},
    ),
    "qwen3_5_moe_text/own": (
        "Qwen3_5Moe",
        QWEN3_5 | EXPERTS | TWO_LAYERS | {"shared_expert_intermediate_size": 14, "tie_word_embeddings": True},
    ),
    "qwen3_next/own": (
        "Qwen3Next",
        QWEN3_5 | EXPERTS | {"shared_expert_intermediate_size": 14, "attention_bias": True, "intermediate_size": 5},
    ),
    "qwen3_next/dense": (
        "Qwen3Next",
        QWEN3_5
        | EXPERTS
        | {"num_hidden_layers": 4, "layer_types": None, "full_attention_interval": 2, "mlp_only_layers": [0, 3]}
        | {"linear_num_key_heads": 1, "linear_num_value_heads": 3, "linear_conv_kernel_dim": 2, "pad_token_id": 0}
        | {"norm_topk_prob": False, "shared_expert_intermediate_size": 9, "tie_word_embeddings": True},
    ),
    "olmo_hybrid/own": (
        "OlmoHybrid",
        LLAMA
        | {"num_hidden_layers": 3, "layer_types": _KINDS, "rope_parameters": {"rope_theta": None}, "pad_token_id": 0}
        | {"linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 5, "attention_bias": True},
    ),
    "olmo_hybrid/turned": (
        "OlmoHybrid",
        LLAMA
        | {"num_hidden_layers": 2, "linear_allow_neg_eigval": False, "linear_conv_kernel_dim": 3, "pad_token_id": 0}
        | {"rope_parameters": {"rope_type": "default", "rope_theta": 90.0}, "tie_word_embeddings": True}
        | {"num_key_value_heads": None},
    ),
}
