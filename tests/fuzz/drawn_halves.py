# SPDX-License-Identifier: Apache-2.0
"""Whole models of which etch reads the texts' half: what they have beside the settings of their texts."""

from __future__ import annotations

import copy
import random
from typing import Any

from embedding_variants import FEW_IMAGES, FEW_SEGMENTS, GROUPS, IMAGES, PATCHES, SOUND, VIDEOS
from whole_variants import (
    CLIP_IMAGES,
    GEMMA4_IMAGES,
    IDEFICS_IMAGES,
    NAFLEX_IMAGES,
    PIXTRAL_IMAGES,
    QWEN_IMAGES,
    SIGLIP_IMAGES,
)

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
# Of which a decoder reads texts: what they have beside these, and the model type of their configuration.
DECODERS: dict[str, dict[str, Any]] = {
    "gemma3": {"vision_config": SIGLIP_IMAGES, "mm_tokens_per_image": 4},
    "gemma4": {"vision_config": GEMMA4_IMAGES, "audio_config": None},
    "lfm2_vl": {"vision_config": NAFLEX_IMAGES, "projector_hidden_size": 6},
    "llava": {"vision_config": CLIP_IMAGES},
    "llava_next": {"vision_config": CLIP_IMAGES, "image_grid_pinpoints": [[4, 4]]},
    **{
        name: {"vision_config": IDEFICS_IMAGES | {"model_type": f"{name}_vision"}, "scale_factor": 2}
        for name in ("idefics3", "smolvlm")
    },
    "mistral3": {"vision_config": PIXTRAL_IMAGES},
    **{name: {"vision_config": QWEN_IMAGES} for name in ("qwen3_5", "qwen3_5_moe")},
}
_KINDS = {
    **{name: (f"{name}_text",) for name in ("gemma3", "gemma4", "qwen3_5", "qwen3_5_moe")},
    **{"lfm2_vl": ("lfm2",), "llava_next": ("llama", "mistral"), "mistral3": ("mistral", "ministral3")},
    **dict.fromkeys(("idefics3", "llava", "smolvlm"), ("llama",)),
}
_OF_WHOLE = ("id2label", "problem_type", "tie_word_embeddings")


def of_whole(source: random.Random, family: str, texts: dict[str, Any]) -> dict[str, Any]:
    """The configuration of a whole one with these texts; they themselves where a family has nothing else."""
    whole = family.removesuffix("/rows")
    if whole in DECODERS:
        others = copy.deepcopy(DECODERS[whole])
        if whole in ("qwen3_5", "qwen3_5_moe"):
            others["vision_config"]["out_hidden_size"] = texts["hidden_size"]
        own = {key: value for key, value in texts.items() if key not in _OF_WHOLE}
        own["model_type"] = source.choice(_KINDS[whole])
        return {key: texts[key] for key in _OF_WHOLE if key in texts} | {"text_config": own} | others
    if family not in HALVES:
        return texts
    others, rare = _OTHERS[family]
    said = {key: source.choice(values) for key, values in rare.items() if source.random() < 0.5}
    return {"text_config": texts, **others, "projection_dim": source.choice((5, 11, 13)), **said}
