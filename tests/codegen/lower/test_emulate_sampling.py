# SPDX-License-Identifier: Apache-2.0
"""Tokens that are drawn: with the probabilities that the library has, as often as those say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_generators import decoder_only

from codegen.emulate.generation import Generation
from codegen.emulate.sampling import draw, weights
from codegen.ir.search import Sampling
from codegen.lower import lower
from codegen.quantize import RECIPES

RECORDED = Path(__file__).resolve().parents[1] / "generation" / "drawing.json"
CASES: list[Any] = json.loads(RECORDED.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("temperature", "top_k", "top_p", "logits", "meant"), CASES)
def test_the_librarys_probabilities(
    temperature: float, top_k: int, top_p: float, logits: list[float], meant: list[float]
) -> None:
    sampling = Sampling(temperature, top_k, top_p)
    found = weights(np.array(logits, np.float32), sampling).astype(np.float64)
    assert np.array_equal(found > 0, np.array(meant) > 0)
    assert np.abs(found / found.sum() - meant).max() < 1e-6


def test_how_often_a_token_is_drawn() -> None:
    """Chi squared; the seed is fixed."""
    temperature, top_k, top_p, logits, meant = CASES[2]
    row, draws = np.array(logits, np.float32), 2000
    drawn = [
        draw(row, Sampling(temperature, top_k, top_p, 3, text), written) for text in range(20) for written in range(100)
    ]
    found = np.bincount([token for token, _ in drawn], minlength=len(meant))
    left = np.array(meant) > 0
    expected = draws * np.array(meant)[left]
    assert found[~left].sum() == 0
    assert (((found[left] - expected) ** 2) / expected).sum() < 33.7  # 9 degrees of freedom: one seed in ten thousand
    for token, score in drawn[:50]:
        assert abs(score - np.log(meant[token])) < 2e-6


def test_equal_seeds_draw_equal_tokens() -> None:
    row = np.zeros(1000, np.float32)
    first = [draw(row, Sampling(seed=9), written)[0] for written in range(8)]
    assert first == [draw(row, Sampling(seed=9), written)[0] for written in range(8)]
    assert first != [draw(row, Sampling(seed=10), written)[0] for written in range(8)]
    assert first != [draw(row, Sampling(seed=9, text=1), written)[0] for written in range(8)]


@pytest.mark.parametrize("capacity", [0, 1, 2, 99])
def test_no_more_is_written_than_there_is_room_for(capacity: int) -> None:
    """The same tokens as without a limit, the first ones of them; with room for none nothing is read."""
    program = lower(decoder_only(), RECIPES["fp32"])

    def text() -> Generation:
        return Generation(program, [3, 4], [0, 0])

    greedy, logits = text().greedy(capacity)
    assert greedy == text().greedy()[0][:capacity] and len(logits) == len(greedy)
    drawn, score, ended = text().drawn(Sampling(seed=5), capacity)
    assert drawn == text().drawn(Sampling(seed=5))[0][:capacity] and len(drawn) <= capacity
    assert capacity or (score, ended) == (0, False)
