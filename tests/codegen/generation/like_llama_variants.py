# SPDX-License-Identifier: Apache-2.0
"""Tiny generative models of Llama's layers with parts of their own: activations, factors, norms, windows."""

from __future__ import annotations

from typing import Any

from writer_shapes import END, LLAMA, WINDOWS, YARN

LATENT = LLAMA | {"num_key_value_heads": 4, "kv_lora_rank": 10, "qk_rope_head_dim": 4, "qk_nope_head_dim": 5}
LATENT_LONGROPE = {
    **{"rope_type": "longrope", "rope_theta": 500.0, "original_max_position_embeddings": 41},
    **{"short_factor": [1.0, 1.25, 2.5], "long_factor": [1.0, 3.0, 9.0]},
}
LIKE_LLAMA: dict[str, tuple[str, dict[str, Any]]] = {
    "granite_swa/own": (
        "GraniteSWA",
        LLAMA
        | {"num_hidden_layers": 4, "sliding_window": 5, "layer_rope_theta": [90.0, 0, 700, 0], "attention_bias": True}
        | {"attention_multiplier": 0.3, "embedding_multiplier": 3.5, "logits_scaling": 2.5, "pad_token_id": 0}
        | {"layer_types": ["full_attention", "sliding_attention", "sliding_attention", "full_attention"]},
    ),
    "apertus/own": ("Apertus", LLAMA | {"head_dim": 8, "intermediate_size": 70}),
    "apertus/biases": (
        "Apertus",
        LLAMA
        | {"attention_bias": True, "hidden_act": "relu", "num_hidden_layers": 1, "tie_word_embeddings": True}
        | {"rope_parameters": {"rope_type": "default", "rope_theta": 500.0}},
    ),
    "minicpm3/own": (
        "MiniCPM3",
        LATENT
        | {"q_lora_rank": 14, "v_head_dim": 4, "scale_emb": 3, "scale_depth": 1.5, "dim_model_base": 12}
        | {"attention_bias": True, "mlp_bias": True, "num_hidden_layers": 4, "pad_token_id": 0},
    ),
    "minicpm3/long": (
        "MiniCPM3",
        LATENT
        | {"q_lora_rank": None, "num_hidden_layers": 1, "tie_word_embeddings": False, "qk_rope_head_dim": 6}
        | {"rope_parameters": LATENT_LONGROPE, "max_position_embeddings": 164, "pad_token_id": 0},
    ),
    "youtu/own": ("Youtu", LATENT | {"q_lora_rank": 14, "v_head_dim": 9, "attention_bias": True}),
    "youtu/halves": (
        "Youtu",
        LATENT
        | {"q_lora_rank": None, "v_head_dim": 5, "rope_interleave": False, "tie_word_embeddings": False}
        | {"num_hidden_layers": 1},
    ),
    "youtu/padding": ("Youtu", LATENT | {"pad_token_id": 7, "q_lora_rank": 6, "num_hidden_layers": 1, "v_head_dim": 6}),
    "bitnet/own": ("BitNet", LLAMA | {"attention_bias": True, "rms_norm_eps": 1e-3, "tie_word_embeddings": True}),
    "bitnet/gates": ("BitNet", LLAMA | {"hidden_act": "silu", "num_hidden_layers": 1, "num_key_value_heads": 4}),
    "arcee/own": ("Arcee", LLAMA | {"mlp_bias": True, "num_hidden_layers": 1}),
    "granitemoehybrid/own": (
        "GraniteMoeHybrid",
        LLAMA
        | {"embedding_multiplier": 3.5, "attention_multiplier": 0.3, "residual_multiplier": 0.6, "logits_scaling": 2.5}
        | {"tie_word_embeddings": True, "position_embedding_type": "rope", "num_local_experts": 0, "mamba_n_heads": 4}
        | {"layer_types": ["attention"] * 2, "shared_intermediate_size": 26},
    ),
    "granitemoehybrid/still": (
        "GraniteMoeHybrid",
        LLAMA
        | {"attention_bias": True, "attention_multiplier": 0.4, "num_hidden_layers": 1, "num_local_experts": 0}
        | {"position_embedding_type": "nope", "mamba_n_heads": 4, "layer_types": ["full_attention"]}
        | {"shared_intermediate_size": 19},
    ),
    "hyperclovax/own": (
        "HyperCLOVAX",
        LLAMA
        | {"embedding_multiplier": 3.5, "attention_multiplier": 0.3, "residual_multiplier": 0.6, "logits_scaling": 2.5}
        | {"tie_word_embeddings": True, "attention_bias": True, "mlp_bias": True, "head_dim": 10},
    ),
    "jais2/own": ("Jais2", LLAMA | {"num_hidden_layers": 1, "layer_norm_eps": 1e-3}),
    "nanochat/own": (
        "NanoChat",
        LLAMA | {"final_logit_softcapping": 3.0, "attention_bias": True, "rms_norm_eps": 1e-3},
    ),
    "cwm/own": ("Cwm", LLAMA | {"head_dim": 10, "sliding_window": 5, "layer_types": WINDOWS, "eos_token_id": END}),
    "ministral3/own": (
        "Ministral3",
        LLAMA
        | {"head_dim": 10, "sliding_window": 7, "num_hidden_layers": 1}
        | {"rope_parameters": YARN | {"llama_4_scaling_beta": 0.1, "mscale": 1.25, "mscale_all_dim": 0.5}},
    ),
    "internlm3/own": (
        "InternLM3",
        LLAMA | {"head_dim": 10, "attention_bias": True, "mlp_bias": True, "num_hidden_layers": 1},
    ),
    "iquestcoder/own": ("IQuestCoder", LLAMA | {"head_dim": 6, "mlp_bias": True, "num_hidden_layers": 1}),
    "nemotron/own": ("Nemotron", LLAMA | {"norm_eps": 1e-3, "head_dim": 8}),
}
