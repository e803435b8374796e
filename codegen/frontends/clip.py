# SPDX-License-Identifier: Apache-2.0
"""The texts' half of a whole CLIP: `CLIPModel.get_text_features` of `transformers`."""

from __future__ import annotations

from .bases import text_half
from .clip_text_model import FAMILY

MODEL_TYPE = "clip"
HARMLESS_KEYS = text_half.HARMLESS_KEYS
read_limits, build_graph = FAMILY.whole_limits, FAMILY.whole_graph
