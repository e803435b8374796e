# SPDX-License-Identifier: Apache-2.0
"""Runs tools/train/finetune the way a user does, on small tables of our own."""

from __future__ import annotations

import csv
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from classify_program import ROOT, Outcome

TIMEOUT = 300  # seconds
RECIPE = ROOT / "tools" / "train" / "finetune" / "finetune.py"
# In the vocabulary of tiny_checkpoint.
WORDS = ("the", "a", "cat", "dog", "sat", "ran", "on", "mat", "work", "play")


def command(*arguments: str | Path) -> list[str | Path]:
    """The command line of one run."""
    return [sys.executable, RECIPE, *arguments]


def finetune(*arguments: str | Path) -> Outcome:
    """One run."""
    done = subprocess.run(
        command(*arguments),
        env=os.environ | {"HF_HUB_OFFLINE": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=TIMEOUT,
        check=False,
    )
    return Outcome(done.returncode, done.stdout, done.stderr.decode("utf-8"))


def write_csv(path: Path, rows: Sequence[Sequence[object]]) -> Path:
    """A csv file of these rows, the header among them."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def sentences(count: int, seed: int = 1) -> list[tuple[str, bool]]:
    """Texts of six words; half of them say `good`, the others `bad`."""
    rng = random.Random(seed)
    found = []
    for i in range(count):
        words = [rng.choice(WORDS) for _ in range(6)]
        words[rng.randrange(6)] = "bad" if i % 2 else "good"
        found.append((" ".join(words), i % 2 == 0))
    return found


def labelled(count: int = 60, seed: int = 1) -> list[tuple[str, str]]:
    """Rows with a header, for a classifier."""
    return [("text", "label"), *((text, "yes" if good else "no") for text, good in sentences(count, seed))]
