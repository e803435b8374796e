# SPDX-License-Identifier: Apache-2.0
"""Makes a small sentence embedder of a large one, for a board's flash: `python small.py --help`, and README.md beside
this file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))  # common
sys.path.insert(2, str(Path(__file__).resolve().parents[3]))  # codegen, the generator
sys.path.insert(3, str(Path(__file__).resolve().parents[1] / "finetune"))  # the new folder

from common.program import add_run_options, ended, make_parser, number


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = make_parser("small", __doc__)
    add = made.add_argument
    add("teacher", type=Path, metavar="TEACHER", help="sentence-transformers folder of a BERT, with mean pooling")
    add("--texts", type=Path, required=True, metavar="FILE", help="a text a line, of the kind that it will be given")
    add("--out", type=Path, required=True, metavar="DIR", help="folder to make")
    add("--state", type=Path, metavar="FILE", help="keeps the run, so that it can go on (default: DIR.state)")
    add(
        "--pieces",
        type=number(int, 8, 1 << 24),
        default=8000,
        metavar="N",
        help="of the vocabulary, those that the texts use most",
    )
    add("--layers", type=number(int, 1, 1000), default=2, metavar="N", help="of the encoder")
    add(
        "--width",
        type=number(int, 1, 1 << 16),
        default=128,
        metavar="N",
        help="heads are 32 wide, feed-forward layers four widths",
    )
    add("--max-tokens", type=number(int, 3, 1 << 16), default=96, metavar="N", help="longest text; longer ones are cut")
    add("--steps", type=number(int, 1, 1 << 30), default=4000, metavar="N", help="in all; a kept run goes on to more")
    add("--batch", type=number(int, 1, 4096), default=64, metavar="N", help="texts a step")
    add(
        "--rate",
        type=number(float, 1e-9, 1.0),
        default=2e-3,
        metavar="R",
        help="of AdamW, rising and falling as a cosine",
    )
    add_run_options(made)
    return made


def main() -> int:
    """Exit codes: 0 done, 1 refused, 2 wrong use, 128 + n stopped by signal n (130: Ctrl-C)."""
    asked = parser().parse_args()

    def run() -> str:
        import recipe  # PyTorch takes seconds to import

        return recipe.run(asked)

    return ended("small", run)


if __name__ == "__main__":
    sys.exit(main())
