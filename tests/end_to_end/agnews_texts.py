# SPDX-License-Identifier: Apache-2.0
"""A folder as ETCH_DATA has it, with AG News of our own: each text has a word or two of its topic."""

from __future__ import annotations

import csv
import gzip
import random
from pathlib import Path

TOPICS = (
    ("war", "minister", "troops", "election"),
    ("coach", "goal", "season", "striker"),
    ("shares", "profit", "bank", "prices"),
    ("software", "chip", "browser", "telescope"),
)
OTHERS = ("the", "a", "on", "of", "said", "new", "with", "after", "in", "from", "two", "day", "report", "today", "says")
HELD_OUT, TRAINING, TEST = 3_000, 900, 200  # rows.py always holds out so many


def texts(count: int, seed: int) -> list[tuple[int, str]]:
    """(topic, text), no text twice."""
    rng = random.Random(seed)
    found = []
    for number in range(count):
        topic = rng.randrange(len(TOPICS))
        words = rng.choices(OTHERS, k=6) + rng.choices(TOPICS[topic], k=2)
        rng.shuffle(words)
        found.append((topic, " ".join((*words, f"{seed}x{number}"))))
    return found


def write_agnews(data: Path) -> Path:
    """Training and test rows."""
    folder = data / "ag_news"
    folder.mkdir(parents=True)
    rows = texts(HELD_OUT + TRAINING, 1)
    _write(folder / "train_merged.csv.gz", [("label", "text"), *rows])
    _write(folder / "train_merged_sources.csv.gz", [("form", "other_label_seen"), *[("full", "")] * len(rows)])
    with (folder / "test.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows((topic + 1, *text.split(" ", 1)) for topic, text in texts(TEST, 2))
    return data


def _write(path: Path, rows: list[tuple[object, ...]]) -> None:
    with gzip.open(path, "wt", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
