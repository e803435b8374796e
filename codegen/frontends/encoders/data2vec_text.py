# SPDX-License-Identifier: Apache-2.0
"""data2vec's encoder of texts (Baevski et al., 2022, arXiv:2202.03555): RoBERTa with names of its own."""

from __future__ import annotations

from ..bases.roberta_like import Family

MODEL_TYPE = "data2vec-text"
FAMILY = Family("Data2VecText", prefix="data2vec_text.")
