# SPDX-License-Identifier: Apache-2.0
"""Qwen 3.5 with experts as it is published, beside an encoder of images, as Qwen3.5-35B-A3B: its texts alone, read as
`qwen3_5_moe_text` has them. Names as in `transformers`, which has no classifier of it."""

from __future__ import annotations

from . import qwen3_5, qwen3_5_moe_text

MODEL_TYPE = "qwen3_5_moe"
HARMLESS_KEYS = qwen3_5.HARMLESS_KEYS
FAMILY = qwen3_5.half_of(qwen3_5_moe_text, "Qwen3_5Moe")
