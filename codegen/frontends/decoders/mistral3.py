# SPDX-License-Identifier: Apache-2.0
"""Mistral Small 3.1 and Ministral 3 as they are published, beside an encoder of images: their texts alone, read as
`mistral` or `ministral3` has them. Names as in `transformers`."""

from __future__ import annotations

from ..bases import decoder_half
from ..bases.decoder_half import DecoderHalf
from . import ministral3, mistral

MODEL_TYPE = "mistral3"
HARMLESS_KEYS = decoder_half.HARMLESS_KEYS | {"spatial_merge_size"}

FAMILY = DecoderHalf("Mistral3", {each.MODEL_TYPE: each for each in (mistral, ministral3)}, tied=True)
