# SPDX-License-Identifier: Apache-2.0
"""The texts' half of a whole SigLIP 2 for images of any shape: `Siglip2Model.get_text_features` of
`transformers`."""

from __future__ import annotations

from ...load.tokenizer_files.tokenizer_config import SIGLIP2_TOKENIZER
from ..bases import siglip_texts, text_half

MODEL_TYPE = "siglip2"
HARMLESS_KEYS = text_half.HARMLESS_KEYS
FAMILY = siglip_texts.SiglipFamily("Siglip2", SIGLIP2_TOKENIZER)
