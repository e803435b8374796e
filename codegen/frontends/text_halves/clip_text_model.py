# SPDX-License-Identifier: Apache-2.0
"""CLIP's encoder of texts (Radford et al., 2021, arXiv:2103.00020): a token sees those before it, and the row of the
end token is the embedding, through a linear where the class has one. Names as in `transformers`."""

from __future__ import annotations

from ..bases import clip_texts
from . import clip

MODEL_TYPE = "clip_text_model"
HARMLESS_KEYS = clip_texts.HARMLESS_KEYS
read_limits, build_graph = clip.FAMILY.text_limits, clip.FAMILY.text_graph
