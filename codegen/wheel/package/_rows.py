# SPDX-License-Identifier: Apache-2.0
"""Models that answer a text, or a pair, with a row: classify, embed, regress, tag."""

from __future__ import annotations

import ctypes
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ._session import Session, address
from ._texts import Packed, Texts, packed, paired

_SPAN = np.dtype([("label", np.uint32), ("score", np.float32), ("begin", np.uint32), ("end", np.uint32)])
_TAGGED_AT_ONCE = 1024  # texts, each with room for as many spans as tokens


class _Outputs(ctypes.Structure):
    """As in rows.hpp."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("values", "logits", "labels", "tokens", "truncated")),
        *((name, ctypes.c_void_p) for name in ("spans", "span_counts")),
        ("aggregation", ctypes.c_int32),
    )


class Answers(NamedTuple):
    """Row i of each is of text i."""

    values: npt.NDArray[np.float32]  # [n, width]: probabilities, values, or the embedding
    logits: npt.NDArray[np.float32]  # [n, width] of a classifier, else [0, width]
    labels: npt.NDArray[np.int32]  # [n], of a classifier: index of the largest logit
    tokens: npt.NDArray[np.int32]  # [n], special tokens included
    truncated: npt.NDArray[np.bool_]  # [n]: the text had more tokens than the model takes
    spans: npt.NDArray  # [all spans of a tagger]: label, score, begin, end
    span_counts: npt.NDArray[np.int32]  # [n] of a tagger, else [0]


class Rows(Session):
    """A session of such a model."""

    def __init__(
        self,
        library: str,
        name: str,
        width: int,
        has_logits: bool,
        threads: int,
        plain_text: bool,
        huge_pages: bool,
        most_spans: int = 0,
    ) -> None:
        """`most_spans` of a text, where the model is a tagger: its tokens."""
        super().__init__(library, name, threads, plain_text, huge_pages)
        self._width, self._has_logits, self._most_spans = width, has_logits, most_spans

    def run(self, texts: Texts, second: Texts | None = None, aggregation: int = 0) -> Answers:
        """The answers to all texts, or to all pairs of a text and one of `second`."""
        parts = [(piece, None) for piece in packed(texts)] if second is None else paired(texts, second)
        with self.turn():
            pieces = [self._run(a, b, begin, size, aggregation) for a, b in parts for begin, size in self._ranges(a[3])]
        if len(pieces) == 1:
            return pieces[0]
        return Answers(*(np.concatenate(parts) for parts in zip(*pieces, strict=False))) if pieces else self._empty(0)

    def _ranges(self, count: int) -> list[tuple[int, int]]:
        """Begins and sizes of the calls for so many texts."""
        most = _TAGGED_AT_ONCE if self._most_spans else max(count, 1)
        return [(begin, min(most, count - begin)) for begin in range(0, count, most)] or [(0, 0)]

    def _run(self, first: Packed, second: Packed | None, begin: int, count: int, aggregation: int) -> Answers:
        answers = self._empty(count)
        truncated = np.empty(count, np.uint8)
        spans = np.zeros((count if self._most_spans else 0, self._most_spans), _SPAN)
        outputs = _Outputs(
            *map(address, (answers.values, answers.logits, answers.labels, answers.tokens, truncated)),
            *map(address, (spans, answers.span_counts)), aggregation,
        )  # fmt: skip
        if not self._has_logits:
            outputs.logits = None
        self.call(first, second, begin, count, outputs)
        answers = answers._replace(truncated=truncated.view(np.bool_))
        if self._most_spans:
            written = np.arange(self._most_spans) < answers.span_counts[:, None]
            answers = answers._replace(spans=spans[written])
        return answers

    def _empty(self, count: int) -> Answers:
        rows = count if self._has_logits else 0
        return Answers(
            np.empty((0 if self._most_spans else count, self._width), np.float32),
            np.empty((rows, self._width), np.float32),
            np.empty(count, np.int32),
            np.empty(count, np.int32),
            np.empty(count, np.bool_),
            np.empty(0, _SPAN),
            np.empty(count if self._most_spans else 0, np.int32),
        )
