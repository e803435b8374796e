# SPDX-License-Identifier: Apache-2.0
"""Remakes the checkpoint, or measures it: `python make.py` and `python make.py --evaluate` with ETCH_DATA set."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=HERE / "checkpoint", metavar="DIR")
    parser.add_argument("--state", type=Path, default=Path("build/train-plain"), help="keeps an interrupted run")
    parser.add_argument("--evaluate", action="store_true", help="measure --out on the held-out questions instead")
    parser.add_argument("--test", action="store_true", help="with --evaluate: on the test questions, too")
    asked = parser.parse_args()
    if asked.test and not asked.evaluate:
        parser.error("--test goes with --evaluate")
    if "ETCH_DATA" not in os.environ:
        raise SystemExit("set ETCH_DATA to the folder described in README.md")
    data = Path(os.environ["ETCH_DATA"])
    sys.path.insert(1, str(HERE.parent))  # common
    import recipe  # PyTorch takes seconds to import

    if asked.evaluate:
        recipe.evaluate(data, asked.out, test=asked.test)
    else:
        recipe.remake(data, asked.out, asked.state)


if __name__ == "__main__":
    main()
