# SPDX-License-Identifier: Apache-2.0
"""Windows of a context and the best span of their logits, as the question-answering pipeline of `transformers` 4 finds
it and `runtime/src/decode/answers.cpp` does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..library_tokenizer.wheel_tokenizer import WheelTokenizer

WINDOW, STRIDE, LONGEST, SPANS = 384, 128, 15, 12  # tokens; spans of a window for one answer


class Window(NamedTuple):
    """One of the texts that are asked for a row: a `Text` with more."""

    ids: Sequence[int]
    segments: Sequence[int]
    offsets: Sequence[tuple[int, int]]
    row: int
    context: tuple[int, int]  # tokens [begin, end)
    words: Sequence[int | None]  # the word that each token is of
    keys: int | None = None  # all tokens are attended to


def windows_of(tokenizer: WheelTokenizer, max_tokens: int, row: int, question: str, context: str) -> list[Window]:
    """At least one; a question that leaves no room for a long context is cut."""
    window = min(max_tokens, WINDOW)
    most = window - tokenizer.num_special_tokens_to_add(is_pair=True)
    stride = min(window // 2, STRIDE, most - 1)
    tokenizer.no_truncation()
    asked = tokenizer.encode(question, add_special_tokens=False)
    told = len(tokenizer.encode(context, add_special_tokens=False).ids)
    left = most - stride - 1
    if len(asked.ids) + told > most and len(asked.ids) > left:
        question = question[: asked.offsets[left - 1][1]] if left else ""
    whole = tokenizer.encode(question, context)
    inside = [i for i, sequence in enumerate(whole.sequence_ids) if sequence == 1]
    if not inside:
        return [Window(whole.ids, whole.type_ids, whole.offsets, row, (0, 0), whole.word_ids)]
    begin, end = inside[0], inside[-1] + 1
    room = window - (len(whole.ids) - (end - begin))
    found: list[Window] = []
    for first in range(begin, end, max(room - stride, 1)):  # what fits in one window may leave no room for others
        last = min(first + room, end)
        kept = [*range(begin), *range(first, last), *range(end, len(whole.ids))]
        columns = (whole.ids, whole.type_ids, whole.offsets, whole.word_ids)
        ids, segments, offsets, words = ([column[i] for i in kept] for column in columns)
        found.append(Window(ids, segments, offsets, row, (begin, begin + last - first), words))
        if last == end:
            break
    return found


def best_answer(context: str, windows: Sequence[Window], outputs: Sequence[NDArray[np.float32]]) -> str:
    """The text of the answer with the largest score; of equal scores the first."""
    scores: dict[str, float] = {}
    texts: dict[str, str] = {}
    for window, logits in zip(windows, outputs, strict=True):
        for score, first, last in _spans(logits, *window.context):
            text = context[_begin(window, first) : _end(window, last)]
            texts.setdefault(text.lower(), text)
            scores[text.lower()] = scores.get(text.lower(), 0.0) + score
    return texts[max(scores, key=lambda text: scores[text])] if scores else ""


def _spans(logits: NDArray[np.float32], begin: int, end: int) -> list[tuple[float, int, int]]:
    """Score, first and last token of the best ones."""
    starts, ends = (_softmax(np.append(logits[:1, column], logits[begin:end, column]))[1:] for column in (0, 1))
    scores = np.tril(np.triu(np.outer(starts, ends)), LONGEST - 1)
    found = [(float(scores[i, k]), i, k) for i, k in zip(*np.nonzero(scores), strict=True)]
    found.sort(key=lambda span: -span[0])
    return [(score, begin + int(i), begin + int(k)) for score, i, k in found[:SPANS]]


def _softmax(values: NDArray[np.float32]) -> NDArray[np.float64]:
    powers = np.exp(values.astype(np.float64) - float(values.max()))
    return powers / powers.sum()


def _begin(window: Window, token: int) -> int:
    """The character where the token's word begins in this window."""
    while token > window.context[0] and window.words[token - 1] == window.words[token]:
        token -= 1
    return window.offsets[token][0]


def _end(window: Window, token: int) -> int:
    while token + 1 < window.context[1] and window.words[token + 1] == window.words[token]:
        token += 1
    return window.offsets[token][1]
