# SPDX-License-Identifier: Apache-2.0
"""Settings that are drawn for families with experts, and of those with layers of linear attention."""

from __future__ import annotations

from angle_settings import ALPHAS, KINDS
from decoder_settings import GRANITE_FACTORS, QWEN_WINDOWS, Rare

SINKS: Rare = {
    "sliding_window": (0.9, (4, 7, 41)),
    "layer_types": (0.4, KINDS),
    "layer_rope_theta": (0.5, ([90.0, 0, 700.0], [0, 0, 0], [700, 700, 70.5, 1.0], [90])),
}
_YARNS = tuple(
    {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 160, "truncate": truncate, **more}
    for truncate in (False, False, True)
    for more in ({}, {"beta_fast": 4, "rope_theta": 90.0}, {"beta_slow": 2.0})
)
_EXPERTS: Rare = {
    "num_experts": (1.0, (3, 5)),
    "num_experts_per_tok": (1.0, (1, 2, 3)),
    "norm_topk_prob": (0.5, (True, False)),
}
_DENSE_LAYERS: Rare = {
    "moe_intermediate_size": (1.0, (7, 13)),
    "mlp_only_layers": (0.4, ([0], [1], [])),
    "decoder_sparse_step": (0.3, (1, 2)),
}
DELTA: Rare = {
    "num_hidden_layers": (1.0, (4,)),
    "layer_types": (0.7, (["linear_attention", "full_attention"] * 2, ["linear_attention"] * 3 + KINDS[1])),
    "full_attention_interval": (0.3, (1, 2, 3)),
    "head_dim": (1.0, (8, 16)),
    "attention_bias": (0.3, (True,)),
    "hidden_act": (0.05, ("relu", "gelu")),
    "linear_num_key_heads": (1.0, (1, 2, 2)),
    "linear_num_value_heads": (1.0, (2, 4, 4, 6)),
    "linear_key_head_dim": (1.0, (1, 4, 7)),
    "linear_value_head_dim": (1.0, (2, 5, 8)),
    "linear_conv_kernel_dim": (0.7, (2, 3, 9)),
    "rope_parameters": (
        0.5,
        (
            {"rope_type": "default", "rope_theta": 90.0, "partial_rotary_factor": 1.0},
            {"rope_type": "linear", "factor": 2.5, "partial_rotary_factor": 0.5},
            {"rope_theta": 700.0, "mrope_section": [1, 1, 0], "mrope_interleaved": True},
        ),
    ),
}
_SIGMOIDS: Rare = {
    "num_experts_per_tok": (1.0, (1, 2, 3)),
    "moe_intermediate_size": (1.0, (7, 13)),
    "norm_topk_prob": (0.4, (True, False)),
    "routed_scaling_factor": (0.5, (2.5, 0.3, 1)),
}
_ROUTED: Rare = _SIGMOIDS | {
    "n_routed_experts": (1.0, (4, 6)),
    "n_shared_experts": (1.0, (1, 2)),
    "n_group": (0.2, (1, 2)),
    "topk_group": (0.2, (1, 2)),
}
_THREE: Rare = {"num_hidden_layers": (1.0, (3,))}
_DENSE_FIRST: Rare = _THREE | {"first_k_dense_replace": (0.9, (0, 1, 2))}
_LATENT: Rare = {
    "q_lora_rank": (1.0, (None, 9)),
    "kv_lora_rank": (1.0, (7, 11)),
    "qk_rope_head_dim": (1.0, (4, 6)),
    "qk_nope_head_dim": (1.0, (4, 6)),
    "v_head_dim": (1.0, (6, 7)),
    "rope_interleave": (0.3, (False,)),
    "attention_bias": (0.3, (True,)),
    "rope_parameters": (
        0.5,
        (
            {"rope_theta": 90.0},
            _YARNS[2] | {"mscale": 0.7, "mscale_all_dim": 1.3},
            _YARNS[2] | {"mscale_all_dim": 1.0},
            _YARNS[2] | {"factor": 0.5, "mscale_all_dim": 1.0},
        ),
    ),
}
_SPARSE = (["sparse"] * 3, ["dense", "sparse", "dense"], ["sparse", "dense", "sparse"], ["dense", "sparse", "sparse"])
_WINDOWS_OF_THREE = (["sliding_attention"] * 2 + ["full_attention"], ["full_attention", *["sliding_attention"] * 2])
_PARTS = ({"rope_theta": 90.0, "partial_rotary_factor": 0.5}, {"rope_type": "linear", "factor": 2.5})
MIXTURES: dict[str, tuple[str, Rare]] = {
    "granitemoe": (
        "GraniteMoe",
        GRANITE_FACTORS
        | {"num_local_experts": (1.0, (3, 5)), "num_experts_per_tok": (1.0, (1, 3)), "attention_bias": (0.3, (True,))},
    ),
    "mixtral": (
        "Mixtral",
        {
            "num_local_experts": (1.0, (3, 5)),
            "num_experts_per_tok": (1.0, (1, 3)),
            "sliding_window": (0.6, (None, 41, 12)),
        },
    ),
    "olmoe": ("Olmoe", _EXPERTS | {"head_dim": (0.0, ()), "attention_bias": (0.3, (True,))}),
    "qwen2_moe": (
        "Qwen2Moe",
        _EXPERTS
        | _DENSE_LAYERS
        | QWEN_WINDOWS
        | {"shared_expert_intermediate_size": (1.0, (9, 14)), "qkv_bias": (0.4, (True, False))},
    ),
    "qwen3_next": (
        "Qwen3Next",
        _EXPERTS | _DENSE_LAYERS | DELTA | {"shared_expert_intermediate_size": (1.0, (9, 14))},
    ),
    "qwen3_moe": ("Qwen3Moe", _EXPERTS | _DENSE_LAYERS | {"attention_bias": (0.3, (True,))}),
    "granitemoe_swa": (
        "GraniteMoeSWA",
        GRANITE_FACTORS
        | SINKS
        | {"num_local_experts": (1.0, (3, 5)), "num_experts_per_tok": (1.0, (1, 3)), "attention_bias": (0.3, (True,))}
        | {"shared_intermediate_size": (0.8, (0, 9, 14))},
    ),
    "gpt_oss": (
        "GptOss",
        {
            "num_local_experts": (1.0, (3, 5)),
            "num_experts_per_tok": (1.0, (1, 3)),
            "attention_bias": (0.3, (True, False)),
            "head_dim": (1.0, (4, 6, 10)),
            "sliding_window": (0.9, (4, 7, 41)),
            "layer_types": (0.4, KINDS),
            "swiglu_alpha": (0.4, (0.5, 2.5)),
            "swiglu_limit": (0.7, (0.5, 2.0, 7.0, 0.0)),
            "rope_parameters": (0.7, _YARNS),
        },
    ),
    "flex_olmo": ("FlexOlmo", _EXPERTS | {"head_dim": (0.0, ()), "attention_bias": (0.3, (True,))}),
    "granitemoeshared": (
        "GraniteMoeShared",
        GRANITE_FACTORS
        | {"num_local_experts": (1.0, (3, 5)), "num_experts_per_tok": (1.0, (1, 3)), "attention_bias": (0.3, (True,))}
        | {"shared_intermediate_size": (0.8, (0, 9, 14))},
    ),
    "hunyuan_v1_moe": (
        "HunYuanMoEV1",
        {
            "num_experts": (1.0, (3, 5)),
            "moe_topk": (1.0, (1, 2, [2], [3, 3], [2, 2, 2, 2], [1, 2])),
            "attention_bias": (0.3, (True,)),
            "head_dim": (1.0, (4, 6, 10)),
            "rope_parameters": (0.6, ALPHAS),
        },
    ),
    "deepseek_v3": (
        "DeepseekV3",
        _ROUTED | _DENSE_FIRST | _LATENT | {"n_group": (0.95, (1, 1, 2)), "topk_group": (0.95, (1, 1, 2))},
    ),
    "glm4_moe_lite": ("Glm4MoeLite", _ROUTED | _THREE | _LATENT | {"mlp_layer_types": (0.5, _SPARSE)}),
    "dots1": (
        "Dots1",
        _ROUTED
        | _DENSE_FIRST
        | {"attention_bias": (0.3, (True,)), "head_dim": (1.0, (4, 6, 10)), "layer_types": (0.2, _WINDOWS_OF_THREE)}
        | {"sliding_window": (0.8, (4, 7, 41, None)), "max_window_layers": (0.7, (0, 1, 2))},
    ),
    "ernie4_5_moe": (
        "Ernie4_5_Moe",
        {
            **_THREE,
            "moe_num_experts": (1.0, (3, 5)),
            "moe_k": (1.0, (1, 2, 3)),
            "moe_intermediate_size": (1.0, (7, 13)),
            "moe_num_shared_experts": (0.9, (0, 1, 2)),
            "moe_layer_start_index": (0.7, (0, 1, 2)),
            "moe_layer_end_index": (0.3, (-1, 0, 1)),
            "moe_layer_interval": (0.3, (1, 2)),
            "moe_norm_min": (0.5, (1e-12, 0.1, 0.6, 1.0)),
            "use_bias": (0.4, (True, False)),
            "head_dim": (0.8, (4, 6, 10)),
        },
    ),
    "exaone_moe": (
        "ExaoneMoe",
        _SIGMOIDS
        | _DENSE_FIRST
        | {"num_experts": (1.0, (4, 6)), "num_shared_experts": (0.8, (1, 2)), "mlp_layer_types": (0.2, _SPARSE)}
        | {"head_dim": (0.8, (4, 6, 10)), "sliding_window": (0.9, (4, 7, 41))}
        | {"sliding_window_pattern": (0.6, (1, 2, 3)), "layer_types": (0.3, _WINDOWS_OF_THREE)},
    ),
    "glm4_moe": (
        "Glm4Moe",
        _ROUTED
        | _DENSE_FIRST
        | {"attention_bias": (0.4, (True,)), "use_qk_norm": (0.5, (True, False)), "head_dim": (1.0, (4, 8, 12))}
        | {"rope_parameters": (0.5, _PARTS)},
    ),
    "hy_v3": (
        "HYV3",
        {
            **{key: _SIGMOIDS[key] for key in ("num_experts_per_tok", "moe_intermediate_size")},
            "num_experts": (1.0, (3, 5)),
            "num_shared_experts": (0.8, (1, 2)),
            "router_scaling_factor": (0.5, (1.0, 0.3)),
            **_THREE,
            "mlp_layer_types": (0.4, _SPARSE),
            "attention_bias": (0.3, (True,)),
            "mlp_bias": (0.4, (True,)),
            "head_dim": (1.0, (4, 6, 10)),
        },
    ),
    "lfm2_moe": (
        "Lfm2Moe",
        _SIGMOIDS
        | {"num_experts": (1.0, (3, 5)), "num_dense_layers": (0.7, (0, 1, 2)), "use_expert_bias": (0.4, (True, False))}
        | {"num_hidden_layers": (1.0, (3,)), "conv_bias": (0.4, (True,)), "conv_L_cache": (0.6, (2, 4, 9))}
        | {"layer_types": (1.0, (["conv", "full_attention", "conv"], ["full_attention", "conv", "conv"]))},
    ),
    "solar_open": (
        "SolarOpen",
        _ROUTED
        | {"attention_bias": (0.4, (True,)), "head_dim": (1.0, (4, 8, 12)), "rope_parameters": (0.5, _PARTS[1:])},
    ),
    **dict.fromkeys(
        ("qwen3_5_moe", "qwen3_5_moe_text"),
        (
            "Qwen3_5Moe",
            _EXPERTS
            | DELTA
            | {"shared_expert_intermediate_size": (1.0, (9, 14)), "moe_intermediate_size": (1.0, (7, 13))},
        ),
    ),
}
