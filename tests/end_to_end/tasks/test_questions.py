# SPDX-License-Identifier: Apache-2.0
"""The checkpoint of tools/train/plain, generated and built: as many test questions right as its card says."""

from __future__ import annotations

import csv
import importlib
from pathlib import Path

import pytest
from classify_program import ROOT
from generator_program import etch
from model_build import build_program
from public_data import data_folder

PLAIN = ROOT / "tools" / "train" / "plain"
MOST_BYTES = 1_000_000
ACCURACY = {"fp32": "81.80", "w8a8": "81.80"}  # per cent of 500


@pytest.mark.parametrize("recipe", ACCURACY)
def test_accuracy_of_the_card(recipe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = data_folder()
    monkeypatch.syspath_prepend(PLAIN)
    questions = importlib.import_module("questions")
    with (tmp_path / "questions.csv").open("w", encoding="utf-8", newline="") as file:
        rows = questions.read_test_questions(data)
        csv.writer(file).writerows((questions.LABELS[row.label], row.text) for row in rows)
    out = tmp_path / "questions"
    done = etch("generate", PLAIN / "checkpoint", "--name", "questions", "--recipe", recipe, "--out", out)
    assert done.code == 0, done.err
    lines = build_program(out).well("--evaluate", tmp_path / "questions.csv").lines
    assert lines[0] == f"accuracy: {ACCURACY[recipe]} %"
    assert lines[1].startswith("rows: 500, ")


def test_the_checkpoint_is_small() -> None:
    assert sum(file.stat().st_size for file in (PLAIN / "checkpoint").iterdir()) < MOST_BYTES
