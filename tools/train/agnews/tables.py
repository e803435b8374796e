# SPDX-License-Identifier: Apache-2.0
"""Writes the rows that the checkpoints learned from and those held out, `train.csv` and `held_out.csv`, in the form of
the test rows: `python tables.py DIR` with ETCH_DATA set (see README.md)."""

from __future__ import annotations

import argparse
import csv
import os
from pathlib import Path

import rows

SEED = 20  # of remake.py


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, metavar="DIR")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    parts = rows.split(rows.read_training_rows(Path(os.environ["ETCH_DATA"])), SEED)
    for name, part in zip(("train", "held_out"), parts, strict=True):
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows((row.label + 1, row.text) for row in part)


if __name__ == "__main__":
    main()
