# SPDX-License-Identifier: Apache-2.0
"""Random shapes and settings of Funnel Transformers, whose rows become fewer from block to block."""

from __future__ import annotations

import random
from typing import Any


def draw_funnel(source: random.Random) -> tuple[dict[str, Any], int]:
    """Settings, and the tokens of the longest text. Where the library fails on some lengths, it is asked less often."""
    blocks = source.choice((1, 2, 2, 3, 3, 3, 4))
    settings: dict[str, Any] = {
        "d_model": source.choice((8, 12, 16, 20, 22)),
        "n_head": source.choice((1, 2, 3)),
        "d_head": source.choice((3, 4, 6, 8)),
        "d_inner": source.randrange(9, 40),
        "block_sizes": [source.choice((1, 1, 2, 3)) for _ in range(blocks)],
        "num_decoder_layers": source.choice((0, 1, 1, 2)),
        "attention_type": source.choice(("factorized", "factorized", "relative_shift")),
    }
    if source.random() < 0.4:
        settings["block_repeats"] = [source.choice((1, 2, 3)) for _ in range(blocks)]
    for key, chance, values in (
        ("pooling_type", 0.4, ("mean", "max")),
        ("separate_cls", 0.3, (True, False)),
        ("truncate_seq", 0.4, (True, False)),
        ("pool_q_only", 0.4, (True, False)),
        ("hidden_act", 0.4, ("gelu", "relu", "gelu_new", "silu", "tanh")),
        ("layer_norm_eps", 0.3, (1e-5, 1e-12, 1e-3)),
        ("tie_word_embeddings", 0.15, (True, False)),
    ):
        if source.random() < chance:
            settings[key] = source.choice(values)
    return settings, source.randrange(14, 40)
