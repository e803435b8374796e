# SPDX-License-Identifier: Apache-2.0
"""`*ForTokenClassification`."""

from __future__ import annotations

from ...ir.graph import Head, Softmax
from ...tasks.tagging import Tagging
from ..shared import parts
from ..shared.rows import HeadOps, Rows

_OF_DECODERS = "score"


def _head(rows: Rows) -> HeadOps:
    """A linear on each row, and a softmax. The library's class for all decoders, which calls it `score`, may have it
    without a bias."""
    labels = rows.config.labels()
    shape, out = (len(labels), rows.width), "tags"
    bias = rows.tags != _OF_DECODERS or rows.config.flag("token_classification_bias", True)
    linear = parts.linear(rows.tensors, "classifier", [rows.tags], shape, rows.value, out, exact=True, bias=bias)
    return (linear, Softmax(out)), {out: len(labels)}, Head(Tagging(labels), out)


HEADS = {"ForTokenClassification": _head}
