# SPDX-License-Identifier: Apache-2.0
"""Whole models of which etch reads the texts' half: what they have beside the settings of their texts."""

from __future__ import annotations

import random
from typing import Any

from embedding_variants import FEW_IMAGES, FEW_SEGMENTS, GROUPS, IMAGES, PATCHES, SOUND, VIDEOS

_PATCHES = {"vision_config": IMAGES | PATCHES}
# By family: the other half, and what else may be said.
_OTHERS: dict[str, tuple[dict[str, Any], dict[str, tuple[Any, ...]]]] = {
    "align": ({"vision_config": FEW_IMAGES}, {}),
    "altclip": (_PATCHES, {}),
    "chinese_clip": (_PATCHES, {}),
    "clipseg": (_PATCHES | FEW_SEGMENTS, {}),
    "groupvit": (
        {"vision_config": IMAGES | PATCHES | GROUPS, "projection_intermediate_dim": 14},
        {"projection_intermediate_dim": (3, 17), "output_segmentation": (True,)},
    ),
    **dict.fromkeys(("metaclip_2", "owlv2", "owlvit"), (_PATCHES, {})),
    "xclip": (
        {"vision_config": IMAGES | PATCHES | VIDEOS, "prompt_layers": 1, "prompt_num_attention_heads": 1},
        {"prompt_alpha": (0.5,)},
    ),
    "clap": ({"audio_config": SOUND}, {"projection_hidden_act": ("relu", "gelu", "tanh", "silu")}),
}
HALVES = tuple(_OTHERS)
_QWENS = ("qwen3_5", "qwen3_5/rows", "qwen3_5_moe", "qwen3_5_moe/rows")
_OF_WHOLE = ("id2label", "problem_type", "tie_word_embeddings")


def of_whole(source: random.Random, family: str, texts: dict[str, Any]) -> dict[str, Any]:
    """The configuration of a whole one with these texts; they themselves where a family has nothing else."""
    if family in _QWENS:
        images = {"depth": 1, "hidden_size": 8, "num_heads": 2, "intermediate_size": 6, "num_position_embeddings": 4}
        images |= {"patch_size": 2, "in_channels": 1, "out_hidden_size": texts["hidden_size"]}
        own = {key: value for key, value in texts.items() if key not in _OF_WHOLE}
        return {key: texts[key] for key in _OF_WHOLE if key in texts} | {"text_config": own, "vision_config": images}
    if family not in HALVES:
        return texts
    others, rare = _OTHERS[family]
    said = {key: source.choice(values) for key, values in rare.items() if source.random() < 0.5}
    return {"text_config": texts, **others, "projection_dim": source.choice((5, 11, 13)), **said}
