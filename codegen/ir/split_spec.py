# SPDX-License-Identifier: Apache-2.0
"""Where a text is parted: at single characters, or by expressions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..expressions.syntax import Tree

# What becomes of characters of one kind: each is a word; neighbours are; they are dropped, or all others are; each, or
# each run, ends the word before it or begins the one behind it.
Cut = Literal[
    "isolated", "contiguous", "removed", "others_removed", "with_previous", "with_next", "run_with_previous",
    "run_with_next",
]  # fmt: skip


@dataclass(frozen=True)
class CharacterSplit:
    """A pre-tokenizer that parts a text at single characters."""

    of: str  # which: those that the wheel's pre-tokenizer of this name finds; `words`: word characters as Whitespace
    # has them; or the pattern of a Split, as JSON
    cut: Cut


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
