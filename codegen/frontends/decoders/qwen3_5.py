# SPDX-License-Identifier: Apache-2.0
"""Qwen 3.5 as it is published, beside an encoder of images: its texts alone, read as `qwen3_5_text` has them. Names as
in `transformers`."""

from __future__ import annotations

from ..bases import qwen3_5_texts
from ..bases.qwen3_5_texts import Whole, family_of_texts
from . import qwen3_5_text

MODEL_TYPE = "qwen3_5"
HARMLESS_KEYS = qwen3_5_texts.HARMLESS_KEYS
FAMILY = Whole(family_of_texts(qwen3_5_text.FAMILY, "Qwen3_5", tags="score"), qwen3_5_text.HARMLESS_KEYS)
