# SPDX-License-Identifier: Apache-2.0
"""Tiny generative models that have a short convolution in place of some layers' attention."""

from __future__ import annotations

from typing import Any

from tokenizers_of_texts import SPECIAL
from writer_shapes import LFM2, LLAMA, WINDOWS

CONVOLUTIONS: dict[str, tuple[str, dict[str, Any]]] = {
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
