# SPDX-License-Identifier: Apache-2.0
"""Texts to token ids, some at a time: of a text that it cuts the tokenizer also remembers what is cut off."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tokenizers import Tokenizer

from .emulate import Text

_MOST_TEXTS = 256
_MOST_CHARACTERS = 1 << 20


def encoded(tokenizer: Tokenizer, texts: Iterable[str]) -> Iterator[Text]:
    """Ids and segments of each text, in order; no more texts are taken than what is asked for needs."""
    for some in _batches(texts):
        for encoding in tokenizer.encode_batch(some):
            yield Text(encoding.ids, encoding.type_ids, encoding.offsets)


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
