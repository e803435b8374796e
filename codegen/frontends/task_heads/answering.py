# SPDX-License-Identifier: Apache-2.0
"""`*ForQuestionAnswering`; FlauBERT and XLM have another class of this name, and call this one `Simple`."""

from __future__ import annotations

from ...ir.graph import Head
from ...tasks.answering import ENDS, Answering
from ..shared import parts
from ..shared.rows import HeadOps, Rows


def _head(rows: Rows) -> HeadOps:
    """A linear on each row, `qa_outputs` in most families, `classifier` in ModernBERT."""
    source = "qa_outputs" if "qa_outputs.weight" in rows.tensors else "classifier"
    out = "ends"
    linear = parts.linear(rows.tensors, "qa_outputs", [source], (ENDS, rows.width), rows.value, out, exact=True)
    return (linear,), {out: ENDS}, Head(Answering(), out)


HEADS = {
    "ForQuestionAnswering": _head,
    **{f"{family}ForQuestionAnsweringSimple": _head for family in ("Flaubert", "XLM")},
}
