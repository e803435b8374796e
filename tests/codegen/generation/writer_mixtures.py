# SPDX-License-Identifier: Apache-2.0
"""Tiny generative models with experts, between which a router chooses for each row."""

from __future__ import annotations

from typing import Any

from writer_shapes import LLAMA, USED, YARN

MIXTURES: dict[str, tuple[str, dict[str, Any]]] = {
    "qwen3_moe/own": (
        "Qwen3Moe",
        LLAMA
        | {"num_hidden_layers": 4, "mlp_only_layers": [0], "norm_topk_prob": True, "head_dim": 8, "hidden_size": 16}
        | {"num_experts": 5, "num_experts_per_tok": 2, "moe_intermediate_size": 9, "pad_token_id": 0}
        | USED,
    ),
    "olmoe/own": (
        "Olmoe",
        LLAMA | {"num_experts": 6, "num_experts_per_tok": 3, "intermediate_size": 11, "pad_token_id": 0},
    ),
    "mixtral/own": (
        "Mixtral",
        LLAMA
        | {"num_local_experts": 3, "num_experts_per_tok": 2, "intermediate_size": 17, "num_hidden_layers": 1}
        | {"sliding_window": 6},
    ),
    "qwen2_moe/own": (
        "Qwen2Moe",
        LLAMA
        | {"num_experts": 3, "num_experts_per_tok": 1, "moe_intermediate_size": 9, "hidden_size": 16}
        | {"shared_expert_intermediate_size": 13, "num_hidden_layers": 2, "pad_token_id": 0},
    ),
    "granitemoe/own": (
        "GraniteMoe",
        LLAMA
        | {"num_local_experts": 4, "num_experts_per_tok": 2, "intermediate_size": 11, "num_hidden_layers": 1}
        | {"embedding_multiplier": 3.5, "attention_multiplier": 0.3, "residual_multiplier": 0.6, "logits_scaling": 2.5}
        | {"tie_word_embeddings": True, "pad_token_id": 0},
    ),
    "granitemoeshared/own": (
        "GraniteMoeShared",
        LLAMA
        | {"num_local_experts": 4, "num_experts_per_tok": 2, "intermediate_size": 11, "num_hidden_layers": 2}
        | {"embedding_multiplier": 3.5, "attention_multiplier": 0.3, "residual_multiplier": 0.6, "logits_scaling": 2.5}
        | {"shared_intermediate_size": 14, "attention_bias": True, "pad_token_id": 0},
    ),
    "granitemoe_swa/own": (
        "GraniteMoeSWA",
        LLAMA
        | {"num_local_experts": 3, "num_experts_per_tok": 2, "intermediate_size": 11, "num_hidden_layers": 2}
        | {"residual_multiplier": 0.6, "attention_multiplier": 0.4, "shared_intermediate_size": 9, "pad_token_id": 0}
        | {"sliding_window": 5, "rope_parameters": {"rope_type": "default", "rope_theta": 90.0}},
    ),
    "gpt_oss/own": (
        "GptOss",
        LLAMA
        | {"num_local_experts": 4, "num_experts_per_tok": 2, "intermediate_size": 11, "num_hidden_layers": 2}
        | {"sliding_window": 5, "swiglu_limit": 1.5, "swiglu_alpha": 1.3, "head_dim": 10, "pad_token_id": 0}
        | {"rope_parameters": YARN | {"truncate": False, "rope_theta": 90.0}},
    ),
    "flex_olmo/own": (
        "FlexOlmo",
        LLAMA | {"num_experts": 5, "num_experts_per_tok": 3, "intermediate_size": 11, "pad_token_id": 0},
    ),
    "hunyuan_v1_moe/own": (
        "HunYuanMoEV1",
        LLAMA
        | {"head_dim": 10, "num_hidden_layers": 1, "num_experts": 4, "moe_topk": [2], "intermediate_size": 11}
        | {"rope_parameters": {"rope_type": "dynamic", "rope_theta": 900.0, "alpha": 7.5, "factor": 1.0}},
    ),
}
