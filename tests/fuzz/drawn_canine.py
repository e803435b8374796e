# SPDX-License-Identifier: Apache-2.0
"""Random shapes and settings of CANINE, whose groups, blocks and taps need not fit each other."""

from __future__ import annotations

import random
from typing import Any


def draw_canine(source: random.Random) -> tuple[dict[str, Any], int]:
    """Settings, and the tokens of the longest text."""
    heads, hashes = source.choice((1, 2, 3)), source.choice((1, 2, 3, 4))
    tokens = source.randrange(14, 40)
    settings: dict[str, Any] = {
        "hidden_size": heads * hashes * source.choice((2, 3, 4)),
        "num_attention_heads": heads,
        "num_hidden_layers": source.choice((1, 1, 2, 3)),
        "intermediate_size": source.randrange(9, 40),
        "max_position_embeddings": tokens,
        "num_hash_functions": hashes,
        "num_hash_buckets": source.choice((tokens, 53, 64, 101)),
        "type_vocab_size": source.choice((1, 2, 16)),
        "downsampling_rate": source.choice((1, 2, 3, 4, 4, 5)),
        "upsampling_kernel_size": source.choice((1, 2, 3, 4, 4, 5)),
        "local_transformer_stride": source.choice((1, 4, 7, 13, 128)),
    }
    for key, chance, values in (
        ("hidden_act", 0.4, ("gelu", "relu", "gelu_new", "silu", "tanh")),
        ("layer_norm_eps", 0.3, (1e-5, 1e-12, 1e-3)),
    ):
        if source.random() < chance:
            settings[key] = source.choice(values)
    return settings, tokens
