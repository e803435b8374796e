# SPDX-License-Identifier: Apache-2.0
"""Classifiers that read the rows of a decoder: of decoders alone, and of BART's and T5's kind."""

from __future__ import annotations

from published_settings import GEMMA, OPT
from variant_shapes import (
    FALCON_KEYS,
    GPT2_KEYS,
    GPT_NEO_KEYS,
    MULTI_LABEL,
    OPT_KEYS,
    QWEN3_5,
    REGRESSION,
    Variant,
    bart,
    bert_like,
    qwen3_5,
    t5,
    t5gemma,
)

DECODERS: dict[str, Variant] = {
    "qwen3/softmax": bert_like("Qwen3", 3, (24, 4, 2, 23, 20), num_key_value_heads=2, head_dim=10),
    "qwen3_5_text/softmax": bert_like("Qwen3_5Text", 3, (16, 2, 3, 23, 20), **QWEN3_5),
    "qwen3_5_text/long": bert_like(
        "Qwen3_5Text",
        1,
        (24, 3, 2, 23, 150),
        **QWEN3_5
        | {"layer_types": None, "full_attention_interval": 2, "linear_conv_kernel_dim": 2, "num_key_value_heads": 1}
        | {"attention_bias": True, "linear_num_value_heads": 2, "pad_token_id": 70, "problem_type": REGRESSION},
    ),
    "qwen3_next/softmax": bert_like(
        "Qwen3Next",
        3,
        (16, 2, 2, 13, 20),
        **QWEN3_5 | {"layer_types": ["linear_attention", "full_attention"], "linear_conv_kernel_dim": 3},
        **{"num_experts": 2, "num_experts_per_tok": 2, "moe_intermediate_size": 8, "mlp_only_layers": [0]},
        shared_expert_intermediate_size=9,
    ),
    "qwen3_5/labels": qwen3_5(
        "ForSequenceClassification", 4, (16, 2, 2, 19, 20), problem_type=MULTI_LABEL, tie_word_embeddings=True
    ),
    "qwen2/regression": bert_like(
        "Qwen2", 1, (20, 2, 1, 29, 16), num_key_value_heads=1, problem_type=REGRESSION, pad_token_id=70
    ),
    "gemma2/softmax": bert_like(
        "Gemma2",
        3,
        (24, 4, 2, 23, 20),
        **{"num_key_value_heads": 2, "head_dim": 6, "sliding_window": 6, "query_pre_attn_scalar": 3, "pad_token_id": 1},
        **{"attn_logit_softcapping": 2.0, "hidden_activation": "silu", "attention_bias": True},
    ),
    "gemma3_text/softmax": bert_like(
        "Gemma3Text",
        3,
        (24, 4, 3, 23, 20),
        **GEMMA,
        sliding_window=20,
        sliding_window_pattern=2,
        rope_parameters={
            "full_attention": {"rope_type": "linear", "rope_theta": 900.0, "factor": 2.5},
            "sliding_attention": {"rope_type": "default", "rope_theta": 70.0},
        },
        attention_bias=True,
    ),
    "llama/multi_label": bert_like(
        "Llama", 4, (24, 3, 1, 19, 14), attention_bias=True, mlp_bias=True, problem_type=MULTI_LABEL
    ),
    "ministral3/softmax": bert_like(
        "Ministral3",
        3,
        (24, 3, 1, 19, 14),
        **{"num_key_value_heads": 1, "head_dim": 10, "sliding_window": 5, "pad_token_id": 70},
    ),
    "minicpm3/softmax": bert_like(
        "MiniCPM3",
        3,
        (24, 4, 2, 23, 20),
        **{"num_key_value_heads": 4, "kv_lora_rank": 9, "q_lora_rank": 7, "qk_rope_head_dim": 4, "v_head_dim": 6},
        **{"qk_nope_head_dim": 3, "scale_emb": 2.5, "dim_model_base": 8, "attention_bias": True, "pad_token_id": 70},
    ),
    "bart/regression": bart(
        1,
        (24, 4, 2, 13, 14),
        **{"decoder_attention_heads": 3, "decoder_layers": 1, "decoder_ffn_dim": 11, "decoder_start_token_id": 70},
        scale_embedding=True,
        activation_function="relu",
        problem_type=REGRESSION,
    ),
    "mvp/softmax": bart(3, (20, 4, 1, 13, 14), "Mvp", scale_embedding=True, decoder_start_token_id=3),
    "plbart/softmax": bart(3, (20, 4, 1, 13, 14), "PLBart", decoder_start_token_id=3),
    "bigbird_pegasus/softmax": bart(
        3,
        (20, 4, 1, 13, 14),
        "BigBirdPegasus",
        **{"attention_type": "original_full", "decoder_start_token_id": 3, "eos_token_id": 2, "pad_token_id": 1},
    ),
    "t5/regression": t5(
        "T5", 1, (20, 3, 1, 23, 20), num_decoder_layers=2, decoder_start_token_id=70, problem_type=REGRESSION
    ),
    "t5gemma/softmax": t5gemma(
        "ForSequenceClassification",
        3,
        (16, 4, 2, 4, 3, 17, 20),
        (12, 2, 1, 6, 2, 13, 20),
        {"sliding_window": 4, "query_pre_attn_scalar": 3, "attn_logit_softcapping": 2.0},
    ),
    "t5gemma/encoder": t5gemma(
        "ForSequenceClassification",
        1,
        (24, 3, 1, 4, 2, 17, 18),
        (16, 2, 1, 8, 2, 19, 20),
        {"sliding_window": 3, "attention_bias": True, "hidden_activation": "silu", "attn_logit_softcapping": None},
        is_encoder_decoder=False,
        problem_type=REGRESSION,
    ),
    "umt5/softmax": t5("UMT5", 3, (18, 2, 2, 19, 16), feed_forward_proj="gated-silu"),
    "gpt2/softmax": bert_like("GPT2", 3, (20, 2, 2, 23, 20), GPT2_KEYS, pad_token_id=70),
    "openai-gpt/multi_label": bert_like(
        "OpenAIGPT", 4, (20, 2, 1, 80, 20), GPT2_KEYS, pad_token_id=70, problem_type=MULTI_LABEL
    ),
    "gpt_neo/softmax": bert_like(
        "GPTNeo",
        3,
        (20, 2, 3, 23, 20),
        GPT_NEO_KEYS,
        attention_types=[[["global", "local"], 1], [["local"], 1]],
        window_size=6,
        pad_token_id=70,
    ),
    "gptj/multi_label": bert_like(
        "GPTJ", 4, (20, 2, 2, 23, 20), GPT2_KEYS, rotary_dim=6, pad_token_id=70, problem_type=MULTI_LABEL
    ),
    "gpt_bigcode/softmax": bert_like(
        "GPTBigCode", 3, (20, 2, 2, 23, 20), GPT2_KEYS, multi_query=False, scale_attn_weights=False, pad_token_id=70
    ),
    "mpt/softmax": Variant(
        "MptForSequenceClassification",
        3,
        {"d_model": 24, "n_layers": 2, "n_heads": 6, "max_seq_len": 20, "pad_token_id": 70}
        | {"attn_config": {"softmax_scale": 0.3}, "layer_norm_epsilon": 1e-3},
    ),
    "nemotron/regression": bert_like(
        "Nemotron",
        1,
        (24, 3, 1, 23, 20),
        **{"num_key_value_heads": 1, "attention_bias": True, "mlp_bias": True, "pad_token_id": 70, "head_dim": 12},
        rope_parameters={"rope_type": "default", "rope_theta": 500.0, "partial_rotary_factor": 0.34},
        problem_type=REGRESSION,
    ),
    "biogpt/softmax": bert_like("BioGpt", 3, (20, 2, 2, 23, 20), pad_token_id=70),
    "bloom/softmax": Variant(
        "BloomForSequenceClassification",
        3,
        {"n_embed": 24, "n_layer": 2, "n_head": 6, "pad_token_id": 70, "layer_norm_epsilon": 1e-3}
        | {"apply_residual_connection_post_layernorm": True, "seq_length": 20},
    ),
    "falcon/regression": bert_like(
        "Falcon",
        1,
        (24, 3, 2, 23, 20),
        FALCON_KEYS,
        **{"parallel_attn": False, "multi_query": False, "activation": "relu", "pad_token_id": 70},
        problem_type=REGRESSION,
    ),
    "gpt_neox/regression": bert_like("GPTNeoX", 2, (24, 3, 1, 23, 20), problem_type=REGRESSION, pad_token_id=70),
    "phi/softmax": bert_like("Phi", 3, (24, 3, 1, 23, 20), pad_token_id=70),
    "phi3/multi_label": bert_like(
        "Phi3", 4, (24, 4, 1, 23, 20), num_key_value_heads=2, pad_token_id=70, problem_type=MULTI_LABEL
    ),
    "opt/regression": bert_like(
        "OPT", 1, (20, 2, 2, 23, 20), OPT_KEYS, **OPT, pad_token_id=70, problem_type=REGRESSION
    ),
    "stablelm/softmax": bert_like("StableLm", 3, (24, 3, 1, 23, 20), num_key_value_heads=3, pad_token_id=70),
    "starcoder2/regression": bert_like("Starcoder2", 1, (24, 4, 1, 23, 20), use_bias=False, problem_type=REGRESSION),
    "mistral/softmax": bert_like("Mistral", 2, (24, 4, 2, 23, 20), num_key_value_heads=2, sliding_window=None),
}
