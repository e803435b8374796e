# SPDX-License-Identifier: Apache-2.0
"""What stands around the texts of an input: special tokens, and padding behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class TemplatePart:
    """A special token, by its id, or the place of the first (A) or second text (B), and the segment of its tokens."""

    content: int | Literal["A", "B"]
    segment: int


@dataclass(frozen=True)
class Padding:
    """Of a model that reads it as any other token: `padding="max_length"` of `transformers`, on the right."""

    id: int
    tokens: int  # that every input has then


@dataclass(frozen=True)
class Template:
    """The special tokens around one text and around two, and behind them."""

    single: tuple[TemplatePart, ...]
    pair: tuple[TemplatePart, ...]
    cuts_first: bool = False  # of a pair that does not fit, the first text only; else the longer one first
    padding: Padding | None = None

    @property
    def segments_of_one(self) -> int:
        """How many a model needs for one text."""
        return 1 + max(part.segment for part in self.single)

    @property
    def segments(self) -> int:
        """How many a model needs for two texts."""
        return 1 + max(part.segment for part in self.pair)

    @property
    def special_ids(self) -> tuple[int, ...]:
        """Of all special tokens in it, each once, in the order of their first use."""
        parts = (*self.single, *self.pair)
        padding = () if self.padding is None else (self.padding.id,)
        return tuple(dict.fromkeys((*(part.content for part in parts if isinstance(part.content, int)), *padding)))


def bert_template(
    classify_id: int,
    separate_id: int,
    second_segment: int = 1,
    separators: int = 1,
    first_segment: int = 0,
    behind_first: Sequence[int] = (),
) -> Template:
    """`[CLS] A [SEP]`, and `[CLS] A [SEP] B [SEP]` with B and its separator in the second segment; so many separators
    between A and B, [CLS] in the first segment or one of its own, in pairs with tokens behind A."""
    single = (TemplatePart(classify_id, first_segment), TemplatePart("A", 0), TemplatePart(separate_id, 0))
    begin, first, end = single
    behind = (TemplatePart(token, 0) for token in behind_first)
    second = TemplatePart("B", second_segment), TemplatePart(separate_id, second_segment)
    pair = (begin, first, *behind, *(end,) * separators, *second)
    return Template(single, pair)
