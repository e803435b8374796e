# SPDX-License-Identifier: Apache-2.0
"""Settings that are drawn for families of Llama's shape: the name of the class, and its rare keys."""

from __future__ import annotations

from typing import Any

from angle_settings import ALPHAS, ANGLES_BY_KIND, KINDS, PROPORTIONAL, YARNS_OF_QUERIES
from decoder_settings import GRANITE_FACTORS, Rare
from half_settings import BIASES, LFM2, OF_HALVES
from mamba_settings import GRANITE, MAMBA
from mixture_settings import DELTA, MIXTURES, SINKS

_LATENT: Rare = {
    "kv_lora_rank": (1.0, (5, 8, 16)),
    "q_lora_rank": (1.0, (None, 7, 12)),
    "qk_rope_head_dim": (1.0, (2, 4, 6)),
    "qk_nope_head_dim": (1.0, (1, 4, 7)),
    "v_head_dim": (1.0, (2, 3, 4, 6)),
    "attention_bias": (0.3, (True,)),
}
_GLM: Rare = {
    "attention_bias": (0.4, (False,)),
    "head_dim": (1.0, (4, 8, 12)),
    "rope_parameters": (
        0.6,
        (
            {"rope_theta": 500.0, "partial_rotary_factor": 1.0},
            {"rope_type": "linear", "factor": 2.5, "partial_rotary_factor": 0.5},
            {"rope_theta": 90.0, "rope_type": "default"},
        ),
    ),
}
# Of families that are Llama's but for what is drawn here: the name of their classes, and these settings.
GEMMA2: Rare = {
    "head_dim": (1.0, (4, 6, 10)),
    "hidden_activation": (0.3, ("gelu", "relu", "gelu_pytorch_tanh", "silu")),
    "attention_bias": (0.3, (True,)),
    "query_pre_attn_scalar": (0.5, (1, 7, 16)),
    "attn_logit_softcapping": (0.7, (None, 0.5, 3.0, 50.0)),
    "final_logit_softcapping": (0.7, (None, 30.0, 100.0)),
    "sliding_window": (0.8, (4, 6, 41)),
    "layer_types": (0.3, KINDS),
}
_COHERE: Rare = {
    "attention_bias": (0.3, (True,)),
    "logit_scale": (0.7, (0.5, 1.5, 3.0)),
    "tie_word_embeddings": (0.5, (True, False)),
    "layer_norm_eps": (0.3, (1e-3, 0.1)),
    "head_dim": (0.2, (4, 6, 10)),
}
LIKE_LLAMA: dict[str, tuple[str, Rare]] = {
    **MIXTURES,
    **MAMBA,
    "granitemoehybrid": ("GraniteMoeHybrid", GRANITE),
    "granite_swa": ("GraniteSWA", GRANITE_FACTORS | BIASES | SINKS),
    "hyperclovax": (
        "HyperCLOVAX",
        GRANITE_FACTORS
        | BIASES
        | {
            "use_post_norm": (0.4, (True, False)),
            "head_dim": (0.5, (4, 6, 8)),
            "attention_multiplier": (0.6, (0.3, None)),
        },
    ),
    "jais2": (
        "Jais2",
        BIASES | {"layer_norm_eps": (0.3, (1e-3, 0.1)), "hidden_act": (0.3, ("relu", "silu", "relu2"))},
    ),
    "nanochat": (
        "NanoChat",
        {
            "attention_bias": (0.3, (True,)),
            "final_logit_softcapping": (0.7, (None, 3.0, 30.0)),
            "hidden_act": (0.3, ("relu", "silu", "relu2", "gelu")),
        },
    ),
    "cwm": (
        "Cwm",
        {
            "head_dim": (1.0, (4, 6, 10)),
            "mlp_bias": (0.3, (True,)),
            "sliding_window": (0.7, (4, 7, 41)),
            "layer_types": (0.3, KINDS),
            "eos_token_id": (1.0, (2,)),
        },
    ),
    "ministral3": (
        "Ministral3",
        {
            "head_dim": (1.0, (4, 6, 10)),
            "sliding_window": (0.6, (4, 41, 60, None)),
            "layer_types": (0.1, KINDS),
            "rope_parameters": (0.9, YARNS_OF_QUERIES),
        },
    ),
    "internlm3": (
        "InternLM3",
        {
            "head_dim": (1.0, (4, 6, 10)),
            "qkv_bias": (0.3, (True, False)),
            "bias": (0.3, (True, False)),
            "attention_bias": (0.3, (True, False)),
            "mlp_bias": (0.3, (True, False)),
        },
    ),
    "iquestcoder": (
        "IQuestCoder",
        BIASES | {"head_dim": (1.0, (4, 6, 10)), "clip_qkv": (0.1, (8.0, None)), "use_sliding_window": (0.1, (True,))},
    ),
    "cohere": ("Cohere", _COHERE | {"use_qk_norm": (0.5, (True, False))}),
    "cohere2": (
        "Cohere2",
        _COHERE
        | {
            "sliding_window": (0.8, (4, 7, 41, 60)),
            "layer_types": (0.4, KINDS),
            "use_qk_norm": (0.1, (True,)),
        },
    ),
    "gemma": (
        "Gemma",
        {
            "head_dim": (1.0, (4, 6, 10)),
            "hidden_act": (0.3, ("gelu", "relu", "gelu_pytorch_tanh", "silu")),
            "attention_bias": (0.3, (True,)),
            "use_bidirectional_attention": (0.1, (True, False)),
        },
    ),
    "gemma2": ("Gemma2", GEMMA2 | {"use_bidirectional_attention": (0.1, (True, False))}),
    "vaultgemma": ("VaultGemma", GEMMA2),
    "modernbert-decoder": (
        "ModernBertDecoder",
        {
            "head_dim": (0.0, ()),
            "hidden_activation": (0.3, ("gelu", "relu", "silu")),
            "local_attention": (0.8, (2, 4, 8, 9, 60)),
            "layer_types": (0.3, KINDS),
            "global_attn_every_n_layers": (0.5, (1, 2, 4)),
            "rope_parameters": (0.4, ANGLES_BY_KIND[:2]),
            "norm_eps": (0.3, (1e-3, 0.1)),
            "classifier_activation": (0.3, ("relu", "silu", "tanh")),
            "decoder_bias": (0.4, (False,)),
            **dict.fromkeys(("norm_bias", "attention_bias", "mlp_bias", "classifier_bias"), (0.3, (True,))),
        },
    ),
    "apertus": (
        "Apertus",
        {
            "hidden_act": (0.3, ("xielu", "relu", "gelu", "relu2")),
            "attention_bias": (0.3, (True,)),
            "head_dim": (0.5, (4, 6, 8)),
        },
    ),
    "bitnet": (
        "BitNet",
        {
            "hidden_act": (0.5, ("relu", "gelu", "relu2", "silu")),
            "attention_bias": (0.3, (True,)),
            "head_dim": (0.1, (4, 6, 8)),
        },
    ),
    "minicpm3": (
        "MiniCPM3",
        {
            **_LATENT,
            "mlp_bias": (0.3, (True,)),
            "scale_emb": (0.8, (1, 2.5, 4)),
            "scale_depth": (0.6, (0.5, 1.25)),
            "dim_model_base": (0.8, (7, 16, 32)),
        },
    ),
    "youtu": ("Youtu", {**_LATENT, "rope_interleave": (0.4, (True, False))}),
    "arcee": (
        "Arcee",
        {
            "hidden_act": (0.3, ("relu", "gelu", "relu2", "silu")),
            "attention_bias": (0.3, (True,)),
            "mlp_bias": (0.3, (True,)),
            "head_dim": (0.5, (4, 6, 8)),
        },
    ),
    "persimmon": (
        "Persimmon",
        {
            "hidden_act": (0.3, ("relu", "gelu", "relu2", "silu")),
            "layer_norm_eps": (0.3, (1e-3, 0.1)),
            "qk_layernorm": (0.4, (True, False)),
            "partial_rotary_factor": (0.3, (0.25, 0.75, 1.0)),
            "tie_word_embeddings": (0.3, (True,)),
            "head_dim": (0.05, (4, 8)),
        },
    ),
    "nemotron": (
        "Nemotron",
        {
            "hidden_act": (0.3, ("relu", "gelu", "relu2", "silu")),
            "norm_eps": (0.3, (1e-3, 0.1)),
            "attention_bias": (0.3, (True,)),
            "mlp_bias": (0.3, (True,)),
            "partial_rotary_factor": (0.3, (0.25, 0.75, 1.0)),
            "head_dim": (1.0, (4, 8)),
        },
    ),
    "olmo": ("Olmo", {"attention_bias": (0.3, (True,)), "clip_qkv": (0.1, (8.0,))}),
    "olmo3": (
        "Olmo3",
        {
            "attention_bias": (0.3, (True,)),
            "sliding_window": (0.6, (4, 41, 60)),
            "layer_types": (0.5, KINDS),
            "rope_parameters": (0.5, ANGLES_BY_KIND),
            "head_dim": (0.1, (4, 6)),
        },
    ),
    "ministral": (
        "Ministral",
        {"head_dim": (1.0, (4, 6, 10)), "sliding_window": (0.6, (4, 41, 60, None)), "layer_types": (0.5, KINDS)},
    ),
    "helium": ("Helium", {"attention_bias": (0.3, (True,)), "mlp_bias": (0.3, (True,)), "head_dim": (1.0, (4, 6, 8))}),
    "ernie4_5": ("Ernie4_5", {"use_bias": (0.4, (True,)), "head_dim": (1.0, (4, 6, 10))}),
    "hunyuan_v1_dense": (
        "HunYuanDenseV1",
        {
            "attention_bias": (0.3, (True,)),
            "head_dim": (1.0, (4, 6, 10)),
            "rope_parameters": (0.6, ALPHAS),
        },
    ),
    "glm": ("Glm", _GLM),
    "glm4": ("Glm4", _GLM),
    "seed_oss": (
        "SeedOss",
        {
            **dict.fromkeys(("attention_bias", "attention_out_bias", "mlp_bias"), (0.4, (True, False))),
            "head_dim": (1.0, (4, 6, 10)),
        },
    ),
    "lfm2": ("Lfm2", LFM2),
    "olmo_hybrid": (
        "OlmoHybrid",
        DELTA
        | {
            "head_dim": (0.0, ()),
            "linear_allow_neg_eigval": (0.4, (False, True)),
            "num_key_value_heads": (0.3, (None, 1)),
            **{f"linear_num_{of}_heads": (0.7, (1, 2, 2)) for of in ("key", "value")},
            **{f"linear_{of}_head_dim": (0.7, (2, 5, 8, None)) for of in ("key", "value")},
            "rope_parameters": (0.7, ({"rope_theta": None}, {"rope_theta": None}, {"rope_theta": 90.0})),
        },
    ),
    **dict.fromkeys(("qwen3_5", "qwen3_5_text"), ("Qwen3_5", DELTA)),
    **OF_HALVES,
    "lfm3": (
        "Lfm3",
        {
            "num_hidden_layers": (1.0, (4,)),
            "layer_types": (0.7, (["conv", *KINDS[2], "conv"], ["full_attention", "conv"] * 2, ["conv"] * 4)),
            "head_dim": (1.0, (4, 6, 10)),
            "sliding_window": (0.8, (4, 41)),
            "conv_L_cache": (0.4, (2, 4, 9)),
            **dict.fromkeys(("conv_bias", "attention_bias"), (0.3, (True,))),
            **dict.fromkeys(("use_sandwich_norm", "use_attention_gate"), (0.3, (False,))),
            "norm_eps": (0.3, (1e-3, 0.1)),
            "rope_parameters": (0.6, PROPORTIONAL),
        },
    ),
    "exaone4": ("Exaone4", {"sliding_window": (0.7, (4, 41, 60, None)), "layer_types": (0.6, KINDS)}),
}

# Whose classes are Llama's: their configurations.
OF_LLAMA = {"internlm3": "InternLM3Config", "iquestcoder": "IQuestCoderConfig"}


def phi3_angles(width: int) -> Rare:
    """By heads of `width` values, of which all or some are turned."""
    parts = [(part, int(width * part) // 2) for part in (1.0, 0.5, 0.75)]
    factors: list[dict[str, Any]] = [
        {"partial_rotary_factor": part, "short_factor": short[:pairs], "long_factor": [9.0] * pairs}
        for part, pairs in parts
        for short in ([1.0] * pairs, [1.0, 1.3, 2.75, 6.5, 11.0])
    ]
    more: tuple[dict[str, Any], ...] = ({}, {}, {"attention_factor": 1.4}, {"factor": 3.0}, {"rope_theta": 500.0})
    return {
        "rope_parameters": (0.7, tuple({"rope_type": "longrope", **one, **other} for one in factors for other in more)),
        "partial_rotary_factor": (0.3, (0.5, 0.75)),
        "original_max_position_embeddings": (0.7, (16, 41, 60)),
    }
