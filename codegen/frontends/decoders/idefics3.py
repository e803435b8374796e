# SPDX-License-Identifier: Apache-2.0
"""Idefics 3, a decoder beside an encoder of images: its texts alone, read as `llama` has them. Names as in
`transformers`."""

from __future__ import annotations

from ..bases import decoder_half
from ..bases.decoder_family import Names
from ..bases.decoder_half import DecoderHalf
from . import llama

MODEL_TYPE = "idefics3"
HARMLESS_KEYS = decoder_half.HARMLESS_KEYS | {"scale_factor"}
NAMES = Names("model.text_model.", alone="text_model.")
OF_IMAGES = tuple(f"{prefix}{part}.*" for prefix in ("", "model.") for part in ("vision_model", "connector"))

FAMILY = DecoderHalf(
    "Idefics3",
    {llama.MODEL_TYPE: llama},
    tied=False,
    names=NAMES,
    older_logits=None,
    others=OF_IMAGES,
)
