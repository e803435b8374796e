# SPDX-License-Identifier: Apache-2.0
"""Trains a textbook's encoder of a few hundred KB on AG News: `python make.py --out DIR` with ETCH_DATA set."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))  # common
sys.path.insert(2, str(Path(__file__).resolve().parents[1] / "agnews"))  # rows, the teacher's answers
sys.path.insert(3, str(Path(__file__).resolve().parents[1] / "plain"))  # the module, its folder

from arguments import folder_from


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--state", type=Path, metavar="DIR", help="keeps an interrupted run (default: build/train-OUT)")
    parser.add_argument("--cache", type=Path, default=Path("build/train-agnews"), help="keeps the teacher's answers")
    parser.add_argument("--pieces", type=int, default=5_000)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--layers", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args()
    data = folder_from("ETCH_DATA")
    import torch  # takes seconds to import

    torch.set_num_threads(asked.threads)
    import recipe

    shape = recipe.shape_of(asked.pieces, asked.width, asked.layers)
    state = asked.state or Path("build") / f"train-{asked.out.name}"
    recipe.remake(data, asked.out, state, asked.cache, shape, asked.epochs)


if __name__ == "__main__":
    main()
