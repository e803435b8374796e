# SPDX-License-Identifier: Apache-2.0
"""The texts' half of a whole CLIP: `CLIPModel.get_text_features` of `transformers`."""

from __future__ import annotations

from ...load.tokenizer_files.tokenizer_config import CLIP_TOKENIZER
from ..bases import clip_texts, text_half

MODEL_TYPE = "clip"
HARMLESS_KEYS = text_half.HARMLESS_KEYS
FAMILY = clip_texts.ClipFamily("CLIP", CLIP_TOKENIZER)
