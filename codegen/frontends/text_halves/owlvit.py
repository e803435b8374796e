# SPDX-License-Identifier: Apache-2.0
"""The texts' half of OWL-ViT (Minderer et al., 2022, arXiv:2205.06230), which is CLIP's of short texts:
`OwlViTModel.get_text_features` of `transformers`, also of folders of `OwlViTForObjectDetection`, which divides it by
its length."""

from __future__ import annotations

from dataclasses import replace

from ...load.tokenizer_files.tokenizer_config import CLIP_TOKENIZER
from ..bases import clip_texts, text_half

MODEL_TYPE = "owlvit"
HARMLESS_KEYS = text_half.HARMLESS_KEYS
TEXTS = replace(clip_texts.CLIP, tokens=16)
BOXES = ("class_head.*", "box_head.*", "layer_norm.*")
FAMILY = clip_texts.ClipFamily(
    "OwlViT",
    CLIP_TOKENIZER,
    TEXTS,
    takes_largest=True,
    others=BOXES,
    holders=("OwlViTForObjectDetection",),
    keys=text_half.NEW,
)
