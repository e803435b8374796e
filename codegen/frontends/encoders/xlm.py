# SPDX-License-Identifier: Apache-2.0
"""XLM (Conneau and Lample, 2019, arXiv:1901.07291): an encoder with an embedding of languages, of which the
`default_language` of the configuration may name one. Names as in `transformers`."""

from __future__ import annotations

from ..bases.xlm_like import HARMLESS_KEYS, XlmLike

__all__ = ["HARMLESS_KEYS"]

MODEL_TYPE = "xlm"
FAMILY = XlmLike("XLM", "XLMTokenizer")
