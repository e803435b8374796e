# SPDX-License-Identifier: Apache-2.0
"""SigLIP's encoder of texts (Zhai et al., 2023, arXiv:2303.15343): CLIP's without a mask. Texts are padded to a fixed
number of tokens, which are all read, and the last row is the embedding, through a linear."""

from __future__ import annotations

from ..bases import siglip_texts
from . import siglip

MODEL_TYPE = "siglip_text_model"
HARMLESS_KEYS = siglip_texts.HARMLESS_KEYS
read_limits, build_graph = siglip.FAMILY.text_limits, siglip.FAMILY.text_graph
