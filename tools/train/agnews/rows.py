# SPDX-License-Identifier: Apache-2.0
"""Reads the AG News files and holds out rows to choose the model on."""

from __future__ import annotations

import csv
import gzip
import random
import re
from dataclasses import dataclass
from pathlib import Path

LABELS = ("World", "Sports", "Business", "Sci/Tech")
HELD_OUT_ROWS = 3_000

_NOT_ALPHANUMERIC = re.compile(r"[^0-9a-z]+")


@dataclass(frozen=True)
class Row:
    """One text with its class (0-3). `conflict`: another source gives it another class."""

    text: str
    label: int
    full: bool = True  # title and description; otherwise the description alone
    conflict: bool = False


def read_training_rows(data: Path) -> list[Row]:
    """Every row of the merged training file, in file order."""
    folder = data / "ag_news"
    with gzip.open(folder / "train_merged.csv.gz", "rt", encoding="utf-8", newline="") as file:
        texts = list(csv.DictReader(file))
    with gzip.open(folder / "train_merged_sources.csv.gz", "rt", encoding="utf-8") as file:
        sources = list(csv.DictReader(file))
    if len(texts) != len(sources):
        raise ValueError(f"train_merged: {len(texts)} rows, but {len(sources)} source rows")
    return [
        Row(t["text"], int(t["label"]), s["form"] == "full", s["other_label_seen"] != "")
        for t, s in zip(texts, sources, strict=True)
    ]


def read_test_rows(data: Path) -> list[tuple[int, str, str]]:
    """(class 0-3, title, description) of the official test rows."""
    with (data / "ag_news" / "test.csv").open(encoding="utf-8", newline="") as file:
        return [(int(label) - 1, title, body) for label, title, body in csv.reader(file)]


def words(text: str) -> list[str]:
    """The text's runs of letters and digits, lower-cased."""
    return _NOT_ALPHANUMERIC.sub(" ", text.lower()).split()


def endings(texts: list[str], shortest: int = 6) -> set[str]:
    """Every ending of at least `shortest` words of each text, letters and digits only."""
    found = set()
    for text in texts:
        parts = words(text)
        for start in range(max(1, len(parts) - shortest + 1)):
            found.add("".join(parts[start:]))
    return found


def is_ending(text: str, found: set[str]) -> bool:
    """Whether `text`, whatever its case and spacing, ends one of the texts behind `found`."""
    return "".join(words(text)) in found


def split(rows: list[Row], seed: int) -> tuple[list[Row], list[Row]]:
    """(training rows, held-out rows).

    The held-out rows have the form of the test rows (title and description) and no conflicting
    label. A description that repeats the end of a held-out row leaves the training rows.
    """
    candidates = [i for i, row in enumerate(rows) if row.full and not row.conflict]
    chosen = set(random.Random(seed).sample(candidates, HELD_OUT_ROWS))
    held_out = [rows[i] for i in sorted(chosen)]
    leaks = endings([row.text for row in held_out])
    kept = [r for i, r in enumerate(rows) if i not in chosen and not is_ending(r.text, leaks)]
    return kept, held_out
