# SPDX-License-Identifier: Apache-2.0
"""The texts' half of a whole SigLIP, or of a SigLIP 2 for images of one size: `SiglipModel.get_text_features` of
`transformers`."""

from __future__ import annotations

from ...load.tokenizer_files.tokenizer_config import SIGLIP_TOKENIZER
from ..bases import siglip_texts, text_half

MODEL_TYPE = "siglip"
HARMLESS_KEYS = text_half.HARMLESS_KEYS
FAMILY = siglip_texts.SiglipFamily("Siglip", SIGLIP_TOKENIZER)
