# SPDX-License-Identifier: Apache-2.0
"""LLaVA-NeXT, a decoder beside an encoder of images: its texts alone, read as `llama` or `mistral` has them. Names as
in `transformers`."""

from __future__ import annotations

from ...load.tokenizer_files.tokenizer_config import AS_IN_JSON
from ..bases import decoder_half
from ..bases.decoder_half import OF_IMAGES, DecoderHalf
from . import llama, llava, mistral

MODEL_TYPE = "llava_next"
HARMLESS_KEYS = decoder_half.HARMLESS_KEYS | {"image_grid_pinpoints", "use_image_newline_parameter"}

FAMILY = DecoderHalf(
    "LlavaNext",
    {each.MODEL_TYPE: each for each in (llama, mistral)},
    tied=False,
    usual=llava.USUAL,
    tokenizer_class=AS_IN_JSON,
    others=(*OF_IMAGES, "image_newline", "model.image_newline"),
)
