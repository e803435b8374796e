# SPDX-License-Identifier: Apache-2.0
"""Models of `transformers` with random weights: how they are made, how long texts may be, which attention computes."""

from __future__ import annotations

from typing import Any

import transformers
from delta_weights import as_trained
from family_specials import ROBERTAS
from random_weights import randomize
from token_ids import Specials
from transformers import PretrainedConfig, PreTrainedModel
from vocabularies import vocabulary_size
from xlm_calls import prepare_xlm_calls

MIXTURES = ("qwen3_next",)  # of which the usual way has no float64
MPNET_OFFSET = 2  # its positions begin behind padding_idx 1
# Eager attention rounds probabilities to float32, sdpa does not.
ROUNDING = (
    *("modernbert", "eurobert", "nomic_bert", "gte", "jina_embeddings_v3", "llama", "qwen2", "qwen3", "gemma3_text"),
    *("gpt2", "gpt_neox", "mistral", "opt", "phi", "phi3", "falcon", "stablelm", "starcoder2", "esm", "esmc"),
    *("siglip", "siglip2", "siglip_text_model", "siglip2_text_model"),
    *("clip", "clip_text_model", "gpt_bigcode", "lfm2", "modernbert-decoder", "nemotron", "ultrabert"),
    *("apertus", "bamba", "biogpt", "falcon_h1", "granitemoehybrid", "minicpm3", "ministral3"),
    *("clipseg", "metaclip_2", "xclip"),
)


prepare_xlm_calls()


def build(model: str, specials: Specials, settings: dict[str, Any], seed: int) -> PreTrainedModel:
    """A model with random weights and the vocabulary of `specials`."""
    kind = getattr(transformers, model)
    built = kind(kind.config_class(**{"vocab_size": vocabulary_size(specials), **settings}))
    randomize(built, seed)
    as_trained(built)
    return built


def max_tokens(config: PretrainedConfig) -> int:
    """Tokens of the longest text."""
    if config.model_type in ("funnel", "mamba2", "xlnet"):  # which say none
        return 24
    if config.model_type == "canine":
        return min(config.max_position_embeddings, config.num_hash_buckets)
    if config.model_type in ("t5", "mt5", "umt5"):
        return config.n_positions
    if config.model_type == "qwen3_5":
        return config.text_config.max_position_embeddings
    if config.model_type == "t5gemma":
        return min(config.encoder.max_position_embeddings, config.decoder.max_position_embeddings)
    if config.model_type == "led":
        return min(config.max_encoder_position_embeddings, config.max_decoder_position_embeddings)
    if config.model_type == "big_bird" and config.attention_type == "block_sparse":
        return min(config.max_position_embeddings, (5 + 2 * config.num_random_blocks) * config.block_size)
    is_turned = config.model_type == "esm" and config.position_embedding_type == "rotary"
    offset = config.pad_token_id + 1 if config.model_type in (*ROBERTAS, "esm") and not is_turned else 0
    if config.model_type in ("bloom", "mpt"):
        return config.seq_length if config.model_type == "bloom" else config.max_seq_len
    return config.max_position_embeddings - (MPNET_OFFSET if config.model_type == "mpnet" else offset)


def loading_of(config: PretrainedConfig) -> dict[str, Any]:
    """How `transformers` is to compute a model that it reads."""
    experts = {"experts_implementation": "eager"} if config.model_type in MIXTURES else {}
    return {"attn_implementation": attention_of(config), **experts}


def attention_of(config: PretrainedConfig) -> str:
    """How `transformers` is to compute attention."""
    return "sdpa" if config.model_type in ROUNDING else "eager"
