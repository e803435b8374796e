# SPDX-License-Identifier: Apache-2.0
"""A model's shared library: sessions that answer many texts with several threads."""

from __future__ import annotations

import ctypes
import os
import threading
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ._texts import Packed, Texts, packed

_SPAN = np.dtype([("label", np.uint32), ("score", np.float32), ("begin", np.uint32), ("end", np.uint32)])
_TAGGED_AT_ONCE = 1024  # texts, each with room for as many spans as tokens


class _Texts(ctypes.Structure):
    """As in sessions.cpp."""

    _fields_ = (("data", ctypes.c_void_p), ("offsets", ctypes.c_void_p), ("wide", ctypes.c_int32))


class _Outputs(ctypes.Structure):
    """As in sessions.cpp."""

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


class Session:
    """Threads and their memory. Calls of several Python threads take turns; other Python threads run meanwhile.

    A process that was forked opens threads of its own at its first call.
    """

    def __init__(
        self,
        library: str,
        name: str,
        width: int,
        has_logits: bool,
        threads: int,
        plain_text: bool,
        most_spans: int = 0,
    ) -> None:
        """`most_spans` of a text, where the model is a tagger: its tokens."""
        if not 0 <= threads <= 64:
            raise ValueError(f"threads: {threads} is not a number from 0 to 64")
        self._library = ctypes.CDLL(library)
        self._name, self._width, self._has_logits, self._most_spans = name, width, has_logits, most_spans
        self._asked = threads, plain_text
        self._lock = threading.Lock()
        self._session = 0
        self._open()

    def run(self, texts: Texts, second: Texts | None = None, aggregation: int = 0) -> Answers:
        """The answers to all texts, or to all pairs of a text and one of `second`."""
        with self._lock:
            if self._process != os.getpid():
                self._open()
            if second is None:
                parts = [(piece, None) for piece in packed(texts)]
            else:
                parts = list(zip_longest(packed(texts), packed(second)))
                if any(a is None or b is None or a[3] != b[3] for a, b in parts):
                    raise ValueError("pairs: there are not as many first texts as second ones, in chunks of equal size")
            pieces = [
                self._run(_part(a, begin), b and _part(b, begin), size, aggregation)
                for a, b in parts
                for begin, size in self._ranges(a[3])
            ]
        if len(pieces) == 1:
            return pieces[0]
        return Answers(*(np.concatenate(parts) for parts in zip(*pieces, strict=False))) if pieces else self._empty(0)

    def _ranges(self, count: int) -> list[tuple[int, int]]:
        """Begins and sizes of the calls for so many texts."""
        most = _TAGGED_AT_ONCE if self._most_spans else max(count, 1)
        return [(begin, min(most, count - begin)) for begin in range(0, count, most)] or [(0, 0)]

    def _run(self, first: _Texts, second: _Texts | None, count: int, aggregation: int) -> Answers:
        """Texts of which the caller keeps the memory alive."""
        answers = self._empty(count)
        truncated = np.empty(count, np.uint8)
        spans = np.zeros((count if self._most_spans else 0, self._most_spans), _SPAN)
        outputs = _Outputs(
            *map(_address, (answers.values, answers.logits, answers.labels, answers.tokens, truncated)),
            *map(_address, (spans, answers.span_counts)), aggregation,
        )  # fmt: skip
        if not self._has_logits:
            outputs.logits = None
        pair = None if second is None else ctypes.byref(second)
        status = self._function("session_run")(self._session, ctypes.byref(first), pair, count, ctypes.byref(outputs))
        if status != 0:
            describe = self._function("describe", ctypes.c_char_p, (ctypes.c_int,))
            raise RuntimeError(f"{self._name}: {describe(status).decode()}")
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

    def _open(self) -> None:
        """A new session. What a parent process had is left alone: its threads are not in this one."""
        pointer, number = ctypes.c_void_p, ctypes.c_int32
        self._function("session_run", number, (pointer, pointer, pointer, ctypes.c_size_t, pointer))
        self._function("session_close", None, (pointer,))
        self._session = self._function("session_open", pointer, (ctypes.c_uint32, number))(*self._asked) or 0
        if not self._session:
            raise MemoryError(f"{self._name}: memory or a thread was refused")
        self.threads = self._function("session_threads", ctypes.c_uint32, (pointer,))(self._session)
        self._process = os.getpid()

    def _function(self, name: str, result: Any = None, arguments: tuple[Any, ...] | None = None) -> Any:
        """`etch_NAME_…`, which lets other Python threads run while it works."""
        function = getattr(self._library, f"etch_{self._name}_{name}")
        if arguments is not None:
            function.restype, function.argtypes = result, arguments
        return function

    def __del__(self) -> None:
        if getattr(self, "_session", 0) and self._process == os.getpid():
            self._function("session_close")(self._session)
            self._session = 0


def _part(texts: Packed, begin: int) -> _Texts:
    """From the text `begin` on."""
    data, offsets, wide, _, _ = texts
    return _Texts(data, offsets + begin * (8 if wide else 4), wide)


def _address(array: np.ndarray) -> int:
    return array.ctypes.data
