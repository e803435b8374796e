# SPDX-License-Identifier: Apache-2.0
"""Pooling and normalization: the header's sentences value by value, and what they mean."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from test_emulate_forward import with_all_rows
from tiny_program import random_ids, tiny_program
from tiny_sentence import POOLINGS, write_tiny_sentence_model

from codegen.emulate import emulate, emulate_texts
from codegen.emulate.pooling import normalize, pool
from codegen.ir.graph import Pooling
from codegen.ir.text import Text
from codegen.oracle.bert import Reference

F32 = np.float32
KINDS: tuple[Pooling, ...] = ("first", "mean", "max", "mean_sqrt", "weighted_mean")
LIMIT = F32(2.0**-40)


def counted(x: np.float32) -> np.float32:
    return F32(0) if abs(x) < LIMIT else x


def pooled(kind: Pooling, column: np.ndarray) -> np.float32:
    total, weighted, largest = F32(0), F32(0), counted(column[0])
    for row, x in enumerate(column):
        total = F32(total + counted(x))
        weighted = F32(weighted + F32(counted(x) * F32(row + 1)))
        largest = counted(x) if counted(x) > largest else largest
    rows = F32(len(column))
    weights = F32(F32(rows * F32(rows + 1)) * F32(0.5))
    return {
        "first": counted(column[0]),
        "max": largest,
        "mean": F32(total * F32(F32(1) / rows)),
        "mean_sqrt": F32(total * F32(F32(1) / F32(math.sqrt(rows)))),
        "weighted_mean": F32(weighted * F32(F32(1) / weights)),
    }[kind]


def rows_of_every_kind(rows: int, width: int) -> np.ndarray:
    """Values around 0, some that count as 0, the limit itself, both zeros."""
    x = (np.random.default_rng(rows * 100 + width).standard_normal((rows, width)) * 3).astype(F32)
    special = np.array([LIMIT, -LIMIT, np.nextafter(LIMIT, F32(0)), -1e-41, 0.0, -0.0, 1e-30], F32)
    flat = x.reshape(-1)
    flat[3::5] = np.resize(special, flat[3::5].size)
    return x


@pytest.mark.parametrize("rows", [1, 2, 7, 200])
@pytest.mark.parametrize("kind", KINDS)
def test_pool(kind: Pooling, rows: int) -> None:
    for width in (1, 16, 19):
        x = rows_of_every_kind(rows, width)
        got = pool(kind, x)
        assert (got.shape, got.dtype) == ((1, width), F32)
        assert got[0].tobytes() == np.array([pooled(kind, column) for column in x.T], F32).tobytes()


def test_order_matters_for_these_values() -> None:
    """Otherwise the test above could not tell one order from another."""
    x = rows_of_every_kind(200, 19)
    assert pool("mean", x).tobytes() != pool("mean", x[::-1]).tobytes()


@pytest.mark.parametrize("width", [1, 15, 16, 17, 40])
def test_normalize(width: int) -> None:
    x = rows_of_every_kind(3, width)
    for row, got in zip(x, normalize(x), strict=True):
        values = np.array([counted(value) for value in row], F32)
        partials = [F32(0)] * 16
        for i, value in enumerate(values):
            partials[i % 16] = F32(partials[i % 16] + F32(value * value))
        for distance in (8, 4, 2, 1):
            partials = [F32(partials[i] + partials[i + distance]) for i in range(distance)]
        length = max(F32(np.sqrt(partials[0])), F32(1e-12))
        assert got.tobytes() == (values * F32(F32(1) / length)).tobytes()


def test_lengths_after_normalization() -> None:
    x = np.random.default_rng(1).standard_normal((4, 384)).astype(F32)
    x[2] = 0
    x[3] = LIMIT / 2
    lengths = np.sqrt((normalize(x).astype(np.float64) ** 2).sum(axis=1))
    assert np.abs(lengths - [1, 1, 0, 0]).max() < 1e-6


# --- whole programs --------------------------------------------------------------------------------------------------

# Largest |difference| of a normalized value to the reference.
BOUND = {"fp32": 1e-5, "w8a8": 0.05}


@pytest.mark.parametrize("recipe", sorted(BOUND))
@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("pooling", POOLINGS)
def test_close_to_the_reference(tmp_path: Path, pooling: str, normalized: bool, recipe: str) -> None:
    write_tiny_sentence_model(tmp_path, pooling=pooling, normalize=normalized, hidden=36, heads=3, layers=2)
    program, _ = tiny_program(tmp_path, recipe)
    reference = Reference(tmp_path)
    for tokens in (1, 2, 17, program.max_tokens):
        ids, segments = random_ids(program, tokens, seed=tokens)
        embedding, exact = emulate(program, ids, segments), reference.output(ids, segments)
        assert (embedding.shape, embedding.dtype) == ((36,), F32)
        unit = 1 if normalized else float(np.linalg.norm(exact))
        assert np.abs(embedding - exact).max() < BOUND[recipe] * unit


@pytest.mark.parametrize("recipe", sorted(BOUND))
@pytest.mark.parametrize("pooling", POOLINGS)
def test_a_batch_has_the_bits_of_single_texts(tmp_path: Path, pooling: str, recipe: str) -> None:
    write_tiny_sentence_model(tmp_path, pooling=pooling, layers=2)
    program, _ = tiny_program(tmp_path, recipe)
    texts = [Text(*random_ids(program, tokens, seed=tokens)) for tokens in (5, 1, 32, 1, 17)]
    alone = np.stack([emulate(program, text.ids, text.segments) for text in texts])
    assert emulate_texts(program, texts).tobytes() == alone.tobytes()


@pytest.mark.parametrize("pooling", POOLINGS)
def test_the_short_cut_is_taken_for_the_first_row_only(tmp_path: Path, pooling: str) -> None:
    write_tiny_sentence_model(tmp_path, pooling=pooling, layers=2)
    program, _ = tiny_program(tmp_path, "w8a8")
    assert (with_all_rows(program) != program) == (pooling == "cls")
    ids, segments = random_ids(program, 20)
    assert emulate(program, ids, segments).tobytes() == emulate(with_all_rows(program), ids, segments).tobytes()
