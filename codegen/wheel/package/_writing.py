# SPDX-License-Identifier: Apache-2.0
"""Generative models: translate, summarize, generate."""

from __future__ import annotations

import ctypes
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ._session import Session, address
from ._texts import Packed, Texts, packed

_LONGEST_PIECE = 1024  # bytes of a token's text, and a space before it
_MOST_BYTES = 64 << 20  # for what is written in one call
_AT_ONCE = 32  # texts for each thread and beam in one call: a worker takes as many as there are beams, again and again
_REASONS = ("end", "length", "capacity")
# What tokens may be drawn by, from the least to the most; a temperature between 0 and 2^-10 the library refuses.
_GIVEN = {"temperature": (0, 1024), "top_k": (0, 2**32 - 1), "top_p": (2**-24, 1), "seed": (0, 2**64 - 1)}


class _Sampling(ctypes.Structure):
    """As in sampling.hpp."""

    _fields_ = (
        ("seed", ctypes.c_uint64),
        ("text", ctypes.c_uint32),
        ("temperature", ctypes.c_float),
        ("top_k", ctypes.c_uint32),
        ("top_p", ctypes.c_float),
    )


class _Outputs(ctypes.Structure):
    """As in writing.hpp."""

    _fields_ = (
        ("texts", ctypes.c_void_p),
        ("capacity", ctypes.c_uint64),
        *((name, ctypes.c_void_p) for name in ("bytes", "scores", "ended", "tokens", "truncated")),
        *((name, ctypes.c_uint32) for name in ("max_target", "beams")),
        ("sampling", _Sampling),
        ("given", ctypes.c_uint32),
        ("in_text", ctypes.c_uint32),
    )


class Written(NamedTuple):
    """Item i of each is of text i."""

    texts: list[str]
    scores: npt.NDArray[np.float32]  # [n]: sum of log-probabilities, of a search divided by length ^ penalty
    reasons: list[str]  # why no more was written: the model's "end", or the "length" that it may have
    tokens: npt.NDArray[np.int32]  # [n]: of the text that was read, special tokens included
    truncated: npt.NDArray[np.bool_]  # [n]: it had more than the model takes


_NOTHING = Written([], np.empty(0, np.float32), [], np.empty(0, np.int32), np.empty(0, np.bool_))


class Writer(Session):
    """A session of such a model."""

    def __init__(
        self, library: str, name: str, most: tuple[int, int], threads: int, plain_text: bool, huge_pages: bool
    ) -> None:
        """`most`: tokens that it writes, and beams."""
        super().__init__(library, name, threads, plain_text, huge_pages)
        self._max_target, self._beams = most

    def run(
        self, texts: Texts, max_length: int, beams: int, *, in_text: bool = False, **drawn: float | None
    ) -> Written:
        """What it writes for all texts, which have all the special tokens that they need where these are `in_text`; of
        `drawn` (temperature, top_k, top_p, seed) None is what the model has. ValueError for numbers that it has not."""
        given = {name: value for name, value in drawn.items() if value is not None}
        ranges = _GIVEN | {"max_length": (0, self._max_target), "beams": (0, self._beams)}
        for name, value in {"max_length": max_length, "beams": beams, **given}.items():
            least, most = ranges[name]
            if not least <= value <= most:
                raise ValueError(f"{name}: {value} is not a number from {least} to {most}")
        if beams > 1 and given.get("temperature", 1) > 0 and given:
            raise ValueError("beams: tokens that are drawn are not searched for")
        outputs = _Outputs(max_target=max_length, beams=beams, sampling=_Sampling(**given), in_text=in_text)
        outputs.given = sum(1 << bit for bit, name in enumerate(_GIVEN) if name in given)
        outputs.capacity = (max_length or self._max_target) * (_LONGEST_PIECE + 1) + 64
        found = [_NOTHING]
        pieces = list(packed(texts))
        with self.turn():
            rounds = min(_AT_ONCE, _MOST_BYTES // (outputs.capacity * self.threads * self._beams))
            for piece in pieces:
                for begin, count in self.calls(piece[3], max(rounds, 1) * self._beams):
                    found.append(self._run(piece, begin, count, outputs))
                    outputs.sampling.text += count
        lists = [[item for one in found for item in one[place]] for place in (0, 2)]
        arrays = [np.concatenate([one[place] for one in found]) for place in (1, 3, 4)]
        return Written(lists[0], arrays[0], lists[1], *arrays[1:])

    def _run(self, texts: Packed, begin: int, count: int, outputs: _Outputs) -> Written:
        written = np.empty((count, outputs.capacity), np.uint8)
        sizes, tokens = np.empty((2, count), np.int32)
        scores = np.empty(count, np.float32)
        ended, truncated = np.empty((2, count), np.uint8)
        outputs.texts = address(written)
        outputs.bytes, outputs.scores, outputs.ended = address(sizes), address(scores), address(ended)
        outputs.tokens, outputs.truncated = address(tokens), address(truncated)
        self.call(texts, None, begin, count, outputs)
        found = [row[:size].tobytes().decode("utf-8", "replace") for row, size in zip(written, sizes, strict=True)]
        return Written(found, scores, [_REASONS[one] for one in ended], tokens, truncated.view(np.bool_))
