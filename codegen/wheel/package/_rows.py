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
_AT_ONCE = 512  # texts for each thread in one call: workers take 32 at a time, and wait for the last one at its end
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

    def run(self, texts: Texts, second: Texts | None = None, aggregation: int = 0, before: str = "") -> Answers:
        """The answers to all texts, each behind `before`, or to all pairs of a text and one of `second`."""
        parts: list[tuple[Packed, Packed | None]] = []
        parts += ((piece, None) for piece in packed(texts, before)) if second is None else paired(texts, second)
        answers = self._empty(sum(first[3] for first, _ in parts))
        spans, done = [answers.spans], 0
        with self.turn():
            most = min(_AT_ONCE, max(_TAGGED_AT_ONCE // self.threads, 32)) if self._most_spans else _AT_ONCE
            for one, other in parts:
                for begin, count in self.calls(one[3], most):
                    rows = Answers._make(field[done : done + count] for field in answers)
                    spans.append(self._run(one, other, begin, count, rows, aggregation))
                    done += count
        return answers._replace(spans=np.concatenate(spans))

    def _run(
        self, first: Packed, second: Packed | None, begin: int, count: int, rows: Answers, aggregation: int
    ) -> npt.NDArray:
        """Writes `rows`; the spans of a tagger."""
        spans = np.zeros((count if self._most_spans else 0, self._most_spans), _SPAN)
        outputs = _Outputs(
            *map(address, (rows.values, rows.logits, rows.labels, rows.tokens, rows.truncated)),
            *map(address, (spans, rows.span_counts)), aggregation,
        )  # fmt: skip
        if not self._has_logits:
            outputs.logits = None
        self.call(first, second, begin, count, outputs)
        return spans[np.arange(self._most_spans) < rows.span_counts[:, None]]

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
