# SPDX-License-Identifier: Apache-2.0
"""A model's shared library: sessions that answer many texts with several threads."""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ._texts import Packed


class _Texts(ctypes.Structure):
    """As in texts.hpp."""

    _fields_ = (("data", ctypes.c_void_p), ("offsets", ctypes.c_void_p), ("wide", ctypes.c_int32))


class Session:
    """Threads and their memory. Calls of several Python threads take turns; other Python threads run meanwhile.

    A process that was forked opens threads of its own at its first call.
    """

    def __init__(self, library: str, name: str, threads: int, plain_text: bool, huge_pages: bool) -> None:
        if not hasattr(threads, "__index__"):  # of NumPy's integers, too
            raise TypeError(f"threads: {threads!r} is not a number from 0 to 64")
        if not 0 <= threads <= 64:
            raise ValueError(f"threads: {threads} is not a number from 0 to 64")
        self._library = ctypes.CDLL(library)
        self._name = name
        self._asked = threads, plain_text
        if huge_pages:
            self._function("use_huge_pages", ctypes.c_size_t, ())()
        self._lock = threading.Lock()
        self._session = 0
        self._open()
        _sessions.add(self)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Calls are made inside, those of one caller behind each other. Texts are read before: what makes them may take
        long, or ask the same model."""
        with self._lock:
            if not self._session:
                self._open()
            yield

    def call(self, first: Packed, second: Packed | None, begin: int, count: int, outputs: ctypes.Structure) -> None:
        """`count` texts, or pairs, from the text `begin` on, whose memory the caller keeps alive; `outputs` as the C++
        of the task has them. RuntimeError where the model refuses one."""
        texts, pair = (None if packed is None else ctypes.byref(_from(packed, begin)) for packed in (first, second))
        status = self._function("session_run")(self._session, texts, pair, count, ctypes.byref(outputs))
        if status != 0:
            describe = self._function("describe", ctypes.c_char_p, (ctypes.c_int,))
            raise RuntimeError(f"{self._name}: {describe(status).decode()}")

    def calls(self, count: int, most: int) -> Iterator[tuple[int, int]]:
        """Begins and sizes of the calls for so many texts, at most `most` for each thread: Python sees Ctrl-C between
        them."""
        most *= self.threads
        return ((begin, min(most, count - begin)) for begin in range(0, count, most))

    def _open(self) -> None:
        """A new session."""
        pointer, number = ctypes.c_void_p, ctypes.c_int32
        self._function("session_run", number, (pointer, pointer, pointer, ctypes.c_size_t, pointer))
        self._function("session_close", None, (pointer,))
        self._session = self._function("session_open", pointer, (ctypes.c_uint32, number))(*self._asked) or 0
        if not self._session:
            raise MemoryError(f"{self._name}: memory or a thread was refused")
        self.threads = self._function("session_threads", ctypes.c_uint32, (pointer,))(self._session)

    def _forget(self) -> None:
        """In a process that was just forked. What its parent has is left alone: the threads are not in this one, nor is
        one that has the lock."""
        self._lock = threading.Lock()
        self._session = 0

    def _function(self, name: str, result: Any = None, arguments: tuple[Any, ...] | None = None) -> Any:
        """`etch_NAME_…`, which lets other Python threads run while it works."""
        function = getattr(self._library, f"etch_{self._name}_{name}")
        if arguments is not None:
            function.restype, function.argtypes = result, arguments
        return function

    def __del__(self) -> None:
        if getattr(self, "_session", 0):
            self._function("session_close")(self._session)
            self._session = 0


_sessions: weakref.WeakSet[Session] = weakref.WeakSet()


def _forget_all() -> None:
    for session in _sessions:
        session._forget()


os.register_at_fork(after_in_child=_forget_all)


def address(array: np.ndarray) -> int:
    return array.ctypes.data


def _from(texts: Packed, begin: int) -> _Texts:
    """From the text `begin` on."""
    data, offsets, wide, _, _ = texts
    return _Texts(data, offsets + begin * (8 if wide else 4), wide)
