# SPDX-License-Identifier: Apache-2.0
"""The texts' half of Meta CLIP 2 (Chuang et al., 2025, arXiv:2507.22062): `MetaClip2Model.get_text_features` of
`transformers`. It is CLIP's with XLM-RoBERTa's tokens; the row of the end that the configuration names counts."""

from __future__ import annotations

from ..bases import clip_texts, text_half

MODEL_TYPE = "metaclip_2"
HARMLESS_KEYS = text_half.HARMLESS_KEYS
FAMILY = clip_texts.ClipFamily("MetaClip2", "XLMRobertaTokenizer", old_end=None)
