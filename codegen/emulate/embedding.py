# SPDX-License-Identifier: Apache-2.0
"""Rows of an embedding table, and their sum."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ..ir.hashes import rows_of_ids
from ..ir.program import EmbeddingMean, EmbeddingSum, EmbeddingTerm, EmbeddingWeights, S4Matrix, S8Matrix
from .floats import F32Array


def embedding_sum(op: EmbeddingSum | EmbeddingMean, layer: int, indices: Mapping[str, NDArray[np.int64]]) -> F32Array:
    """The terms from left to right; `indices` are the rows' ids, segments and positions."""
    total: F32Array | None = None
    for term in op.terms:
        weights = term.table.at(layer)
        assert isinstance(weights, EmbeddingWeights)
        if term.hashes is not None:
            rows = _hashed(weights, term.hashes, indices["ids"])
            total = rows if total is None else total + rows
            continue
        index, there = (indices[term.by] + term.first, None) if not term.shift else _neighbors(term, indices)
        rows = entries(weights, index)
        if term.dropped is not None:
            rows = _not_dropped(rows, term, indices)
        elif term.factor is not None:
            rows = rows * term.factor
        rows = rows if there is None else np.where(there[:, None], rows, np.float32(0))
        total = rows if total is None else total + rows
    assert total is not None
    return total


def _hashed(weights: EmbeddingWeights, hashes: int, ids: NDArray[np.int64]) -> F32Array:
    """The rows of each hash function of an id, side by side."""
    rows = rows_of_ids(ids, hashes, weights.matrix.shape[0] // hashes)
    return entries(weights, rows.reshape(-1)).reshape(len(ids), -1)


def _neighbors(term: EmbeddingTerm, indices: Mapping[str, NDArray[np.int64]]) -> tuple[NDArray, NDArray[np.bool_]]:
    """Of each row the id that the term looks up, and whether there is one."""
    ids, positions = indices["ids"], indices["positions"]
    rows = np.arange(len(ids)) + term.shift
    inside = np.clip(rows, 0, len(ids) - 1)
    there = (rows == inside) & (positions[inside] == positions + term.shift)  # not those of another text
    return np.where(there, ids[inside], term.outside or 0), there | (term.outside is not None)


def _not_dropped(rows: F32Array, term: EmbeddingTerm, indices: Mapping[str, NDArray[np.int64]]) -> F32Array:
    """Zeros of tokens that are dropped, of others the entries times the factor and the growth of their text."""
    left, positions = indices["ids"] != term.dropped, indices["positions"]
    begins = np.flatnonzero(positions == 0)
    counts = np.diff(np.append(begins, len(positions)))
    growth = counts.astype(np.float32) / np.maximum(np.add.reduceat(left, begins, dtype=np.int64), 1).astype(np.float32)
    factor = np.float32(1) if term.factor is None else term.factor
    return np.where(left[:, None], rows * np.repeat(factor * growth, counts)[:, None], np.float32(0))


def entries(weights: EmbeddingWeights, index: NDArray[np.int64]) -> F32Array:
    """float(q) * scale of the row, or the floats themselves."""
    matrix = weights.matrix
    if isinstance(matrix, S4Matrix):
        matrix, index = (
            S4Matrix(matrix.q[index], matrix.factors[index], matrix.scales[index]).expanded,
            np.arange(index.size),
        )
    if isinstance(matrix, S8Matrix):
        return matrix.q[index].astype(np.float32) * matrix.scales[index][:, None]
    return matrix.values[index]
