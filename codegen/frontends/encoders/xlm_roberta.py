# SPDX-License-Identifier: Apache-2.0
"""XLM-RoBERTa: RoBERTa with a SentencePiece tokenizer. Names as in `transformers`."""

from __future__ import annotations

from ..bases.roberta_like import Family

MODEL_TYPE = "xlm-roberta"
FAMILY = Family("XLMRoberta", "XLMRobertaTokenizer")
