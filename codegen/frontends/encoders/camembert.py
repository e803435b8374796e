# SPDX-License-Identifier: Apache-2.0
"""CamemBERT: RoBERTa with a SentencePiece tokenizer. Names as in `transformers`."""

from __future__ import annotations

from ..bases.roberta_like import Family

MODEL_TYPE = "camembert"
FAMILY = Family("Camembert", "CamembertTokenizer")
