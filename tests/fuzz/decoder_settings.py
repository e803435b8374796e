# SPDX-License-Identifier: Apache-2.0
"""Settings that single families of decoders have, drawn for those that write and for those of rows: how often each is
said, and what it may be."""

from __future__ import annotations

from typing import Any

Rare = dict[str, tuple[float, tuple[Any, ...]]]

GRANITE_FACTORS: Rare = {
    "embedding_multiplier": (0.6, (12, 0.5)),
    "attention_multiplier": (0.8, (0.3, 0.0078125)),
    "residual_multiplier": (0.6, (0.22, 2)),
    "logits_scaling": (0.6, (8.0, 0.5, 0)),
}
USED_WINDOWS: Rare = {
    "use_sliding_window": (0.6, (True, True, False)),
    "sliding_window": (0.8, (4, 7, 41, None)),
    "layer_types": (0.15, (["sliding_attention"], ["sliding_attention", "full_attention"], ["full_attention"])),
}
QWEN_WINDOWS: Rare = USED_WINDOWS | {"max_window_layers": (0.7, (0, 1, 2))}
SMOLLM3_LAYERS: Rare = {
    "no_rope_layers": (0.5, ([1, 0, 1, 0], [0, 0, 0, 0], [1, 1, 0, 1, 0])),
    "no_rope_layer_interval": (0.5, (1, 2, 3)),
    **USED_WINDOWS,
}
STABLELM_RARE: Rare = {
    "use_parallel_residual": (0.5, (True, False)),
    "use_qkv_bias": (0.4, (True, False)),
    "qk_layernorm": (0.5, (True, False)),
    "layer_norm_eps": (0.3, (1e-3, 0.1)),
    "partial_rotary_factor": (0.9, (0.5, 0.75, 1.0)),
}
_NEO_ACTIVATIONS = ("gelu", "relu", "gelu_new", "silu", "tanh")
GPT_NEO_RARE: Rare = {
    "window_size": (0.9, (1, 2, 5, 9, 40)),
    "intermediate_size": (0.5, (None, 11, 30)),
    "activation_function": (0.3, _NEO_ACTIVATIONS),
    "layer_norm_epsilon": (0.3, (1e-3, 0.1)),
}
GPTJ_RARE: Rare = {
    "rotary_dim": (0.98, (2, 4, 4, 4, 4, 6, 3)),
    "n_inner": (0.5, (None, 11, 30)),
    "activation_function": (0.3, _NEO_ACTIVATIONS),
    "layer_norm_epsilon": (0.3, (1e-3, 0.1)),
}

CODEGEN_RARE: Rare = GPTJ_RARE | {"n_head": (1.0, (4, 4, 8, 2)), "n_embd": (1.0, (32, 48, 64))}
XGLM_RARE: Rare = {
    "ffn_dim": (1.0, tuple(range(9, 40, 3))),
    "scale_embedding": (0.3, (False,)),
    "activation_function": (0.3, ("gelu", "relu", "gelu_new", "silu", "tanh")),
    "pad_token_id": (0.2, (0, 3, 20, None)),
    "add_cross_attention": (0.05, (True,)),
    "tie_word_embeddings": (0.2, (False,)),
}
MPT_RARE: Rare = {
    "attn_config": (
        0.6,
        ({"alibi_bias_max": 4}, {"softmax_scale": 0.3}, {"alibi": False}, {"clip_qkv": 2.0}, {"attn_impl": "flash"}),
    ),
    "no_bias": (0.2, (False,)),
    "expansion_ratio": (0.1, (2,)),
    "logit_scale": (0.1, (0.5, "inv_sqrt_d_model")),
    "layer_norm_epsilon": (0.3, (1e-3, 0.1)),
}
BIGCODE_RARE: Rare = {
    "n_inner": (0.3, (None, 11, 30)),
    "multi_query": (0.5, (True, False)),
    "scale_attn_weights": (0.2, (False,)),
    "attention_softmax_in_fp32": (0.1, (False,)),
    "activation_function": (0.3, ("gelu", "relu", "gelu_new", "silu", "tanh")),
    "layer_norm_epsilon": (0.3, (1e-3, 0.1)),
}


def fit_kinds(settings: dict[str, Any]) -> None:
    """Repeats or cuts the kinds of layers, of which there is one for each layer."""
    kinds, layers = settings.get("layer_types"), settings.get("num_hidden_layers")
    if kinds and layers:
        settings["layer_types"] = [kinds[layer % len(kinds)] for layer in range(layers)]


def gpt_neo_layers(layers: int) -> tuple[Any, ...]:
    """Patterns of this many layers."""
    return (
        [[["local"], layers]],
        [[["local"], 1], [["global"], layers - 1]],
        [[["global"], layers - 1], [["local"], 1]],
        [[["global", "local"], (layers + 1) // 2]],  # of an odd number one too many
    )


BIOGPT_RARE: Rare = {
    "intermediate_size": (1.0, tuple(range(9, 40, 3))),
    "hidden_act": (0.3, ("gelu", "relu", "gelu_new", "silu", "tanh")),
    "scale_embedding": (0.3, (False,)),
    "layer_norm_eps": (0.2, (1e-3,)),
    "pad_token_id": (0.2, (0, 3, None)),
    "tie_word_embeddings": (0.2, (False,)),
}
OPENAI_GPT_RARE: Rare = {
    "afn": (0.5, ("gelu", "relu", "silu", "swish", "gelu_new")),
    "layer_norm_epsilon": (0.3, (1e-3, 0.1)),
}
BLOOM_RARE: Rare = {
    "apply_residual_connection_post_layernorm": (0.3, (True, False)),
    "layer_norm_epsilon": (0.3, (1e-3, 0.1)),
    "pretraining_tp": (0.1, (2,)),
}
FALCON_RARE: Rare = {
    "alibi": (0.1, (True, False)),
    "new_decoder_architecture": (0.4, (True, False)),
    "parallel_attn": (0.3, (True, False)),
    "multi_query": (0.4, (True, False)),
    "num_kv_heads": (0.4, (1, 2)),
    "num_ln_in_parallel_attn": (0.3, (1, 2)),
    "bias": (0.3, (True, False)),
    "ffn_hidden_size": (0.5, (None, 11, 30)),
    "activation": (0.3, ("gelu", "relu", "gelu_new", "silu", "tanh")),
    "layer_norm_epsilon": (0.3, (1e-3, 0.1)),
}
OPT_RARE: Rare = {
    "ffn_dim": (1.0, tuple(range(9, 40, 3))),
    "word_embed_proj_dim": (0.5, (5, 8, 14, 24)),
    "do_layer_norm_before": (0.4, (False,)),
    "_remove_final_layer_norm": (0.2, (True,)),
    "enable_bias": (0.2, (False,)),
    "layer_norm_elementwise_affine": (0.1, (False,)),
    "activation_function": (0.3, ("gelu", "relu", "gelu_new", "silu", "tanh")),
    "tie_word_embeddings": (0.2, (False,)),
}
PHI_RARE: Rare = {
    "qk_layernorm": (0.4, (True, False)),
    "num_key_value_heads": (0.4, (1, 2)),
    "partial_rotary_factor": (0.4, (0.5, 0.4, 0.75, 1.0)),
}
