# SPDX-License-Identifier: Apache-2.0
"""BERT: an encoder with the head of one of its classes, or of sentence-transformers. Names as in `transformers`. Of
what was published under its model type with code of its own, Jina's embeddings v2, MosaicBERT and DNABERT-2 are read,
whose scores fall with the distance of a key."""

from __future__ import annotations

from ..bases import alibi_bert, bert_like

MODEL_TYPE = "bert"
HARMLESS_KEYS = alibi_bert.HARMLESS_KEYS
FAMILY = alibi_bert.Family(bert_like.Family("Bert", "bert."))
