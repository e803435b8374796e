# SPDX-License-Identifier: Apache-2.0
"""SigLIP 2's encoder of texts (Tschannen et al., 2025, arXiv:2502.14786), which is SigLIP's; `siglip` may be whole ones
of it, too."""

from __future__ import annotations

from ..bases import siglip_texts
from . import siglip2

MODEL_TYPE = "siglip2_text_model"
HARMLESS_KEYS = siglip_texts.HARMLESS_KEYS
read_limits, build_graph = siglip2.FAMILY.text_limits, siglip2.FAMILY.text_graph
