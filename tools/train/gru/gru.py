# SPDX-License-Identifier: Apache-2.0
"""Trains a GRU on a frozen encoder: `python gru.py --help`, and README.md beside this file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))  # common
sys.path.insert(2, str(Path(__file__).resolve().parents[3]))  # codegen, the generator
sys.path.insert(3, str(Path(__file__).resolve().parents[1] / "finetune"))  # tables, labels, the new folder

from common.program import add_run_options, ended, make_parser, number


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = make_parser("gru", __doc__)
    add = made.add_argument
    add("encoder", type=Path, metavar="ENCODER", help="Hugging Face folder of an encoder; its head is not used")
    add("--train", type=Path, required=True, metavar="FILE", help="labelled rows: .csv or .tsv, also .gz")
    add("--test", type=Path, metavar="FILE", help="rows measured once, after training")
    add("--out", type=Path, required=True, metavar="DIR", help="folder to make")
    add("--label-column", required=True, metavar="C", help="its name, or its number from 1")
    add("--text-columns", required=True, metavar="C,…", help="joined by a space")
    add("--header", action="store_true", help="the first row names the columns (implied by a name)")
    add(
        "--rows",
        type=number(int, 1, 1 << 30),
        default=1 << 30,
        metavar="N",
        help="of the training file at most so many, evenly spaced",
    )
    add("--features", type=Path, metavar="DIR", help="keeps what the encoder made of the texts, for the next run")
    add(
        "--held-out",
        type=number(float, 0.001, 0.5),
        default=0.1,
        metavar="SHARE",
        help="of the training rows, to choose the epoch by",
    )
    add("--write-held-out", type=Path, metavar="FILE.csv", help="label and text of these rows, for --evaluate")
    add(
        "--max-tokens", type=number(int, 3, 1 << 16), default=128, metavar="N", help="longest text; longer ones are cut"
    )
    add("--hidden", type=number(int, 1, 1 << 16), default=128, metavar="N", help="width of a direction's states")
    add("--layers", type=int, default=1, choices=range(1, 5), metavar="N", help="1 to 4")
    add("--one-direction", action="store_true", help="forward only")
    add(
        "--dropout",
        type=number(float, 0.0, 0.99),
        default=0.25,
        metavar="P",
        help="between layers and before the linear",
    )
    add("--epochs", type=number(int, 1, 1000), default=6, metavar="N", help="of which the best is kept")
    add("--batch", type=number(int, 1, 4096), default=32, metavar="N", help="rows a step")
    add(
        "--rate",
        type=number(float, 1e-9, 1.0),
        default=1e-3,
        metavar="R",
        help="of AdamW, rising and falling as a cosine",
    )
    add_run_options(made)
    return made


def main() -> int:
    """Exit codes: 0 done, 1 refused, 2 wrong use, 128 + n stopped by signal n (130: Ctrl-C)."""
    asked = parser().parse_args()

    def run() -> str:
        import gru_training  # PyTorch takes seconds to import

        return gru_training.run(asked)

    return ended("gru", run)


if __name__ == "__main__":
    sys.exit(main())
