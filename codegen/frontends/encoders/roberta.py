# SPDX-License-Identifier: Apache-2.0
"""RoBERTa: an encoder with the head of one of its classes, or of sentence-transformers. Names as in `transformers`."""

from __future__ import annotations

from ..bases.roberta_like import Family

MODEL_TYPE = "roberta"
FAMILY = Family("Roberta")
