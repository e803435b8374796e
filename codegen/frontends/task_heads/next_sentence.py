# SPDX-License-Identifier: Apache-2.0
"""`*ForNextSentencePrediction`."""

from __future__ import annotations

from ...tasks.next_sentence import NAMES, NextSentence
from ..shared.rows import HeadOps, Rows


def _head(rows: Rows) -> HeadOps:
    """BertOnlyNSPHead behind the pooler."""
    assert rows.pooled is not None
    return rows.pooled("cls.seq_relationship", NextSentence(NAMES, "softmax"))


HEADS = {
    f"{family}ForNextSentencePrediction": _head for family in ("Bert", "Ernie", "FNet", "MegatronBert", "MobileBert")
}
