# SPDX-License-Identifier: Apache-2.0
"""The values of some texts while a program runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..ir import program as p
from ..ir.global_rows import GlobalRows, rows_of_text
from ..ir.row_pooling import RowPooling
from ..ir.text import Text
from .experts import Routes
from .floats import F32Array, QuantizedRows
from .pooled_rows import pooled

Rows = F32Array | QuantizedRows
AWeight = TypeVar("AWeight", bound=p.Weights)
WeightsFor = Callable[[p.LinearWeights, Rows], p.LinearWeights]


class _Value(NamedTuple):
    """What a buffer holds: one row per token of every text, or only one row per text."""

    rows: Rows | Routes
    per_text: bool


class Values:
    """What each buffer holds, and the keys, values and states that are kept."""

    def __init__(self, program: p.Program, texts: Sequence[Text], weights_for: WeightsFor | None = None) -> None:
        self.weights_for = weights_for
        ids = _joined([text.ids for text in texts], program.vocabulary)
        segments = _joined([text.segments for text in texts], program.segments)
        lengths = [len(text.ids) for text in texts]
        for text, length in zip(texts, lengths, strict=True):
            if not 1 <= length <= program.max_tokens or len(text.segments) != length:
                raise ValueError(f"{length} ids and {len(text.segments)} segments, at most {program.max_tokens} tokens")
        ends = np.cumsum(lengths)
        self.token_spans = [slice(end - length, end) for end, length in zip(ends, lengths, strict=True)]
        self.spans = self.token_spans  # of the level that rows are of now
        self.keys = [text.keys for text in texts]  # that its rows attend to
        positions = np.concatenate([np.arange(length) for length in lengths])
        self.indices = {"ids": ids, "segments": segments, "positions": positions}
        # Keys and values, [heads, tokens, width] for each text, by name and the layer that they are kept for; of
        # states the last rows [rows, width].
        self.caches: dict[tuple[str, int], list[Rows]] = {}
        self._buffers: dict[str, _Value] = {}
        self.mask_spans: list[slice] = []  # of the rows of each text's masks
        self.layer = 0
        self.per_text = False  # only one row of each text is computed

    def fork(self) -> Values:
        """The same values once more, to go on in another way: what is written here does not change there."""
        other = copy(self)
        other.caches, other._buffers = dict(self.caches), dict(self._buffers)
        return other

    def read(self, buffer: p.Buffer, per_text: bool | None = None) -> Rows:
        per_text = self.per_text if per_text is None else per_text
        value = self._buffers[buffer.name]
        if value.per_text and not per_text:
            raise ValueError(f"'{buffer.name}': only the first rows are up to date")
        assert not isinstance(value.rows, Routes)
        return value.rows[[span.start for span in self.spans]] if per_text and not value.per_text else value.rows

    def floats(self, buffer: p.Buffer, per_text: bool | None = None) -> F32Array:
        """The rows of a buffer that holds no others."""
        rows = self.read(buffer, per_text)
        assert isinstance(rows, np.ndarray)
        return rows

    def routes(self, buffer: p.Buffer) -> Routes:
        """Which experts the rows go to."""
        routes = self._buffers[buffer.name].rows
        assert isinstance(routes, Routes)
        return routes

    def kept_floats(self, cache: p.Buffer) -> list[F32Array]:
        """Rows of each text that are kept as they are."""
        return [rows for rows in self.caches[self.place(cache)] if isinstance(rows, np.ndarray)]

    def weights(self, slot: p.WeightSlot, kind: type[AWeight]) -> AWeight:
        """Those of this layer."""
        found = slot.at(self.layer)
        assert isinstance(found, kind)
        return found

    def rows_in(self, rows: GlobalRows | None, text: int) -> NDArray[np.int64]:
        """Which rows these are of a text, among those of all; None: every one."""
        span = slice(text, text + 1) if self.per_text else self.spans[text]
        of_text = np.arange(span.start, span.stop)
        return of_text if rows is None else of_text[rows_of_text(rows, self.indices["ids"][self.token_spans[text]])]

    def rows_of(self, rows: GlobalRows) -> NDArray[np.int64]:
        """The same of all texts."""
        return np.concatenate([self.rows_in(rows, text) for text in range(len(self.spans))])

    def pool(self, names: Iterable[str], pooling: RowPooling) -> None:
        """All rows of these buffers to the next level, which is that of what is read from now on."""
        for name in names:
            rows = self._buffers[name].rows
            assert isinstance(rows, np.ndarray)
            self._buffers[name] = _Value(np.concatenate([pooled(rows[span], pooling) for span in self.spans]), False)
        self.set_counts([pooling.count(span.stop - span.start) for span in self.spans])

    def set_counts(self, counts: Sequence[int]) -> None:
        """So many rows of each text are what is read from now on."""
        ends = np.cumsum(counts).tolist()
        self.spans = [slice(end - count, end) for end, count in zip(ends, counts, strict=True)]

    def place(self, cache: p.Buffer) -> tuple[str, int]:
        """Where keys or values are kept: those of a layer, or those that all layers have in turn."""
        return cache.name, self.layer if cache.layers > 1 else 0

    def output(self, output: p.Output) -> F32Array | list[F32Array]:
        """Of every text."""
        if output.task.rows == "text":
            return self.floats(output.buffer, per_text=True)
        rows = self.floats(output.buffer, per_text=False)
        return [rows[span] for span in (self.spans if output.task.rows == "tokens" else self.mask_spans)]

    def write(self, buffer: p.Buffer, rows: Rows | Routes) -> None:
        self._buffers[buffer.name] = _Value(rows, self.per_text)


def _joined(lists: list[Sequence[int]], limit: int) -> NDArray[np.int64]:
    """One array of all; every entry in [0, limit)."""
    joined = np.concatenate([np.asarray(values, np.int64) for values in lists])
    if joined.size and (joined.min() < 0 or joined.max() >= limit):
        raise ValueError(f"ids or segments out of range: {joined.min()}..{joined.max()}, limit {limit}")
    return joined
