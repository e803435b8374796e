# SPDX-License-Identifier: Apache-2.0
"""Tiny generative models with experts, between which a router chooses for each row."""

from __future__ import annotations

from typing import Any

from writer_shapes import LFM2, LLAMA, USED, YARN

_LATENT: dict[str, Any] = LLAMA | {
    **{"kv_lora_rank": 11, "qk_rope_head_dim": 4, "qk_nope_head_dim": 6, "v_head_dim": 6, "num_key_value_heads": 4},
    **{"n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 7, "n_shared_experts": 2},
    **{"hidden_size": 16, "pad_token_id": 0},
}
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
    "lfm2_moe/own": (
        "Lfm2Moe",
        LFM2
        | {"num_hidden_layers": 4, "layer_types": ["conv", "full_attention", "conv", "full_attention"]}
        | {"num_experts": 5, "num_experts_per_tok": 2, "moe_intermediate_size": 11, "num_dense_layers": 1}
        | {"routed_scaling_factor": 1.5, "hidden_size": 16},
    ),
    "ernie4_5_moe/own": (
        "Ernie4_5_Moe",
        LLAMA
        | {"moe_num_experts": 4, "moe_k": 2, "moe_intermediate_size": 11, "moe_num_shared_experts": 2}
        | {"use_bias": True, "moe_norm_min": 0.6, "head_dim": 8, "tie_word_embeddings": False, "pad_token_id": 0},
    ),
    "dots1/own": (
        "Dots1",
        LLAMA
        | {"n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 11, "n_shared_experts": 1}
        | {"first_k_dense_replace": 1, "num_hidden_layers": 3, "sliding_window": 5, "max_window_layers": 2}
        | {"hidden_size": 16, "pad_token_id": 0},
    ),
    "glm4_moe/own": (
        "Glm4Moe",
        LLAMA
        | {"n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 11, "n_shared_experts": 2}
        | {"use_qk_norm": True, "attention_bias": True, "head_dim": 8, "routed_scaling_factor": 2.5, "pad_token_id": 0},
    ),
    "solar_open/own": (
        "SolarOpen",
        {key: value for key, value in LLAMA.items() if key != "intermediate_size"}
        | {"n_routed_experts": 4, "num_experts_per_tok": 3, "moe_intermediate_size": 11, "head_dim": 6}
        | {"norm_topk_prob": False, "pad_token_id": 0},
    ),
    "exaone_moe/own": (
        "ExaoneMoe",
        LLAMA
        | {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 11, "num_hidden_layers": 5}
        | {"sliding_window": 5, "hidden_size": 12, "num_attention_heads": 2, "num_key_value_heads": 1},
    ),
    "hy_v3/own": (
        "HYV3",
        LLAMA
        | {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 11, "head_dim": 8, "pad_token_id": 0},
    ),
    "deepseek_v3/own": (
        "DeepseekV3",
        _LATENT
        | {"first_k_dense_replace": 1, "num_hidden_layers": 3, "n_group": 1, "topk_group": 1, "q_lora_rank": None}
        | {"attention_bias": True, "routed_scaling_factor": 1.5}
        | {"rope_parameters": YARN | {"mscale": 1.0, "mscale_all_dim": 1.5}},
    ),
    "glm4_moe_lite/own": ("Glm4MoeLite", _LATENT | {"q_lora_rank": 9, "mlp_layer_types": ["sparse", "dense"]}),
}
