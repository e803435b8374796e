# SPDX-License-Identifier: Apache-2.0
"""Models of many shapes and every task: what an executor and a call in steps rely on, and how a
thread rounds, by programs of promises/."""

from __future__ import annotations

from pathlib import Path

import pytest
from classify_program import ROOT
from model_build import build_test, run
from sampling import sampled
from shape_models import ALWAYS, QUICK, TESTED, Model, each, generated

pytestmark = pytest.mark.minutes(4)
EACH_EIGHTH = QUICK[::8]  # of another task or family each


def each_of(models: list[Model], promise: str) -> pytest.MarkDecorator:
    """These models; a sample has a few of those that are in a sweep."""
    swept = sampled([model for model in models if model not in EACH_EIGHTH], 6, f"models of {promise}")
    return each([*EACH_EIGHTH, *swept], frozenset(EACH_EIGHTH))


def hold_promise(promise: str, model: Model, shared: Path, tmp_path: Path, *options: str) -> None:
    """A program of promises/ over this model."""
    source = ROOT / "tests/end_to_end/promises" / f"{promise}.cpp"
    run([build_test(generated(model, shared), source, tmp_path / "program", *options)])


@each_of(TESTED, "isolated_parts")
def test_no_part_of_an_op_sees_another(model: Model, shared: Path, tmp_path: Path) -> None:
    hold_promise("isolated_parts", model, shared, tmp_path)


@each_of(ALWAYS, "steps")
def test_a_call_in_steps(model: Model, shared: Path, tmp_path: Path) -> None:
    few = ["-DETCH_LEAST_STEPS=2"] if model.shape.startswith("static_embedding/") else []  # of those without layers
    hold_promise("steps", model, shared, tmp_path, *few)


@each_of(ALWAYS, "float_modes")
def test_float_modes(model: Model, shared: Path, tmp_path: Path) -> None:
    hold_promise("float_modes", model, shared, tmp_path)
