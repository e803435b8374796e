# SPDX-License-Identifier: Apache-2.0
"""The front-end of the textbook encoder: its position table, what it refuses. test_recorded_models.py has what its
models compute."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from recorded_changes import Change, assert_refused, configure, rename

from codegen.frontends.shared.sinusoids import interleaved_sinusoids, sine_and_cosine

POST, PRE, NO_BIAS = "transformer_encoder/mean", "transformer_encoder/max", "transformer_encoder/first"
REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "positions": (POST, configure(positions="rotary"), "config-value", "(supported: sinusoidal, learned)"),
    "norm": (POST, configure(norm="sandwich"), "config-value", "norm 'sandwich'"),
    "pooling": (POST, configure(pooling="attention"), "config-value", "(supported: mean, max, first, last)"),
    "activation": (POST, configure(activation="mish"), "activation-not-supported", "'mish'"),
    "heads": (POST, configure(num_heads=3), "heads-do-not-divide", "num_heads 3"),
    "final norm": (POST, configure(norm="pre"), "missing-tensor", "final_norm.weight"),
    "no final norm": (PRE, configure(norm="post"), "unused-tensor", "final_norm"),
    "learned": (POST, configure(positions="learned"), "missing-tensor", "positions.weight"),
    "not learned": (PRE, configure(positions="sinusoidal"), "unused-tensor", "positions.weight"),
    "bias": (NO_BIAS, configure(bias=True), "missing-tensor", ".bias"),
    "no bias": (POST, configure(bias=False), "unused-tensor", ".bias"),
    "sizes": (POST, configure(intermediate_size=36), "wrong-shape", "feed_forward.intermediate"),
    "layers": (POST, configure(num_layers=900), "missing-tensor", "num_layers is 900"),
    "tensor": (POST, rename("classifier.weight", "head.weight"), "missing-tensor", "classifier.weight"),
    **{
        f"no {key}": (POST, configure(**{key: None}), "config-missing", f"'{key}'")
        for key in (
            *("vocab_size", "hidden_size", "num_layers", "num_heads", "intermediate_size", "max_positions"),
            *("positions", "scale_embedding", "norm", "activation", "bias", "layer_norm_eps", "pooling"),
        )
    },
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


def test_sines_are_exact_to_the_last_bits() -> None:
    angles = np.concatenate([np.arange(0, 5000, 0.37), np.arange(40) * math.pi / 4, [0.0, 1e-9, 2.0**20]])
    sine, cosine = sine_and_cosine(angles)
    assert max(abs(found - math.sin(angle)) for found, angle in zip(sine, angles, strict=True)) < 3e-16
    assert max(abs(found - math.cos(angle)) for found, angle in zip(cosine, angles, strict=True)) < 3e-16


@pytest.mark.parametrize("width", [1, 2, 9, 64])
def test_the_table_of_positions(width: int) -> None:
    table = interleaved_sinusoids("positions", 300, width).arrays[0].values
    assert table.shape == (300, width) and table.dtype == np.float32
    for column in range(width):
        function = math.cos if column % 2 else math.sin
        rate = 10_000 ** (-(column - column % 2) / width)
        expected = np.array([function(i * rate) for i in range(300)])
        assert np.abs(table[:, column] - expected).max() < 2**-24
