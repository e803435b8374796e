# SPDX-License-Identifier: Apache-2.0
"""Qwen 3.5 with experts as it is published, beside an encoder of images, as Qwen3.5-35B-A3B: its texts alone, read as
`qwen3_5_moe_text` has them. Names as in `transformers`, which has no classifier of it."""

from __future__ import annotations

from ..bases import qwen3_5_texts
from ..bases.qwen3_5_texts import Whole, family_of_texts
from . import qwen3_5_moe_text

MODEL_TYPE = "qwen3_5_moe"
HARMLESS_KEYS = qwen3_5_texts.HARMLESS_KEYS
FAMILY = Whole(family_of_texts(qwen3_5_moe_text.FAMILY, "Qwen3_5Moe"), qwen3_5_moe_text.HARMLESS_KEYS)
