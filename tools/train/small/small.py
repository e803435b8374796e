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

from common.program import add_encoder_options, add_run_options, add_step_options, ended, make_parser


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = make_parser("small", __doc__)
    add = made.add_argument
    add("teacher", type=Path, metavar="TEACHER", help="sentence-transformers folder of a BERT, with mean pooling")
    add("--texts", type=Path, required=True, metavar="FILE", help="a text a line, of the kind that it will be given")
    add("--out", type=Path, required=True, metavar="DIR", help="folder to make")
    add_encoder_options(made, head_width=32, tokens=96)
    add_step_options(made, steps=4000, batch=64, rate=2e-3)
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
