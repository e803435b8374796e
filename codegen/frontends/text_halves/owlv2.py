# SPDX-License-Identifier: Apache-2.0
"""The texts' half of OWLv2 (Minderer et al., 2023, arXiv:2306.09683), which is OWL-ViT's:
`Owlv2Model.get_text_features` of `transformers`, also of folders of `Owlv2ForObjectDetection`, which divides it by its
length."""

from __future__ import annotations

from ...load.tokenizer_files.tokenizer_config import CLIP_TOKENIZER
from ..bases import clip_texts, text_half
from .owlvit import BOXES, TEXTS

MODEL_TYPE = "owlv2"
HARMLESS_KEYS = text_half.HARMLESS_KEYS
FAMILY = clip_texts.ClipFamily(
    "Owlv2",
    CLIP_TOKENIZER,
    TEXTS,
    takes_largest=True,
    others=(*BOXES, "objectness_head.*"),
    holders=("Owlv2ForObjectDetection",),
    keys=text_half.NEW,
)
