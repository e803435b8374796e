# SPDX-License-Identifier: Apache-2.0
"""Settings that are drawn for decoders beside an encoder of images, and for those that are new with these: the name of
the class, and its rare keys."""

from __future__ import annotations

from angle_settings import ANGLES_BY_KIND, KINDS, YARNS_OF_QUERIES
from decoder_settings import Rare

BIASES: Rare = dict.fromkeys(("attention_bias", "mlp_bias"), (0.3, (True, False)))
_GEMMA4: Rare = {
    "num_hidden_layers": (1.0, (2, 3, 4, 5)),
    "head_dim": (1.0, (4, 6, 10)),
    "global_head_dim": (1.0, (4, 8, 10)),
    "hidden_activation": (0.3, ("gelu", "relu", "silu")),
    "layer_types": (0.8, (["sliding_attention", "full_attention"], ["full_attention"], KINDS[4])),
    "sliding_window": (1.0, (4, 7, 41)),
    "num_kv_shared_layers": (0.6, (0, 1, 2)),
    "use_double_wide_mlp": (0.4, (True,)),
    "hidden_size_per_layer_input": (1.0, (0, 5, 7)),
    "vocab_size_per_layer_input": (1.0, (45, 45, 45, 45, 45, 40)),
    "attention_k_eq_v": (0.4, (True,)),
    "num_global_key_value_heads": (0.4, (1,)),
    "attention_bias": (0.2, (True,)),
    "final_logit_softcapping": (0.4, (3.0, 30.0, None)),
    "use_bidirectional_attention": (0.15, ("vision", "vision", "all")),
    "enable_moe_block": (0.05, (True,)),
    "rope_parameters": (
        0.5,
        tuple(
            {**of, "sliding_attention": {"rope_type": "default", "rope_theta": 70.0}}
            for of in (
                {
                    "full_attention": {
                        "rope_type": "proportional",
                        "rope_theta": 90.0,
                        "partial_rotary_factor": part,
                        **more,
                    }
                }
                for part in (0, 0.25, 0.4, 1.0)
                for more in ({}, {"factor": 2.5})
            )
        ),
    ),
}
LFM2: Rare = {
    "full_attn_idxs": (0.9, ([0], [1], [2], [0, 2], [1, 2], [0, 9])),
    "conv_L_cache": (0.4, (2, 4, 9)),
    "conv_bias": (0.3, (True,)),
    "block_ff_dim": (0.5, (20, 37)),
    "block_multiple_of": (1.0, (1, 7, 16)),
    "block_ffn_dim_multiplier": (0.4, (0.7, 1.3, 2, None)),
    "block_auto_adjust_ff_dim": (0.3, (False,)),
    "tie_embedding": (0.3, (True, False)),
    "norm_eps": (0.3, (1e-3, 0.1)),
}
OF_HALVES: dict[str, tuple[str, Rare]] = {
    "gemma3": (
        "Gemma3",
        {
            "head_dim": (1.0, (4, 6, 10)),
            "hidden_activation": (0.3, ("gelu", "relu", "silu")),
            "layer_types": (0.5, KINDS),
            "sliding_window": (0.9, (4, 7, 41, 60)),
            "query_pre_attn_scalar": (0.7, (2, 6, 16)),
            "use_bidirectional_attention": (0.05, (True,)),
            "rope_parameters": (0.3, ANGLES_BY_KIND),
        },
    ),
    **dict.fromkeys(("gemma4", "gemma4_text"), ("Gemma4", _GEMMA4)),
    **{
        family: (name, BIASES | {"head_dim": (1.0, (4, 6, 10))})
        for family, name in {
            **{"idefics3": "Idefics3", "llava": "Llava", "llava_next": "LlavaNext", "smolvlm": "SmolVLM"},
        }.items()
    },
    "mistral3": (
        "Mistral3",
        {
            "head_dim": (1.0, (4, 6, 10)),
            "sliding_window": (0.8, (None, 41, 60)),
            "rope_parameters": (0.4, ({"rope_type": "default", "rope_theta": 5e5}, *YARNS_OF_QUERIES)),
        },
    ),
    "lfm2_vl": ("Lfm2Vl", LFM2),
}
