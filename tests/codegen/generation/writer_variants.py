# SPDX-License-Identifier: Apache-2.0
"""Tiny generative models: their classes, shapes and settings, as `transformers` names them."""

from __future__ import annotations

from typing import Any

from convolution_variants import CONVOLUTIONS
from delta_variants import DELTA
from like_llama_variants import LIKE_LLAMA
from mamba_variants import MAMBA
from moses_variants import MOSES
from paired_variants import PAIRED
from tokenizers_of_texts import SPECIAL
from whole_variants import WHOLES
from writer_mixtures import MIXTURES
from writer_shapes import (
    BART,
    BEGIN,
    BIOGPT,
    BLOOM,
    END,
    ENDS,
    FALCON,
    GEMMA4,
    GEMMA4_ANGLES,
    GPT2,
    GPT_NEO,
    LED,
    LLAMA,
    LLAMA3,
    LONGROPE,
    M2M,
    MBART,
    MPT,
    MT5,
    NEOX,
    OPENAI_GPT,
    OPT,
    OPUS,
    PEGASUS,
    PHI3,
    T5,
    T5_1_1,
    T5GEMMA_HALF,
    UMT5,
    UNEVEN,
    USED,
    VOCABULARY,
    WINDOWS,
    XGLM,
    YARN,
)

