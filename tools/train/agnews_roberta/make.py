# SPDX-License-Identifier: Apache-2.0
"""Trains a small RoBERTa on AG News: `python make.py --out DIR` with ETCH_DATA set (see README.md)."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))  # common
sys.path.insert(2, str(Path(__file__).resolve().parents[3]))  # codegen, the generator
sys.path.insert(3, str(Path(__file__).resolve().parents[1] / "agnews"))  # its rows

from arguments import folder_from


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("build/agnews_roberta"), metavar="DIR")
    parser.add_argument("--state", type=Path, metavar="DIR", help="keeps an interrupted run (default: OUT.state)")
    parser.add_argument(
        "--outliers", type=float, default=1.0, metavar="X", help="what two channels of all norms begin at"
    )
    parser.add_argument("--steps", type=int, help="in all, those of an interrupted run included")
    parser.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args()
    data = folder_from("ETCH_DATA")
    import torch  # takes seconds to import

    torch.set_num_threads(asked.threads)
    import recipe

    steps = recipe.STEPS if asked.steps is None else dataclasses.replace(recipe.STEPS, count=asked.steps)
    state = asked.state or asked.out.with_name(f"{asked.out.name}.state")
    recipe.remake(data, asked.out, state, steps, asked.outliers)


if __name__ == "__main__":
    main()
