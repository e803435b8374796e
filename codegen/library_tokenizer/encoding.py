# SPDX-License-Identifier: Apache-2.0
"""Texts to token ids, some at a time: of a text that it cuts the tokenizer also remembers what is cut off."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..errors import EtchError
from ..ir.program import Program
from ..ir.text import Text
from .wheel_tokenizer import WheelTokenizer

_MOST_TEXTS = 256
_MOST_CHARACTERS = 1 << 20


def encoded(tokenizer: WheelTokenizer, texts: Iterable[str]) -> Iterator[Text]:
    """Ids and segments of each text, in order; no more texts are taken than what is asked for needs."""
    for some in _batches(texts):
        for encoding in tokenizer.encode_batch(some):
            yield Text(encoding.ids, encoding.type_ids, encoding.offsets)


def takes(program: Program, ids: Sequence[int]) -> bool:
    """Whether a model computes a text of these tokens: without any it has nothing to compute, unless its target begins
    with the text and something is read in its place."""
    return bool(ids) or (program.target_rules is not None and program.target_rules.empty is not None)


def check_taken(program: Program, number: int, text: Text, stage: str) -> Text:
    """The text, the so-many-th of a file. EtchError where the model refuses it."""
    if not takes(program, text.ids):
        message = f"the tokenizer makes no tokens of text {number}: the model refuses it"
        raise EtchError("text-without-tokens", stage, message)
    return text


def _batches(texts: Iterable[str]) -> Iterator[list[str]]:
    some: list[str] = []
    size = 0
    for text in texts:
        some.append(text)
        size += len(text)
        if len(some) == _MOST_TEXTS or size >= _MOST_CHARACTERS:
            yield some
            some, size = [], 0
    if some:
        yield some