# Class and configuration of each variant.
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "bart/two_layers": ("Bart", BART),
    "bart/uneven": ("Bart", UNEVEN),
    "led/texts": ("LED", LED | SPECIAL["led/texts"]),
    "bart/ends": (
        "Bart",
        BART | {"encoder_layers": 1, "decoder_layers": 1, "eos_token_id": ENDS, "forced_eos_token_id": ENDS[1]},
    ),
    "marian/opus": ("Marian", OPUS),
    "marian/settings": ("Marian", OPUS),
    "gpt2/two_layers": ("GPT2", GPT2),
    "gpt2/narrow": ("GPT2", GPT2 | {"n_inner": 31, "n_layer": 1, "n_head": 4, "activation_function": "relu"}),
    "llama/tied": ("Llama", LLAMA | {"tie_word_embeddings": True, "rms_norm_eps": 1e-5}),
    "bart/texts": ("Bart", BART | {"encoder_layers": 1, "decoder_layers": 1} | SPECIAL["bart/texts"]),
    "gpt2/texts": ("GPT2", GPT2 | {"n_layer": 1} | SPECIAL["gpt2/texts"]),
    "llama/texts": ("Llama", LLAMA | {"num_hidden_layers": 1, "tie_word_embeddings": True} | SPECIAL["llama/texts"]),
    "mvp/own": ("Mvp", UNEVEN | {"encoder_layers": 1, "scale_embedding": False}),
    "blenderbot/own": (
        "Blenderbot",
        UNEVEN
        | {"encoder_layers": 2, "decoder_layers": 2, "max_position_embeddings": 26, "decoder_start_token_id": BEGIN}
        | {"encoder_no_repeat_ngram_size": 0, "scale_embedding": False},
    ),
    "blenderbot/texts": (
        "Blenderbot",
        BART
        | {"encoder_layers": 1, "decoder_layers": 1, "encoder_no_repeat_ngram_size": 0}
        | SPECIAL["blenderbot/texts"],
    ),
    "blenderbot-small/own": ("BlenderbotSmall", UNEVEN | {"decoder_layers": 2, "max_position_embeddings": 26}),
    "blenderbot-small/texts": (
        "BlenderbotSmall",
        BART | {"encoder_layers": 1, "decoder_layers": 1} | SPECIAL["blenderbot-small/texts"],
    ),
    "plbart/own": ("PLBart", UNEVEN | {"encoder_layers": 1, "forced_eos_token_id": END}),
    "plbart/texts": (
        "PLBart",
        BART | {"encoder_layers": 1, "decoder_layers": 1, "scale_embedding": False} | SPECIAL["plbart/texts"],
    ),
    "mbart/own": ("MBart", MBART),
    "mbart/texts": ("MBart", MBART | {"decoder_layers": 1, "scale_embedding": False} | SPECIAL["mbart/texts"]),
    "m2m_100/own": ("M2M100", M2M | {"encoder_layers": 2, "decoder_layers": 3}),
    "m2m_100/texts": (
        "M2M100",
        M2M | {"d_model": 20, "encoder_attention_heads": 4, "scale_embedding": False} | SPECIAL["m2m_100/texts"],
    ),
    "m2m_100/languages": (
        "M2M100",
        M2M | {"decoder_layers": 1, "scale_embedding": False} | SPECIAL["m2m_100/languages"],
    ),
    "pegasus/own": ("Pegasus", PEGASUS | {"encoder_layers": 2, "activation_function": "gelu"}),
    "pegasus/texts": ("Pegasus", PEGASUS | {"decoder_layers": 1, "scale_embedding": False} | SPECIAL["pegasus/texts"]),
    "bigbird_pegasus/own": (
        "BigBirdPegasus",
        PEGASUS
        | {"decoder_layers": 1, "encoder_layers": 2, "activation_function": "gelu_new"}
        | {"attention_type": "block_sparse", "block_size": 4, "num_random_blocks": 1},
    ),
    "bigbird_pegasus/biased": (
        "BigBirdPegasus",
        PEGASUS | {"encoder_layers": 1, "use_bias": True, "scale_embedding": False, "attention_type": "original_full"},
    ),
    "t5/tied": ("T5", T5),
    "t5/untied": ("T5", T5_1_1),
    "t5/texts": ("T5", T5_1_1 | {"num_layers": 1, "feed_forward_proj": "gated-silu"} | SPECIAL["t5/texts"]),
    "t5/bytes": ("T5", T5_1_1 | {"num_layers": 1} | SPECIAL["t5/bytes"]),
    "t5gemma/own": (
        "T5Gemma",
        {
            "encoder": T5GEMMA_HALF | {"num_hidden_layers": 3},
            "vocab_size": VOCABULARY,
            "decoder": T5GEMMA_HALF
            | {"hidden_size": 16, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8}
            | {"sliding_window": 5, "final_logit_softcapping": 3.0, "intermediate_size": 19},
        },
    ),
    "t5gemma/untied": (
        "T5Gemma",
        {
            "encoder": T5GEMMA_HALF | {"num_hidden_layers": 1, "vocab_size": VOCABULARY + 6, "attention_bias": True},
            "decoder": T5GEMMA_HALF
            | {"layer_types": ["full_attention", "sliding_attention"], "attn_logit_softcapping": None}
            | {"final_logit_softcapping": None, "hidden_activation": "silu", "attention_bias": True},
            "tie_word_embeddings": False,
            "vocab_size": VOCABULARY,
        },
    ),
    "t5gemma/texts": (
        "T5Gemma",
        {
            **{of: T5GEMMA_HALF | SPECIAL["t5gemma/texts"] for of in ("encoder", "decoder")},
            **SPECIAL["t5gemma/texts"],
        },
    ),
    "umt5/own": ("UMT5", UMT5 | {"tie_word_embeddings": False}),
    "mt5/texts": ("MT5", MT5 | {"num_layers": 1, "tie_word_embeddings": False} | SPECIAL["mt5/texts"]),
    "llama/scaled": (
        "Llama",
        LLAMA | {"head_dim": 12, "rope_parameters": LLAMA3, "attention_bias": True, "mlp_bias": True},
    ),
    "qwen2/texts": (
        "Qwen2",
        LLAMA
        | {"rope_parameters": {"rope_type": "linear", "rope_theta": 900.0, "factor": 2.5}}
        | {"num_hidden_layers": 1, "tie_word_embeddings": True, "intermediate_size": 34}
        | USED
        | {"layer_types": WINDOWS[:1]}
        | SPECIAL["qwen2/texts"],
    ),
    "qwen3/texts": (
        "Qwen3",
        LLAMA | {"head_dim": 10, "attention_bias": True, "max_window_layers": 1} | USED | SPECIAL["qwen3/texts"],
    ),
    "gemma3_text/own": (
        "Gemma3",
        LLAMA
        | {"head_dim": 10, "num_hidden_layers": 3, "query_pre_attn_scalar": 12, "sliding_window": 9}
        | {"layer_types": ["sliding_attention", "full_attention", "sliding_attention"], "pad_token_id": 0},
    ),
    "gemma4_text/own": (
        "Gemma4",
        GEMMA4
        | {"num_hidden_layers": 5, "layer_types": [*WINDOWS, *WINDOWS[:1], *WINDOWS], "num_kv_shared_layers": 2}
        | {"use_double_wide_mlp": True, "final_logit_softcapping": 3.0},
    ),
    "gemma4_text/plain": (
        "Gemma4",
        GEMMA4
        | {"num_hidden_layers": 4, "layer_types": WINDOWS * 2, "hidden_size_per_layer_input": 0}
        | {"attention_k_eq_v": True, "num_global_key_value_heads": 1, "attention_bias": True}
        | {"rope_parameters": GEMMA4_ANGLES, "tie_word_embeddings": False},
    ),
    "gemma2/own": (
        "Gemma2",
        LLAMA
        | {"head_dim": 10, "query_pre_attn_scalar": 2, "sliding_window": 5, "pad_token_id": 0}
        | {"attn_logit_softcapping": 1.5, "final_logit_softcapping": 3.0},
    ),
    "vaultgemma/own": (
        "VaultGemma",
        LLAMA
        | {"head_dim": 10, "query_pre_attn_scalar": 2, "sliding_window": 5, "pad_token_id": 0}
        | {"attn_logit_softcapping": 1.5, "final_logit_softcapping": 3.0, "num_hidden_layers": 2},
    ),
    "gemma/own": (
        "Gemma",
        LLAMA | {"head_dim": 10, "attention_bias": True, "num_hidden_layers": 1},
    ),
    "mistral/ends": (
        "Mistral",
        LLAMA | {"head_dim": 10, "num_hidden_layers": 1, "sliding_window": 4, "eos_token_id": ENDS},
    ),
    "smollm3/own": ("SmolLM3", LLAMA | USED | {"num_hidden_layers": 3, "no_rope_layers": [1, 0, 1], "pad_token_id": 0}),
    "olmo2/own": ("Olmo2", LLAMA | {"attention_bias": True, "pad_token_id": 0}),
    "olmo/own": ("Olmo", LLAMA | {"attention_bias": True, "num_hidden_layers": 1, "pad_token_id": 0}),
    "olmo3/own": (
        "Olmo3",
        LLAMA
        | {"attention_bias": True, "sliding_window": 6, "layer_types": WINDOWS, "pad_token_id": 0}
        | {"rope_parameters": {"full_attention": YARN, "sliding_attention": {"rope_theta": 70.0}}},
    ),
    "ministral/own": ("Ministral", LLAMA | {"head_dim": 10, "sliding_window": 5, "layer_types": WINDOWS}),
    "helium/own": (
        "Helium",
        LLAMA | {"head_dim": 6, "attention_bias": True, "mlp_bias": True, "num_hidden_layers": 1, "pad_token_id": 0},
    ),
    "ernie4_5/own": ("Ernie4_5", LLAMA | {"head_dim": 10, "use_bias": True, "num_hidden_layers": 1}),
    "hunyuan_v1_dense/own": (
        "HunYuanDenseV1",
        LLAMA
        | {"head_dim": 10, "attention_bias": True, "num_hidden_layers": 1}
        | {"rope_parameters": {"rope_type": "dynamic", "rope_theta": 900.0, "alpha": 7.5, "factor": 1.0}},
    ),
    "glm/own": ("Glm", LLAMA | {"head_dim": 8, "num_hidden_layers": 1, "pad_token_id": 0}),
    "glm4/own": (
        "Glm4",
        LLAMA
        | {"head_dim": 8, "attention_bias": False, "num_hidden_layers": 1, "pad_token_id": 0}
        | {"rope_parameters": {"rope_type": "linear", "factor": 2.5, "partial_rotary_factor": 0.75}},
    ),
    "seed_oss/own": (
        "SeedOss",
        LLAMA
        | {"head_dim": 10, "attention_out_bias": True, "mlp_bias": True, "num_hidden_layers": 1, "pad_token_id": 0},
    ),
    "exaone4/own": ("Exaone4", LLAMA | {"sliding_window": 8, "layer_types": WINDOWS}),
    "granite/own": (
        "Granite",
        LLAMA
        | {"embedding_multiplier": 3.5, "attention_multiplier": 0.3, "residual_multiplier": 0.6, "logits_scaling": 2.5}
        | {"tie_word_embeddings": True, "attention_bias": True, "mlp_bias": True},
    ),
    "gpt_neox/texts": (
        "GPTNeoX",
        NEOX
        | SPECIAL["gpt_neox/texts"]
        | {"rope_parameters": {"rope_type": "default", "rope_theta": 500.0, "partial_rotary_factor": 0.5}},
    ),
    "gpt_neox/one_by_one": ("GPTNeoX", NEOX | {"use_parallel_residual": False, "attention_bias": False}),
    "gpt_neo/texts": ("GPTNeo", GPT_NEO | SPECIAL["gpt_neo/texts"]),
    "gptj/own": (
        "GPTJ",
        GPT2 | {"rotary_dim": 6, "n_inner": 31, "activation_function": "relu", "layer_norm_epsilon": 1e-3},
    ),
    "codegen/own": (
        "CodeGen",
        GPT2 | {"n_embd": 32, "n_head": 8, "rotary_dim": 2, "n_inner": 31, "layer_norm_epsilon": 1e-3, "n_layer": 1},
    ),
    "openai-gpt/own": ("OpenAIGPT", OPENAI_GPT | {"afn": "relu", "tie_word_embeddings": False}),
    "openai-gpt/texts": ("OpenAIGPT", OPENAI_GPT | {"n_layer": 1, "n_embd": 22} | SPECIAL["openai-gpt/texts"]),
    "gpt_bigcode/own": ("GPTBigCode", GPT2),
    "modernbert-decoder/own": (
        "ModernBertDecoder",
        NEOX | {"num_hidden_layers": 4, "local_attention": 8, "pad_token_id": 0, "classifier_activation": "relu"},
    ),
    "xglm/texts": ("XGLM", XGLM | SPECIAL["xglm/texts"]),
    "mpt/own": ("Mpt", MPT),
    "cohere/head_norms": (
        "Cohere",
        LLAMA | {"use_qk_norm": True, "attention_bias": True, "logit_scale": 0.6, "layer_norm_eps": 1e-3},
    ),
    "cohere2/texts": (
        "Cohere2",
        LLAMA | {"sliding_window": 6, "layer_types": WINDOWS, "logit_scale": 1.5} | SPECIAL["cohere2/texts"],
    ),
    "persimmon/own": ("Persimmon", LLAMA | {"layer_norm_eps": 1e-3, "num_hidden_layers": 1, "num_attention_heads": 3}),
    "bloom/own": ("Bloom", BLOOM),
    "falcon/multi_query": ("Falcon", FALCON | {"num_hidden_layers": 2}),
    "falcon/new": (
        "Falcon",
        FALCON | {"new_decoder_architecture": True, "num_kv_heads": 2, "bias": True, "ffn_hidden_size": 31},
    ),
    "phi/texts": ("Phi", NEOX | SPECIAL["phi/texts"]),
    "phi/head_norms": (
        "Phi",
        NEOX
        | {"num_attention_heads": 2, "num_key_value_heads": 1, "num_hidden_layers": 1, "qk_layernorm": True}
        | {"rope_parameters": {"rope_type": "linear", "factor": 2.5, "partial_rotary_factor": 0.84}}
        | {"tie_word_embeddings": True, "hidden_act": "relu", "layer_norm_eps": 1e-3},
    ),
    "phi3/texts": ("Phi3", PHI3 | {"sliding_window": 11, "num_hidden_layers": 1} | SPECIAL["phi3/texts"]),
    "phi3/long": (
        "Phi3",
        PHI3
        | {"rope_parameters": LONGROPE, "max_position_embeddings": 164, "original_max_position_embeddings": 41}
        | {"tie_word_embeddings": True, "head_dim": 8, "hidden_size": 32, "rms_norm_eps": 1e-3},
    ),
    "stablelm/parallel": (
        "StableLm",
        LLAMA
        | {"use_parallel_residual": True, "use_qkv_bias": True, "layer_norm_eps": 1e-3, "tie_word_embeddings": True}
        | {"rope_parameters": {"rope_type": "default", "rope_theta": 500.0, "partial_rotary_factor": 0.67}},
    ),
    "stablelm/head_norms": (
        "StableLm",
        LLAMA | {"qk_layernorm": True, "rope_parameters": {"rope_type": "default", "partial_rotary_factor": 0.67}},
    ),
    "starcoder2/own": ("Starcoder2", LLAMA | {"sliding_window": 3, "norm_epsilon": 1e-3}),
    "opt/texts": ("OPT", OPT | SPECIAL["opt/texts"]),
    "biogpt/own": ("BioGpt", BIOGPT),
    "biogpt/untied": (
        "BioGpt",
        BIOGPT
        | {"scale_embedding": False, "hidden_act": "relu", "num_hidden_layers": 1, "num_attention_heads": 4}
        | {"tie_word_embeddings": False},
    ),
    "opt/projected": (
        "OPT",
        OPT
        | {"word_embed_proj_dim": 14, "do_layer_norm_before": False, "enable_bias": False, "num_hidden_layers": 2}
        | {"activation_function": "gelu", "tie_word_embeddings": False},
    ),
    "llama/wide_heads": ("Llama", LLAMA | {"head_dim": 10, "num_key_value_heads": 4, "num_hidden_layers": 1}),
    **CONVOLUTIONS,
    **DELTA,
    **LIKE_LLAMA,
    **MAMBA,
    **MIXTURES,
    **PAIRED,
    **MOSES,
    **WHOLES,
}

