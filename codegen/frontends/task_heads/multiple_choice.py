# SPDX-License-Identifier: Apache-2.0
"""`*ForMultipleChoice`."""

from __future__ import annotations

from ...tasks.multiple_choice import MultipleChoice
from ..shared.rows import HeadOps, Rows


def _head(rows: Rows) -> HeadOps:
    """A linear with one output, called `classifier` in every family, behind what its classifiers of pairs have."""
    assert rows.pooled is not None
    return rows.pooled("classifier", MultipleChoice())


HEADS = {"ForMultipleChoice": _head}
