# SPDX-License-Identifier: Apache-2.0
"""Gemma 4 as it is published, beside encoders of images and sound: its texts alone, read as `gemma4_text` has them.
Names as in `transformers`."""

from __future__ import annotations

from ..bases import decoder_half
from ..bases.decoder_half import DecoderHalf
from . import gemma4_text

MODEL_TYPE = "gemma4"
_HARMLESS = """
    audio_config audio_token_id boa_token_id boi_token_id eoa_token_id eoa_token_index eoi_token_id video_token_id
    vision_soft_tokens_per_image
"""
HARMLESS_KEYS = decoder_half.HARMLESS_KEYS | frozenset(_HARMLESS.split())
_NOTE = "a text's tokens of images or sound are read as words of their own: the library reads the padding's"
_OTHERS = ("vision_tower", "audio_tower", "embed_vision", "embed_audio")

FAMILY = DecoderHalf(
    "Gemma4",
    {gemma4_text.MODEL_TYPE: gemma4_text},
    tied=True,
    names=decoder_half.NAMES,
    older_logits=None,
    note=_NOTE,
    others=tuple(f"{prefix}{part}.*" for prefix in ("", "model.") for part in _OTHERS),
)
