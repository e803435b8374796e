# SPDX-License-Identifier: Apache-2.0
"""XLM-RoBERTa: RoBERTa with a SentencePiece tokenizer. Names as in `transformers`, or those of Jina's code, with which
jina-reranker-v2 and jina-embeddings-v3 were published: the latter with the adapter of the task that `default_task` of
config.json names, or with none."""

from __future__ import annotations

from ..bases import flash_roberta
from ..bases.roberta_like import Family

MODEL_TYPE = "xlm-roberta"
HARMLESS_KEYS = flash_roberta.HARMLESS_KEYS
FAMILY = flash_roberta.Family(Family("XLMRoberta", "XLMRobertaTokenizer"))