_DECODERS = """
    Apertus Arcee BioGpt BitNet Bloom CodeGen Cohere Cohere2 Cwm Ernie4_5 Exaone4 Falcon Gemma Gemma2 Gemma3 Gemma4 Glm
    GPTBigCode GPTJ GPTNeo GPTNeoX Granite GraniteMoe GraniteMoeHybrid Helium HunYuanDenseV1 HyperCLOVAX Jais2 Lfm2 Lfm3
    MiniCPM3 ModernBertDecoder Llama Ministral Ministral3 Mistral Mixtral Mpt NanoChat Nemotron Olmoe Qwen2Moe Qwen3Moe
    Olmo Olmo2 Olmo3 OPT Persimmon Phi Phi3 Qwen2 Qwen3 Qwen3_5 Qwen3Next SeedOss SmolLM3 StableLm Starcoder2 VaultGemma
    Glm4 XGLM Youtu OlmoHybrid FlexOlmo GptOss GraniteMoeShared GraniteMoeSWA GraniteSWA HunYuanMoEV1 Qwen3_5Moe
    Bamba FalconH1 Mamba2
    DeepseekV3 Glm4MoeLite Dots1 Ernie4_5_Moe ExaoneMoe Glm4Moe HYV3 Lfm2Moe SolarOpen
"""
_TRANSLATORS = """
    Bart BigBirdPegasus Blenderbot BlenderbotSmall FSMT LED M2M100 MBart MT5 Mvp Pegasus PLBart T5 T5Gemma UMT5
"""
_WHOLES = "Gemma3 Gemma4 Idefics3 Lfm2Vl Llava LlavaNext Mistral3 Qwen3_5 Qwen3_5Moe SmolVLM"
# Whose classes are Llama's: their configurations.
OF_LLAMA = {"InternLM3": "InternLM3Config", "IQuestCoder": "IQuestCoderConfig"}
CLASSES = {
    **{name: f"{name}ForConditionalGeneration" for name in _TRANSLATORS.split()},
    **{name: f"{name}ForCausalLM" for name in _DECODERS.split()},
    **{name: f"{name}LMHeadModel" for name in ("GPT2", "OpenAIGPT")},
    **dict.fromkeys(OF_LLAMA, "LlamaForCausalLM"),
    "Marian": "MarianMTModel",
    **{f"{name}Whole": f"{name}ForConditionalGeneration" for name in _WHOLES.split()},
    "EncoderDecoder": "EncoderDecoderModel",
}
