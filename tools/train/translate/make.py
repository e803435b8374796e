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
    parser.add_argument("--state", type=Path, default=Path("build/train-translate"), help="keeps an interrupted run")
    parser.add_argument("--epochs", type=int, help="in all, those of an interrupted run included")
    parser.add_argument("--from", dest="start", type=Path, metavar="DIR", help="begin with this checkpoint's weights")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--evaluate", action="store_true", help="measure --out on the validation pairs instead")
    parser.add_argument("--test", action="store_true", help="with --evaluate: on the test pairs")
    parser.add_argument("--beams", type=int, default=1, help="with --evaluate")
    parser.add_argument("--rows", type=int, help="with --evaluate: the first rows alone")
    asked = parser.parse_args()
    if asked.test and not asked.evaluate:
        parser.error("--test goes with --evaluate")
    if asked.start and asked.evaluate:
        parser.error("--from goes with training")
    if "ETCH_DATA" not in os.environ:
        raise SystemExit("set ETCH_DATA to the folder described in README.md")
    data = Path(os.environ["ETCH_DATA"])
    sys.path.insert(1, str(HERE.parent))  # common
    import torch  # takes seconds to import

    torch.set_num_threads(asked.threads)
    if asked.evaluate:
        import score

        score.evaluate(data, asked.out, test=asked.test, beams=asked.beams, rows=asked.rows)
    else:
        import recipe

        recipe.remake(data, asked.out, asked.state, asked.epochs, asked.start)


if __name__ == "__main__":
    main()
