# SPDX-License-Identifier: Apache-2.0
"""Settings of encoders by family, as `transformers` names them: usual, rare, some that etch refuses."""

from __future__ import annotations

from typing import Any

import decoder_settings as decoders
from drawn_classes import CLIPS, LLAMAS
from family_specials import ROBERTAS
from like_llama_settings import LIKE_LLAMA
from published_settings import ROC_BERT
from token_ids import CLIP, SPLINTER, XLM_ROBERTA

Settings = dict[str, Any]
# By key: how often it is there, and with which values.
Rare = dict[str, tuple[float, tuple[Any, ...]]]

ACTIVATIONS = (
    *("gelu", "relu", "gelu_new", "silu", "swish", "gelu_pytorch_tanh", "gelu_fast", "quick_gelu"),
    *("tanh", "mish", "relu2", "gelu_10", "linear"),
)
_ANGLES: tuple[Settings, ...] = (
    {"rope_type": "default", "rope_theta": 50.0},
    {"rope_type": "linear", "rope_theta": 300.0, "factor": 2.5},
    {
        **{"rope_type": "llama3", "rope_theta": 500.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0},
        "original_max_position_embeddings": 20,
    },
    {"rope_type": "dynamic", "rope_theta": 300.0, "factor": 2.0},
    {"rope_type": "default", "rope_theta": 90.0, "partial_rotary_factor": 0.5},
)

