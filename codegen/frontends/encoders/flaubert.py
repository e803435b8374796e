# SPDX-License-Identifier: Apache-2.0
"""FlauBERT (Le et al., 2019, arXiv:1912.05372): XLM of French, maybe with norms before its blocks. Names as in
`transformers`."""

from __future__ import annotations

from ..bases.xlm_like import HARMLESS_KEYS, XlmLike

__all__ = ["HARMLESS_KEYS"]

MODEL_TYPE = "flaubert"
FAMILY = XlmLike("Flaubert", "FlaubertTokenizer", may_norm_first=True)
