# SPDX-License-Identifier: Apache-2.0
"""LFM2-VL, a decoder beside an encoder of images: its texts alone, read as `lfm2` has them. Names as in
`transformers`."""

from __future__ import annotations

from ..bases import decoder_half
from ..bases.decoder_half import DecoderHalf
from . import lfm2

MODEL_TYPE = "lfm2_vl"
# Of images alone.
_HARMLESS = """
    do_image_splitting downsample_factor encoder_patch_size max_image_tokens max_num_patches max_pixels_tolerance
    max_tiles min_image_tokens min_tiles projector_bias projector_hidden_size projector_use_layernorm tile_size
    use_image_special_tokens use_thumbnail
"""
HARMLESS_KEYS = decoder_half.HARMLESS_KEYS | frozenset(_HARMLESS.split())

FAMILY = DecoderHalf(
    "Lfm2Vl",
    {lfm2.MODEL_TYPE: lfm2},
    tied=True,
    tied_keys=("tie_embedding", "tie_word_embeddings"),
    names=decoder_half.NAMES,
    older_logits=None,
)
