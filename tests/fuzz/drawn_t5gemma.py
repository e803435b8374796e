# SPDX-License-Identifier: Apache-2.0
"""Random models of T5Gemma, as `transformers` names their settings."""

from __future__ import annotations

import random
from typing import Any

from like_llama_settings import GEMMA2
from token_ids import GEMMA
from vocabularies import vocabulary_size

Settings = dict[str, Any]
_TOKENS = {"pad_token_id": (0, 0, 0, 0, 0, 1, 2), "bos_token_id": (2, 2, 2, 3, 0), "eos_token_id": (1, 2, 5)}


def draw_t5gemma(source: random.Random, vocabulary: int, tokens: int) -> Settings:
    """Settings of a model whose halves have this many words, and positions for so many tokens at least."""
    settings: Settings = {"vocab_size": vocabulary, "decoder_start_token_id": 2, "eos_token_id": 1, "pad_token_id": 0}
    settings |= {of: _half(source, vocabulary, tokens) for of in ("encoder", "decoder")}
    if source.random() < 0.1:
        settings["decoder"]["vocab_size"] += source.choice((-2, 5))
    if source.random() < 0.3:
        settings["tie_word_embeddings"] = source.choice((True, False))
    return settings


def draw_t5gemma_rows(source: random.Random) -> tuple[Settings, int]:
    """The same of classes of rows, and the tokens of the longest text."""
    settings = draw_t5gemma(source, vocabulary_size(GEMMA), source.randrange(14, 40))
    positions = min(settings[of]["max_position_embeddings"] for of in ("encoder", "decoder"))
    return settings | {"is_encoder_decoder": source.random() < 0.4}, positions


def _half(source: random.Random, vocabulary: int, tokens: int) -> Settings:
    heads, layers = source.choice((1, 2, 4)), source.choice((1, 2, 3))
    settings = {
        "vocab_size": vocabulary,
        "hidden_size": heads * source.choice((4, 6, 8)),
        "num_attention_heads": heads,
        "num_key_value_heads": source.choice([count for count in (1, 2, 4) if heads % count == 0]),
        "num_hidden_layers": layers,
        "intermediate_size": source.choice((9, 18, 31)),
        "max_position_embeddings": tokens + source.choice((0, 3, 17)),
        **{key: source.choice(values) for key, values in _TOKENS.items()},
    }
    for key, (chance, values) in GEMMA2.items():
        if source.random() < chance:
            settings[key] = source.choice(values)
    if source.random() < 0.2:
        settings["rope_parameters"] = source.choice(({"rope_theta": 90.0}, {"rope_type": "linear", "factor": 2.5}))
    if len(settings.get("layer_types", ())) != layers:
        settings.pop("layer_types", None)
    return settings
