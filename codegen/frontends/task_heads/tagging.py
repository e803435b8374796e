# SPDX-License-Identifier: Apache-2.0
"""`*ForTokenClassification`."""

from __future__ import annotations

from ...ir.graph import Head, Softmax
from ...tasks.tagging import Tagging
from ..shared import parts
from ..shared.rows import HeadOps, Rows


def _head(rows: Rows) -> HeadOps:
    """A linear on each row, and a softmax."""
    labels = rows.config.labels()
    shape, out = (len(labels), rows.width), "tags"
    linear = parts.linear(rows.tensors, "classifier", [rows.tags], shape, rows.value, out, exact=True)
    return (linear, Softmax(out)), {out: len(labels)}, Head(Tagging(labels), out)


HEADS = {"ForTokenClassification": _head}
