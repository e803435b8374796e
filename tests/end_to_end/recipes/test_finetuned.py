# SPDX-License-Identifier: Apache-2.0
"""MRPC and STS-B, trained by tools/train/finetune, over every test row: closeness to `transformers`, cost of 8 bits.

ETCH_FINETUNED names the folder that holds the two checkpoints, `mrpc` and `stsb`; tools/train/finetune/README.md says
how they are made.
"""

from __future__ import annotations

import csv
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from classify_program import ROOT
from finetuned_model import Floats, assert_equals_transformers, built_logits, transformers_logits
from numpy.typing import NDArray
from public_data import data_folder

sys.path.append(str(ROOT / "tools" / "train" / "finetune"))
from metrics import pearson, ranks

pytestmark = pytest.mark.sweep

MOST_LOST = 0.5  # points, from fp32 to w8a8


@dataclass(frozen=True)
class Task:
    """Test rows, and what they say."""

    name: str
    texts: list[tuple[str, str]]
    meant: NDArray[np.float64]

    def score(self, logits: Floats) -> float:
        """Points of 100: accuracy, or Spearman's correlation."""
        if self.name == "mrpc":
            return 100.0 * float((logits.argmax(axis=1) == self.meant).mean())
        return 100.0 * pearson(ranks(logits[:, 0].astype(np.float64)), ranks(self.meant))


def mrpc() -> Task:
    """1,725 pairs, 1 where they say the same."""
    lines = (data_folder() / "glue/mrpc/msr-para-test.tsv").read_text(encoding="utf-8-sig").splitlines()[1:]
    rows = [line.split("\t") for line in lines]
    assert len(rows) == 1725
    return Task("mrpc", [(row[3], row[4]) for row in rows], np.array([float(row[0]) for row in rows]))


def stsb() -> Task:
    """1,379 pairs, 0 to 5 by how much they say the same."""
    with (data_folder() / "glue/stsb/stsb-en-test.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert len(rows) == 1379
    return Task("stsb", [(row[0], row[1]) for row in rows], np.array([float(row[2]) for row in rows]))


@dataclass(frozen=True)
class Tuned:
    """A checkpoint, its task, and what its two builds say of every row."""

    checkpoint: Path
    task: Task
    logits: dict[str, Floats]


@pytest.fixture(scope="module", params=[mrpc, stsb], ids=["mrpc", "stsb"])
def tuned(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Tuned:
    folder = os.environ.get("ETCH_FINETUNED")
    if not folder:
        pytest.skip("ETCH_FINETUNED is not set")
    task = request.param()
    checkpoint = Path(folder) / task.name
    out = tmp_path_factory.mktemp(task.name)
    logits = {recipe: built_logits(checkpoint, out / recipe, recipe, task.texts) for recipe in ("fp32", "w8a8")}
    return Tuned(checkpoint, task, logits)


def test_w8a8_costs_little(tuned: Tuned) -> None:
    fp32, w8a8 = (tuned.task.score(tuned.logits[recipe]) for recipe in ("fp32", "w8a8"))
    print(f"{tuned.task.name}: fp32 {fp32:.2f}, w8a8 {w8a8:.2f} points")
    assert fp32 - w8a8 <= MOST_LOST


def test_fp32_equals_transformers(tuned: Tuned) -> None:
    meant = transformers_logits(tuned.checkpoint, tuned.task.texts)
    print(f"{tuned.task.name}: transformers {tuned.task.score(meant):.2f} points")
    assert_equals_transformers(tuned.logits["fp32"], meant)
