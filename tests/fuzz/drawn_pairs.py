# SPDX-License-Identifier: Apache-2.0
"""Random models that are made of two encoders, one of which writes, as `transformers` names their settings."""

from __future__ import annotations

import random
from typing import Any

_KINDS = ("bert", "bert", "bert-generation", "camembert", "roberta", "xlm-roberta")
_RARE: dict[str, tuple[float, tuple[Any, ...]]] = {
    "hidden_act": (0.3, ("gelu", "relu", "gelu_new", "silu", "tanh")),
    "layer_norm_eps": (0.3, (1e-3, 0.1)),
    "tie_word_embeddings": (0.2, (False,)),
    "cross_attention_hidden_size": (0.05, (24,)),
    "position_embedding_type": (0.05, ("absolute", "relative_key")),
    "eos_token_id": (0.2, (2, 5)),
    "num_beams": (0.1, (1, 2)),
}


def draw_pair(source: random.Random) -> dict[str, Any]:
    """Settings of a model."""
    encoder, decoder = _half(source), _half(source)
    if source.random() < 0.7:
        decoder["hidden_size"] = encoder["hidden_size"] = 24
    decoder |= {"is_decoder": True, "add_cross_attention": True}
    if source.random() < 0.15:
        decoder["vocab_size"] = 39
    if source.random() < 0.05:
        decoder["add_cross_attention"] = False
    tokens = {"decoder_start_token_id": source.choice((0, 1, 2, 3)), "pad_token_id": source.choice((0, 1))}
    return tokens | {"vocab_size": 39, "eos_token_id": 2, "encoder": encoder, "decoder": decoder}


def _half(source: random.Random) -> dict[str, Any]:
    kind = source.choice(_KINDS)
    settings = {
        "model_type": kind,
        "vocab_size": 45,
        "hidden_size": source.choice((8, 16, 24)),
        "num_attention_heads": source.choice((1, 2, 4)),
        "num_hidden_layers": source.choice((1, 2, 3)),
        "intermediate_size": source.choice((9, 18, 31)),
        "max_position_embeddings": source.choice((27, 33, 40)),
        "type_vocab_size": source.choice((1, 2, 3)),
        "pad_token_id": source.choice((0, 1, 1, 2)),
    }
    for key, (chance, values) in _RARE.items():
        if source.random() < chance:
            settings[key] = source.choice(values)
    return settings
