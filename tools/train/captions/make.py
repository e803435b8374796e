# SPDX-License-Identifier: Apache-2.0
"""Remakes the checkpoint, or says how likely it finds held-out captions: `python make.py`, `python make.py --evaluate`,
with ETCH_DATA set."""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=HERE / "checkpoint", metavar="DIR")
    parser.add_argument("--state", type=Path, default=Path("build/train-captions"), help="keeps an interrupted run")
    parser.add_argument("--steps", type=int, help="in all, those of an interrupted run included")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--evaluate", action="store_true", help="measure --out on the validation captions instead")
    asked = parser.parse_args()
    if "ETCH_DATA" not in os.environ:
        raise SystemExit("set ETCH_DATA to the folder described in README.md")
    data = Path(os.environ["ETCH_DATA"])
    sys.path.insert(1, str(HERE.parent))  # common
    import torch  # takes seconds to import

    torch.set_num_threads(asked.threads)
    import recipe

    if asked.evaluate:
        recipe.evaluate(data, asked.out)
    else:
        steps = recipe.STEPS if asked.steps is None else dataclasses.replace(recipe.STEPS, count=asked.steps)
        recipe.remake(data, asked.out, asked.state, steps)


if __name__ == "__main__":
    main()
