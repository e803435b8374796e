# SPDX-License-Identifier: Apache-2.0
"""Tiny generative models with layers of Mamba's state spaces."""

from __future__ import annotations

from typing import Any

from writer_shapes import BEGIN, END, LLAMA, VOCABULARY

# 2 * 24 values.
_MIXER = {"n_heads": 4, "d_head": 12, "n_groups": 2, "d_state": 6, "chunk_size": 4}
HYBRID = LLAMA | {f"mamba_{key}": value for key, value in _MIXER.items()}
MAMBA2 = {
    "vocab_size": VOCABULARY,
    "hidden_size": 20,
    "num_hidden_layers": 2,
    "num_heads": 4,
    "head_dim": 10,
    "n_groups": 2,
    "state_size": 6,
    "chunk_size": 4,
    "pad_token_id": 0,
    "bos_token_id": BEGIN,
    "eos_token_id": END,
}
_GRANITE = {
    **{"embedding_multiplier": 3.5, "attention_multiplier": 0.3, "residual_multiplier": 0.6, "logits_scaling": 2.5},
    **{"shared_intermediate_size": 26, "pad_token_id": 0},
}
_FALCON = {
    **{"embedding_multiplier": 3.5, "lm_head_multiplier": 0.4, "key_multiplier": 0.7, "attention_in_multiplier": 1.5},
    **{"attention_out_multiplier": 0.6, "ssm_in_multiplier": 1.25, "ssm_out_multiplier": 0.8, "pad_token_id": 0},
    **{"mlp_multipliers": [0.9, 0.7], "ssm_multipliers": [0.35, 0.5, 0.9, 1.2, 0.7]},
}
MAMBA: dict[str, tuple[str, dict[str, Any]]] = {
    "mamba2/own": ("Mamba2", MAMBA2),
    "mamba2/biased": (
        "Mamba2",
        MAMBA2
        | {"num_hidden_layers": 1, "use_bias": True, "use_conv_bias": False, "conv_kernel": 2, "n_groups": 1}
        | {"num_heads": 3, "expand": 3, "head_dim": 20, "state_size": 5, "tie_word_embeddings": True},
    ),
    "granitemoehybrid/mamba": (
        "GraniteMoeHybrid",
        HYBRID
        | _GRANITE
        | {"num_hidden_layers": 4, "layer_types": ["mamba", "attention", "mamba", "attention"], "num_local_experts": 0}
        | {"tie_word_embeddings": True, "position_embedding_type": "nope", "mamba_proj_bias": True},
    ),
    "granitemoehybrid/mixed": (
        "GraniteMoeHybrid",
        HYBRID
        | _GRANITE
        | {"layer_types": ["linear_attention", "full_attention"], "num_local_experts": 5, "num_experts_per_tok": 2}
        | {"position_embedding_type": "rope", "intermediate_size": 11, "mamba_n_groups": 1, "attention_bias": True},
    ),
    "bamba/own": (
        "Bamba",
        HYBRID
        | {"num_hidden_layers": 3, "attn_layer_indices": [1], "attention_bias": True, "mlp_bias": True}
        | {"num_attention_heads": 6, "pad_token_id": 0, "mamba_d_conv": 3},
    ),
    "falcon_h1/own": ("FalconH1", HYBRID | _FALCON | {"mamba_d_ssm": 36, "mamba_d_head": 9}),
    "falcon_h1/normed": (
        "FalconH1",
        HYBRID
        | _FALCON
        | {"mamba_d_ssm": None, "num_hidden_layers": 1, "mamba_rms_norm": True, "projectors_bias": True}
        | {"mamba_proj_bias": True, "attention_bias": True, "mlp_bias": True, "mamba_norm_before_gate": False},
    ),
    "falcon_h1/before": (
        "FalconH1",
        HYBRID
        | {"mamba_d_ssm": None, "num_hidden_layers": 1, "mamba_rms_norm": True, "mamba_conv_bias": False}
        | {"tie_word_embeddings": True, "pad_token_id": 0},
    ),
}
