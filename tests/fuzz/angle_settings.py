# SPDX-License-Identifier: Apache-2.0
"""Kinds of layers, and angles, that are drawn for decoders of Llama's shape."""

from __future__ import annotations

KINDS = tuple(
    [kind for kind, is_there in zip(("sliding_attention", "full_attention") * 2, chosen, strict=True) if is_there]
    for chosen in ((1, 0, 0, 0), (0, 1, 0, 0), (1, 1, 0, 0), (0, 1, 0, 1), (1, 1, 1, 0))
)
ANGLES_BY_KIND = tuple(
    {"full_attention": full, "sliding_attention": {"rope_theta": 70.0}}
    for full in (
        {"rope_theta": 900.0},
        {"rope_type": "linear", "factor": 2.5},
        {"rope_type": "dynamic", "factor": 2.5},
        *(
            {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 160, **more}
            for more in (
                *({}, {"beta_fast": 4}, {"attention_factor": 1.25}, {"beta_slow": 2.0}, {"rope_theta": 70.0}),
                {"truncate": False},
            )
        ),
    )
)
YARNS_OF_QUERIES = tuple(
    {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 160, "llama_4_scaling_beta": 0.1} | more
    for more in (
        *({}, {"mscale": 1.0, "mscale_all_dim": 1.0}, {"mscale": 0.7, "mscale_all_dim": 1.3, "beta_fast": 4}),
        *({"mscale": 0.7}, {"original_max_position_embeddings": 20}, {"llama_4_scaling_beta": None}),
        *({"rope_type": "default"}, {"original_max_position_embeddings": 20, "llama_4_scaling_beta": 0.0}),
        *({"attention_factor": 1.25, "max_position_embeddings": 41}, {"truncate": False}),
    )
)
PROPORTIONAL = tuple(
    {"full_attention": {"rope_type": "proportional", **full}, "sliding_attention": {"rope_theta": 70.0}}
    for full in ({"partial_rotary_factor": 0.4, "factor": 2.5}, {"rope_theta": 90.0}, {"partial_rotary_factor": 0})
)
ALPHAS = (
    *({"rope_type": "dynamic", "alpha": alpha, "factor": 1.0} for alpha in (7.5, 1000.0, 0.5)),
    *({"rope_type": "dynamic", "factor": 2.0}, {"rope_type": "linear", "factor": 2.5}),
)
