# SPDX-License-Identifier: Apache-2.0
"""Models that answer questions with spans of a context."""

from __future__ import annotations

import ctypes
from typing import NamedTuple

import numpy as np

from ._session import Session, address
from ._texts import Packed, Texts, paired, text_part

_SPAN = np.dtype([("score", np.float32), ("begin", np.uint32), ("end", np.uint32)])
_WINDOWS = 1000  # of a context: of more the worst answers are left out, as the program does it
_AT_ONCE = 32  # questions for each thread in one call: they take one after the other


class Options(ctypes.Structure):
    """As in etch.h."""

    _fields_ = (
        *((name, ctypes.c_uint32) for name in ("top", "window", "stride", "longest")),
        ("no_answer", ctypes.c_bool),
        ("by_tokens", ctypes.c_bool),
    )


class _Outputs(ctypes.Structure):
    """As in answers.hpp."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("answers", "counts", "windows", "tokens", "truncated", "room")),
        ("room_of_each", ctypes.c_uint32),
        ("most", ctypes.c_uint32),
        ("options", Options),
    )


class Span(NamedTuple):
    """A part of a context; an empty one is "no answer"."""

    text: str
    score: float
    begin: int  # bytes [begin, end) of the context as UTF-8
    end: int


class Questions(Session):
    """A session of such a model."""

    def run(self, questions: Texts, contexts: Texts, options: Options) -> list[list[Span]]:
        """Of each question the best `options.top` answers in the context of the same number, best first."""
        pairs = paired(questions, contexts)
        with self.turn():
            return [
                spans
                for pair in pairs
                for begin, count in self.calls(pair[0][3], _AT_ONCE)
                for spans in self._run(*pair, begin, count, options)
            ]

    def _run(self, questions: Packed, contexts: Packed, begin: int, count: int, options: Options) -> list[list[Span]]:
        most = options.top
        answers = np.empty((count, most), _SPAN)
        numbers = np.empty((3, count), np.int32)  # of answers, windows, tokens
        truncated = np.empty(count, np.uint8)
        room = np.empty((self.threads, _WINDOWS * (2 * most + 12)), _SPAN)
        places = map(address, (answers, *numbers, truncated, room))
        self.call(questions, contexts, begin, count, _Outputs(*places, room.shape[1], most, options))
        return [
            [Span(text_part(contexts, i, first, end), score, first, end) for score, first, end in row[:size].tolist()]
            for i, (row, size) in enumerate(zip(answers, numbers[0].tolist(), strict=True), begin)
        ]
