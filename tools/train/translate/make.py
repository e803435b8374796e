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
    parser.add_argument("--form", choices=("marian", "textbook"), default="marian", help="default: marian")
    parser.add_argument("--out", type=Path, metavar="DIR", help="default: checkpoint/, build/textbook")
    parser.add_argument("--state", type=Path, metavar="DIR", help="keeps an interrupted run (build/train-FORM)")
    parser.add_argument("--epochs", type=int, help="in all, those of an interrupted run included")
    parser.add_argument("--from", dest="start", type=Path, metavar="DIR", help="begin with this checkpoint's weights")
    parser.add_argument("--bfloat16", action="store_true", help="train with products of bfloat16")
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
    out = asked.out or (HERE / "checkpoint" if asked.form == "marian" else Path("build/textbook"))
    sys.path[1:1] = [str(HERE.parent), str(HERE.parent / "plain")]  # common; the textbooks' module
    import torch  # takes seconds to import

    torch.set_num_threads(asked.threads)
    import recipe

    form = recipe.FORMS[asked.form]
    if asked.evaluate:
        import score

        score.evaluate(data, form, out, test=asked.test, beams=asked.beams, rows=asked.rows)
    else:
        state = asked.state or Path("build") / f"train-{asked.form}"
        recipe.remake(data, form, out, state, epochs=asked.epochs, start=asked.start, bfloat16=asked.bfloat16)


if __name__ == "__main__":
    main()
