# SPDX-License-Identifier: Apache-2.0
"""BERT: an encoder with the head of one of its classes, or of sentence-transformers. Names as in `transformers`."""

from __future__ import annotations

from ..bases.bert_like import Family

MODEL_TYPE = "bert"
FAMILY = Family("Bert", "bert.")
