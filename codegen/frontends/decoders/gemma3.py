# SPDX-License-Identifier: Apache-2.0
"""Gemma 3 as it is published beside an encoder of images, with 4 billion weights and more: its texts alone, read as
`gemma3_text` has them. Names as in `transformers`."""

from __future__ import annotations

from ...load.config import Config
from ..bases import decoder_half
from ..bases.decoder_half import DecoderHalf
from ..shared import parts
from . import gemma3_text

MODEL_TYPE = "gemma3"
HARMLESS_KEYS = decoder_half.HARMLESS_KEYS | {"boi_token_index", "eoi_token_index", "mm_tokens_per_image"}
# What published folders do not say of their texts, as the library's configuration has it.
_USUAL = {
    **{"vocab_size": 262_208, "max_position_embeddings": 131_072, "hidden_size": 2304, "intermediate_size": 9216},
    "num_hidden_layers": 26,
}


def _check(texts: Config) -> None:
    """The whole model's masks are those of the past, though the window becomes another one."""
    if texts.values.get(gemma3_text.BOTH_WAYS) not in (None, False):
        raise parts.refuse("config-not-supported", f"{gemma3_text.BOTH_WAYS}: of texts alone (gemma3_text)")


FAMILY = DecoderHalf("Gemma3", {gemma3_text.MODEL_TYPE: gemma3_text}, tied=True, usual=_USUAL, check=_check)
