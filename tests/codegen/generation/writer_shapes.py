# SPDX-License-Identifier: Apache-2.0
"""Shapes and settings that tiny generative models begin from, as `transformers` names them."""

from __future__ import annotations

from typing import Any

VOCABULARY, MAX_TARGET = 45, 17
BEGIN, END = 1, 2
ENDS = [END, 30, 9]
BART = {
    "vocab_size": VOCABULARY,
    "d_model": 20,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 37,
    "decoder_ffn_dim": 29,
    "max_position_embeddings": 24,
    "activation_function": "gelu",
    "pad_token_id": 0,
    "bos_token_id": BEGIN,
    "eos_token_id": END,
    "decoder_start_token_id": BEGIN,
    "forced_eos_token_id": END,
}
UNEVEN = BART | {
    "encoder_layers": 3,
    "decoder_layers": 1,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 1,
    "encoder_ffn_dim": 19,
    "decoder_ffn_dim": 33,
    "activation_function": "relu",
    "scale_embedding": True,
    "forced_eos_token_id": None,
    "decoder_start_token_id": 2,
}
LED = {key: value for key, value in BART.items() if key != "max_position_embeddings"} | {
    "decoder_layers": 1,
    "max_encoder_position_embeddings": 32,
    "max_decoder_position_embeddings": 24,
    "attention_window": [4, 8],
}
OPUS = BART | {
    "activation_function": "swish",
    "scale_embedding": True,
    "pad_token_id": VOCABULARY - 1,
    "decoder_start_token_id": VOCABULARY - 1,
    "bos_token_id": 0,
    "eos_token_id": 0,
    "forced_eos_token_id": 0,
}
GPT2 = {
    "vocab_size": VOCABULARY,
    "n_embd": 20,
    "n_layer": 2,
    "n_head": 2,
    "n_positions": 41,
    "bos_token_id": BEGIN,
    "eos_token_id": END,
}
LLAMA = {
    "vocab_size": VOCABULARY,
    "hidden_size": 24,
    "intermediate_size": 30,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 41,
    "bos_token_id": BEGIN,
    "eos_token_id": END,
}
LFM2 = LLAMA | {
    "num_hidden_layers": 3,
    "layer_types": ["conv", "full_attention", "conv"],
    "block_auto_adjust_ff_dim": False,
    "rope_parameters": {"rope_type": "default", "rope_theta": 700.0},
    "pad_token_id": 0,
}
NEOX = {
    "vocab_size": VOCABULARY,
    "hidden_size": 24,
    "intermediate_size": 30,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "max_position_embeddings": 41,
    "bos_token_id": BEGIN,
    "eos_token_id": END,
}
GPT_NEO = {
    "vocab_size": VOCABULARY,
    "hidden_size": 20,
    "num_layers": 2,
    "num_heads": 2,
    "attention_types": [[["global", "local"], 1]],
    "window_size": 6,
    "max_position_embeddings": 41,
    "bos_token_id": BEGIN,
    "eos_token_id": END,
}
BLOOM = {
    "vocab_size": VOCABULARY,
    "hidden_size": 18,
    "n_layer": 2,
    "n_head": 3,
    "bos_token_id": BEGIN,
    "eos_token_id": END,
}
XGLM = {
    "vocab_size": VOCABULARY,
    "d_model": 18,
    "ffn_dim": 31,
    "num_layers": 2,
    "attention_heads": 3,
    "max_position_embeddings": 41,
    "bos_token_id": 0,
    "pad_token_id": 1,
    "eos_token_id": END,
}
MPT = {
    "vocab_size": VOCABULARY,
    "d_model": 18,
    "n_layers": 1,
    "n_heads": 3,
    "max_seq_len": 41,
    "bos_token_id": BEGIN,
    "eos_token_id": END,
}
FALCON = {
    "vocab_size": VOCABULARY,
    "hidden_size": 24,
    "num_hidden_layers": 1,
    "num_attention_heads": 4,
    "max_position_embeddings": 41,
    "bos_token_id": BEGIN,
    "eos_token_id": END,
}
OPT = {
    "vocab_size": VOCABULARY,
    "hidden_size": 20,
    "ffn_dim": 30,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "max_position_embeddings": 41,
    "bos_token_id": BEGIN,
    "eos_token_id": END,
}
BIOGPT = {
    "vocab_size": VOCABULARY,
    "hidden_size": 20,
    "intermediate_size": 31,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "max_position_embeddings": 41,
    "bos_token_id": BEGIN,
    "pad_token_id": 1,
    "eos_token_id": END,
}
OPENAI_GPT = {
    "vocab_size": VOCABULARY,
    "n_embd": 20,
    "n_layer": 2,
    "n_head": 2,
    "n_positions": 41,
    "layer_norm_epsilon": 1e-3,
    "bos_token_id": BEGIN,
    "eos_token_id": END,
}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 500.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 40,
}
YARN = {
    **{"rope_type": "yarn", "rope_theta": 900.0, "factor": 4.0, "original_max_position_embeddings": 160},
    "beta_fast": 4,
}
USED = {"use_sliding_window": True, "sliding_window": 4}
QWEN3_5: dict[str, Any] = LLAMA | {
    "num_hidden_layers": 3,
    "layer_types": ["linear_attention", "full_attention", "linear_attention"],
    "head_dim": 8,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 5,
    "linear_value_head_dim": 3,
}
WINDOWS = ["sliding_attention", "full_attention"]
GEMMA4 = LLAMA | {
    **{"head_dim": 6, "global_head_dim": 10, "sliding_window": 6, "pad_token_id": 0, "hidden_size_per_layer_input": 7},
    "vocab_size_per_layer_input": VOCABULARY,
}
GEMMA4_ANGLES = {
    "full_attention": {"rope_type": "proportional", "partial_rotary_factor": 0.4, "rope_theta": 90.0, "factor": 2.5},
    "sliding_attention": {"rope_type": "default", "rope_theta": 70.0},
}
PHI3 = LLAMA | {"pad_token_id": 0}
LONGROPE = {
    **{"rope_type": "longrope", "rope_theta": 500.0, "partial_rotary_factor": 0.75},
    **{"short_factor": [1.0, 1.25, 3.0], "long_factor": [1.5, 4.0, 32.0]},
}
MBART = BART | {
    "encoder_layers": 1,
    "encoder_attention_heads": 4,
    "activation_function": "relu",
    "scale_embedding": True,
    "forced_eos_token_id": None,
    "decoder_start_token_id": END,
}
M2M = MBART | {"d_model": 21, "encoder_attention_heads": 3, "decoder_attention_heads": 1, "pad_token_id": 1}
PEGASUS = MBART | {"eos_token_id": 1, "decoder_start_token_id": 0, "forced_eos_token_id": 1}
T5GEMMA_HALF = {
    "vocab_size": VOCABULARY,
    "hidden_size": 20,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 6,
    "num_hidden_layers": 2,
    "intermediate_size": 31,
    "max_position_embeddings": 24,
    "query_pre_attn_scalar": 2,
    "sliding_window": 4,
    "attn_logit_softcapping": 1.5,
    "pad_token_id": 0,
    "bos_token_id": BEGIN,
    "eos_token_id": END,
}
T5 = {
    "vocab_size": VOCABULARY,
    "d_model": 20,
    "d_kv": 7,
    "d_ff": 37,
    "num_layers": 2,
    "num_heads": 3,
    "relative_attention_num_buckets": 8,
    "relative_attention_max_distance": 14,
    "pad_token_id": 0,
    "eos_token_id": END,
    "decoder_start_token_id": 0,
}
UMT5 = T5 | {"num_heads": 4, "num_layers": 3, "d_ff": 29, "num_decoder_layers": 2, "feed_forward_proj": "gated-gelu"}
MT5 = T5 | {"d_model": 24, "d_ff": 23, "num_heads": 4}
T5_1_1 = T5 | {
    "d_kv": 4,
    "num_heads": 5,
    "num_layers": 3,
    "num_decoder_layers": 1,
    "relative_attention_num_buckets": 11,
    "relative_attention_max_distance": 9,
    "feed_forward_proj": "gated-gelu",
    "tie_word_embeddings": False,
}
