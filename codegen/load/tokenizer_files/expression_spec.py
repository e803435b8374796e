# SPDX-License-Identifier: Apache-2.0
"""What tokenizer.json says of Splits by expressions, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...expressions.syntax import Tree


@dataclass(frozen=True)
class ExpressionLevel:
    """A Split by an expression: what it finds, and what lies between, are words; or one of both is dropped."""

    of: Tree
    cut: Literal["isolated", "removed", "others_removed"]


@dataclass(frozen=True)
class ExpressionSegmenter:
    """Splits by expressions, each of what the one before it leaves, then ByteLevel without one of its own."""

    levels: tuple[ExpressionLevel, ...]
    json: str  # the same as tokenizer.json has it, without ByteLevel
