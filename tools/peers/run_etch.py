# SPDX-License-Identifier: Apache-2.0
"""A generated model as a shared library, through etch_calls.c or etch_writes.c."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable

from .setup import Setup


class _Library:
    def __init__(self, setup: Setup) -> None:
        self._library = ctypes.CDLL(str(setup.model))
        for name in ("peer_kernel", "peer_version"):
            getattr(self._library, name).restype = ctypes.c_char_p
        self.version = self._library.peer_version().decode()
        if setup.kernel and self._library.peer_select_kernel(setup.kernel.encode()) != 0:
            raise RuntimeError(f"kernel {setup.kernel} cannot run here")
        self.detail = "kernel " + self._library.peer_kernel().decode()
        self.threads = self._library.peer_threads(ctypes.c_uint32(setup.threads))


class EtchWriter(_Library):
    def write(self, ids: list[int], beams: int, tokens: int) -> Callable[[], list[int]]:
        array, target = (ctypes.c_int32 * len(ids))(*ids), (ctypes.c_int32 * tokens)()
        count, most, capacity = (ctypes.c_uint32(number) for number in (len(ids), beams, tokens))
        function = self._library.peer_write

        def run() -> list[int]:
            written = function(array, count, most, target, capacity)
            if written == 0:
                raise RuntimeError("nothing was written")
            return target[:written]

        return run


class Etch(_Library):
    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._library.peer_text.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_float)]
        self._outputs = (ctypes.c_float * self._library.peer_outputs())()
        self.batches = (0,)  # as many together as fit the arena

    def call(self, ids: list[int]) -> Callable[[], list[float]]:
        array = (ctypes.c_int32 * len(ids))(*ids)
        count, outputs, tokens = ctypes.c_uint32(len(ids)), self._outputs, self._library.peer_tokens

        def run() -> list[float]:
            _check(tokens(array, count, outputs))
            return list(outputs)

        return run

    def answer(self, text: str) -> list[float]:
        raw = text.encode()
        _check(self._library.peer_text(raw, len(raw), self._outputs))
        return list(self._outputs)

    def tokenize(self, texts: list[str]) -> Callable[[], int]:
        joined, ends = _joined(texts)
        function = self._library.peer_tokenize
        function.restype = ctypes.c_size_t
        function.argtypes = [ctypes.c_char_p, ctypes.POINTER(ctypes.c_size_t), ctypes.c_size_t]
        return lambda: function(joined, ends, len(texts))

    def batch(self, texts: list[str], size: int) -> Callable[[], list[list[float]]]:
        joined, ends = _joined(texts)
        width = len(self._outputs)
        outputs = (ctypes.c_float * (width * len(texts)))()
        function = self._library.peer_batch
        function.argtypes = [ctypes.c_char_p, ctypes.POINTER(ctypes.c_size_t), ctypes.c_size_t, type(outputs)]

        def run() -> list[list[float]]:
            _check(function(joined, ends, len(texts), outputs))
            return [outputs[begin : begin + width] for begin in range(0, len(outputs), width)]

        return run


def _joined(texts: list[str]) -> tuple[bytes, ctypes.Array[ctypes.c_size_t]]:
    """All bytes, and where each text ends."""
    raw = [text.encode() for text in texts]
    return b"".join(raw), (ctypes.c_size_t * len(raw))(*itertools.accumulate(map(len, raw)))


def _check(status: int) -> None:
    if status != 0:
        raise RuntimeError(f"status {status}")