T5_SHAPE: dict[str, tuple[Any, ...]] = {
    "d_model": tuple(range(8, 30, 3)),
    "d_kv": tuple(range(2, 9)),
    "num_heads": (1, 2, 3, 5),
    "d_ff": tuple(range(9, 40, 3)),
    "num_layers": (1, 2, 3),
    "relative_attention_num_buckets": (4, 6, 8, 11, 32),
    "relative_attention_max_distance": (6, 9, 14, 40, 128),
}
T5_RARE: Rare = {
    "num_decoder_layers": (0.3, (1, 2, 3)),
    "feed_forward_proj": (0.6, ("relu", "gelu", "gated-gelu", "gated-silu", "silu", "gated-relu")),
    "tie_word_embeddings": (0.3, (True, False)),
    "layer_norm_epsilon": (0.3, (1e-5, 0.1)),
}
T5_ROWS_RARE: Rare = {
    "decoder_start_token_id": (0.9, (0, 0, 1, 2, 5, 70, 80, 90)),
    "eos_token_id": (0.1, (1, 2, [1])),
    "pad_token_id": (0.1, (0, 1)),
}
BART_RARE: Rare = {
    "activation_function": (0.3, ACTIVATIONS),
    "scale_embedding": (0.4, (True, False)),
    "decoder_start_token_id": (0.5, (0, 1, 2, 5, 70, 285)),
    "eos_token_id": (0.1, (2, 3, [2])),
    "pad_token_id": (0.1, (0, 2)),
    "tie_word_embeddings": (0.15, (True, False)),
}
_ANGLES_BY_KIND = tuple({"full_attention": one, "sliding_attention": {"rope_theta": 70.0}} for one in _ANGLES)
_WIDE = {"type_vocab_size": (0.3, (2, 3, 4))}
_ROTARY = {"rope_parameters": (0.4, _ANGLES), "head_dim": (0.1, (4, 6, 8))}
_KEY_HEADS = {"num_key_value_heads": (0.6, (1, 2))}
_DEBERTA: Rare = {
    "relative_attention": (0.8, (True,)),
    "pos_att_type": (0.8, (["p2c", "c2p"], ["c2p"], ["p2c"], "p2c|c2p", "c2p", [], None, ["p2p"], "none", "")),
    "max_relative_positions": (0.4, (-1, 0, 5, 9, 30, 64)),
    "position_biased_input": (0.6, (True, False)),
    "type_vocab_size": (0.3, (2, 3)),
    "embedding_size": (0.3, tuple(range(6, 30, 4))),
    "pooler_hidden_act": (0.3, ACTIVATIONS),
    "legacy": (0.2, (False,)),
}
_XLM: Rare = {
    "gelu_activation": (0.3, (False,)),
    "causal": (0.3, (True,)),
    "sinusoidal_embeddings": (0.3, (True,)),
    "use_lang_emb": (0.2, (False,)),
    "summary_type": (0.4, ("first", "last", "mean", "cls_index")),
    "summary_activation": (0.15, ("tanh", "gelu")),
    "summary_use_proj": (0.05, (False,)),
    "summary_proj_to_labels": (0.1, (False, True)),
    "asm": (0.05, (True,)),
    "is_encoder": (0.03, (False,)),
}
RARE: dict[str, Rare] = {
    "bert": _WIDE | {"pad_token_id": (0.1, (0, 1, 3))},
    "megatron-bert": _WIDE,
    "big_bird": _WIDE
    | {
        "attention_type": (0.6, ("original_full", "block_sparse")),
        "block_size": (0.8, (1, 2, 3, 64)),
        "num_random_blocks": (0.5, (1, 2)),
        "use_bias": (0.3, (False,)),
        "rescale_embeddings": (0.3, (True,)),
    },
    "roformer": _WIDE
    | {
        "embedding_size": (0.6, tuple(range(5, 40, 3))),
        "rotary_value": (0.1, (True,)),
        "summary_type": (0.2, ("first", "last", "mean")),
        "summary_use_proj": (0.1, (True,)),
    },
    "roc_bert": _WIDE
    | {
        "shape_embed_dim": (0.5, (3, 8)),
        "pronunciation_embed_dim": (0.5, (2, 9)),
        "shape_vocab_size": (0.2, (11, 30, 9)),
        **dict.fromkeys(("enable_shape", "enable_pronunciation"), (0.3, (False,))),
        "concat_input": (0.05, (False,)),
    },
    "rembert": _WIDE
    | {"input_embedding_size": (1.0, tuple(range(5, 40, 3))), "output_embedding_size": (1.0, tuple(range(5, 40, 3)))},
    "clip_text_model": {"projection_dim": (0.8, (5, 13, 30)), "eos_token_id": (0.4, (2, 2, 7))},
    **{name: {"eos_token_id": (0.3, (2, 2, 7, CLIP.separate))} for name in CLIPS},
    "siglip_text_model": {"projection_size": (0.7, (5, 13, 30))},
    "distilbert": {"sinusoidal_pos_embds": (0.3, (True,))},
    **dict.fromkeys(("align", "chinese_clip"), _WIDE),
    "altclip": {"project_dim": (1.0, (5, 14, 30))},
    "dpr": _WIDE | {"projection_dim": (0.6, (5, 13, 0))},
    "electra": _WIDE
    | {
        "summary_type": (0.15, ("first", "last", "mean")),
        "summary_use_proj": (0.15, (False, True)),
        "summary_activation": (0.15, ACTIVATIONS),
    },
    "convbert": _WIDE
    | {
        "head_ratio": (0.5, (1, 2, 3, 5)),
        "conv_kernel_size": (0.9, (*(3, 5, 7, 11) * 4, 1, 4)),
        "num_groups": (0.4, (1, 2, 4)),
        "intermediate_size": (0.6, (12, 20, 36)),
        "summary_type": (0.2, ("first", "last", "mean")),
        "summary_use_proj": (0.1, (True,)),
    },
    "splinter": _WIDE,
    "fnet": _WIDE | {"use_tpu_fourier_optimizations": (0.05, (True,)), "type_vocab_size": (0.4, (2, 3))},
    "nystromformer": _WIDE
    | {
        "conv_kernel_size": (0.9, (3, 5, 7, 31, 65, 1, 4)),
        "num_landmarks": (0.1, (8, 32)),
        "inv_coeff_init_option": (0.05, (True,)),
    },
    "longformer": {"attention_window": (0.95, (4, 4, 6, 6, 10, 64, [2, 4]))},
    "squeezebert": _WIDE
    | dict.fromkeys(
        (*(f"{of}_groups" for of in ("q", "k", "v", "intermediate", "output")), "post_attention_groups"),
        (0.99, (1, 1, 1, 1, 1, 2)),
    ),
    "esm": {
        "position_embedding_type": (0.7, (*["rotary"] * 5, "absolute", "relative_key")),
        "token_dropout": (0.7, (True,)),
        "emb_layer_norm_before": (0.5, (True, False)),
        "rope_theta": (0.3, (50.0, 7e4)),
        "rope_parameters": (0.1, _ANGLES),
        "mask_token_id": (0.1, (40, 20)),
        "pad_token_id": (0.1, (0, 3, None)),
        "is_folding_model": (0.03, (True,)),
        "head_dim": (0.1, (4, 6, 8)),
    },
    "albert": _WIDE | {"inner_group_num": (0.3, (1, 2))},
    "ernie": _WIDE | {"use_task_id": (0.5, (True,)), "task_type_vocab_size": (0.5, (1, 3, 5))},
    "mobilebert": _WIDE
    | {
        "normalization_type": (0.4, ("layer_norm", "layer_norm", "no_norm", "rms_norm")),
        "num_feedforward_networks": (0.8, (1, 2, 3)),
        "classifier_activation": (0.5, (False, True)),
        **dict.fromkeys(("trigram_input", "use_bottleneck", "key_query_shared_bottleneck"), (0.3, (False,))),
        "use_bottleneck_attention": (0.3, (True,)),
    },
    "mpnet": {"relative_attention_num_buckets": (0.3, (8, 32, 40, 64))},
    "deberta": _DEBERTA | {"talking_head": (0.1, (True, False))},
    "deberta-v2": _DEBERTA
    | {
        "share_att_key": (0.5, (True, False)),
        "norm_rel_ebd": (0.4, ("layer_norm", "none")),
        "position_buckets": (0.5, (-1, 0, 4, 6, 16, 32)),
        "conv_kernel_size": (0.1, (3,)),
        "attention_head_size": (0.15, (4, 6, 8)),
    },
    "modernbert": {
        **dict.fromkeys(("norm_bias", "attention_bias", "mlp_bias", "classifier_bias"), (0.3, (True,))),
        "decoder_bias": (0.2, (False,)),
        "classifier_pooling": (0.3, ("cls", "mean")),
        "classifier_activation": (0.3, ACTIVATIONS),
        "local_attention": (0.7, (1, 2, 4, 5, 6, 9, 20)),
        "global_attn_every_n_layers": (0.15, (1, 2, 3)),
        "global_rope_theta": (0.1, (500.0, 7e4)),
    },
    "esmc": _ROTARY
    | {
        **dict.fromkeys(("attention_bias", "mlp_bias"), (0.25, (True,))),
        "mask_token_id": (0.1, (40, 20)),
        "token_classification_bias": (0.05, (True, False)),
    },
    "eurobert": _ROTARY
    | {
        "num_key_value_heads": (0.4, (1, 2)),
        "attention_bias": (0.25, (True,)),
        "mlp_bias": (0.25, (True,)),
        "classifier_pooling": (0.7, ("bos", "mean", "late")),
    },
    "ultrabert": {
        "num_key_value_heads": (0.4, (1, 2)),
        "head_dim": (0.1, (4, 6, 8)),
        "attention_bias": (0.25, (True,)),
        "mlp_bias": (0.25, (True,)),
        "classifier_pooling": (0.5, ("cls", "mean")),
        "prediction_head_size": (0.9, (5, 13, 30)),
        "sliding_window": (0.9, (0, 1, 2, 5, 60)),
        "rope_parameters": (0.5, _ANGLES_BY_KIND),
    },
    **dict.fromkeys(LLAMAS, _ROTARY | {"attention_bias": (0.2, (True,))} | _KEY_HEADS),
    **{
        f"{name}/rows": _ROTARY | {"attention_bias": (0.2, (True,))} | _KEY_HEADS | decoders.QWEN_WINDOWS
        for name in ("qwen2", "qwen3")
    },
    "granite/rows": _ROTARY | {"attention_bias": (0.2, (True,)), "mlp_bias": (0.2, (True,))} | decoders.GRANITE_FACTORS,
    "gpt2/rows": {
        "n_inner": (0.3, (None,)),
        "activation_function": (0.3, ACTIVATIONS),
        "layer_norm_epsilon": (0.3, (1e-3, 0.1)),
        "scale_attn_by_inverse_layer_idx": (0.05, (True,)),
    },
    "gpt_neo/rows": decoders.GPT_NEO_RARE,
    "biogpt/rows": {"scale_embedding": (0.3, (False,))},
    "bloom/rows": decoders.BLOOM_RARE,
    "falcon/rows": _ROTARY | decoders.FALCON_RARE,
    "gptj/rows": decoders.GPTJ_RARE,
    "gpt_bigcode/rows": decoders.BIGCODE_RARE,
    "mpt/rows": decoders.MPT_RARE,
    "gpt_neox/rows": {
        "use_parallel_residual": (0.4, (True, False)),
        "attention_bias": (0.3, (True, False)),
        "rope_parameters": (0.4, tuple(one | {"partial_rotary_factor": 0.5} for one in _ANGLES)),
    },
    "openai-gpt/rows": decoders.OPENAI_GPT_RARE,
    "opt/rows": decoders.OPT_RARE,
    "stablelm/rows": _ROTARY | decoders.STABLELM_RARE,
    "starcoder2/rows": _ROTARY
    | {"use_bias": (0.4, (False,)), "norm_epsilon": (0.3, (1e-3, 0.1)), "sliding_window": (0.3, (None, 8, 40))},
    "phi/rows": _ROTARY | decoders.PHI_RARE,
    "smollm3/rows": _ROTARY | {"attention_bias": (0.2, (True,))} | decoders.SMOLLM3_LAYERS,
    **{f"{family}/rows": _ROTARY | _KEY_HEADS | rare for family, (_, rare) in LIKE_LLAMA.items()},
    "phi3/rows": _KEY_HEADS | {"sliding_window": (0.4, (None, 8, 40))},
    "mistral/rows": _ROTARY | _KEY_HEADS | {"sliding_window": (0.6, (None, 8, 40))},
    "gemma3_text/rows": {
        "attention_bias": (0.2, (True,)),
        "head_dim": (1.0, (4, 6, 8)),
        "num_key_value_heads": (0.6, (1, 2)),
        "sliding_window": (0.9, (4, 5, 8, 60)),
        "use_bidirectional_attention": (0.7, (True,)),
        "query_pre_attn_scalar": (0.7, (2, 6, 16)),
        "attn_logit_softcapping": (0.05, (20.0,)),
        "rope_parameters": (0.3, _ANGLES_BY_KIND),
    },
    "ibert": {"quant_mode": (0.1, (True,)), "force_dequant": (0.2, ("gelu", "none"))},
    "layoutlm": _WIDE | {"max_2d_position_embeddings": (0.8, (1, 9, 30))},
    "luke": {"use_entity_aware_attention": (0.4, (False,)), "pad_token_id": (0.1, (0, 3))},
    "xmod": {
        "languages": (0.99, (["en_XX", "de_DE"], ["sw"], ["de_DE", "en_XX", "sw"])),
        "default_language": (0.97, ("en_XX", "sw", "de_DE")),
        "adapter_reduction_factor": (0.7, (1, 3, 4, 9)),
        "pre_norm": (0.3, (True,)),
        "adapter_layer_norm": (0.3, (True,)),
        **dict.fromkeys(("adapter_reuse_layer_norm", "ln_before_adapter"), (0.3, (False,))),
    },
    "flaubert": _XLM | {"pre_norm": (0.4, (True,)), "layerdrop": (0.2, (0.3,))},
    "xlm": _XLM
    | {
        "n_langs": (0.7, (1, 2, 3)),
        "lang2id": (0.8, ({"de": 0, "en": 1}, {"en": 0, "fr": 2, "de": 1})),
        "default_language": (0.4, ("de", "en", "fr")),
    },
    "xlnet": {
        "clamp_len": (0.5, (-1, 0, 1, 3, 9, 60)),
        "summary_type": (0.4, ("first", "last", "mean", "cls_index")),
        "summary_activation": (0.4, ACTIVATIONS),
        "summary_use_proj": (0.1, (False,)),
        "attn_type": (0.08, ("uni",)),
        "bi_data": (0.05, (True,)),
        "same_length": (0.1, (True,)),
        "mem_len": (0.3, (0, None, 3)),
        "reuse_len": (0.2, (4,)),
        "use_mems_eval": (0.2, (False,)),
    },
    "gte": _ROTARY | {"type_vocab_size": (0.3, (0, 1))},
    "jina_embeddings_v3": _ROTARY,
    "nomic_bert": _ROTARY | _WIDE,
}
_ONE_SEGMENT = {"type_vocab_size": 1}
_PADDING = {"pad_token_id": 30}
_GPTS = ("biogpt", "gpt2", "gpt_bigcode", "gpt_neo", "gpt_neox", "gptj", "openai-gpt")
_PADDED = (*_GPTS, "bloom", "falcon", "mpt", "phi")
_ONE_KEY_HEAD = {"num_key_value_heads": 1}
_ROBERTA_IDS = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
ALWAYS: dict[str, Settings] = {
    **dict.fromkeys(ROBERTAS, _ONE_SEGMENT),
    "luke": _ONE_SEGMENT | {"entity_vocab_size": 9, "entity_emb_size": 6},
    "modernbert": _ROBERTA_IDS | {"cls_token_id": 0, "sep_token_id": 2},
    **{name: {"eos_token_id": CLIP.separate} for name in ("clip_text_model", "clipseg", "groupvit", "owlv2", "owlvit")},
    "metaclip_2": {"eos_token_id": XLM_ROBERTA.separate},
    "esm": {"pad_token_id": 1, "mask_token_id": 32},
    "splinter": {"question_token_id": SPLINTER.unknown},
    "roc_bert": ROC_BERT,
    "ultrabert": _ROBERTA_IDS,
    "eurobert": _ROBERTA_IDS | {"mask_token_id": 5},
    **dict.fromkeys(LLAMAS, _ONE_KEY_HEAD),
    **{f"{name}/rows": _ONE_KEY_HEAD | _PADDING for name in ("olmo2", "phi3", "smollm3", *LIKE_LLAMA)},
    **dict.fromkeys(("gemma3/rows", "gemma3_text/rows"), _ONE_KEY_HEAD | {"pad_token_id": 1}),
    **{f"{name}/rows": _PADDING for name in _PADDED},
    "stablelm/rows": _ONE_KEY_HEAD | _PADDING,
    "starcoder2/rows": _ONE_KEY_HEAD | _PADDING,
}
