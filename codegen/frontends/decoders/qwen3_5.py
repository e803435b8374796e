# SPDX-License-Identifier: Apache-2.0
"""Qwen 3.5 as it is published, beside an encoder of images: its texts alone, read as `qwen3_5_text` has them. Names as
in `transformers`."""

from __future__ import annotations

from types import ModuleType

from ...load.tokenizer_files.tokenizer_config import AS_QWEN3_5
from ..bases import decoder_half
from ..bases.decoder_half import NAMES, DecoderHalf
from . import qwen3_5_text

MODEL_TYPE = "qwen3_5"
HARMLESS_KEYS = decoder_half.HARMLESS_KEYS | {"video_token_id", "vision_end_token_id", "vision_start_token_id"}


def half_of(texts: ModuleType, name: str, tags: str | None = None) -> DecoderHalf:
    """Of classes with this name whose texts the front-end `texts` reads."""
    return DecoderHalf(
        name,
        {texts.MODEL_TYPE: texts},
        tied=False,
        tokenizer_class=AS_QWEN3_5,
        names=NAMES,
        others=("model.visual.*", "visual.*"),
        tags=tags,
    )


FAMILY = half_of(qwen3_5_text, "Qwen3_5", tags="score")
