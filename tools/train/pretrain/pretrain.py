# SPDX-License-Identifier: Apache-2.0
"""Pre-trains a small BERT from random weights on plain texts: `python pretrain.py --help`, and README.md beside this
file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))  # common
sys.path.insert(2, str(Path(__file__).resolve().parents[3]))  # codegen, the generator
sys.path.insert(3, str(Path(__file__).resolve().parents[1] / "finetune"))  # the new folder

from common.program import add_encoder_options, add_run_options, add_step_options, ended, make_parser, number


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = make_parser("pretrain", __doc__)
    add = made.add_argument
    add("--texts", type=Path, required=True, metavar="FILE", help="a text a line")
    add("--vocabulary", type=Path, required=True, metavar="FILE", help="vocab.txt of an uncased BERT, to choose from")
    add("--out", type=Path, required=True, metavar="DIR", help="folder to make")
    add("--next-sentence", action="store_true", help="also learn whether a text's second half is its own")
    add_encoder_options(made, head_width=64, tokens=64)
    add("--hold-every", type=number(int, 2, 1 << 30), default=100, metavar="N", help="one text of N is held out")
    add_step_options(made, steps=2000, batch=32, rate=1e-3)
    add_run_options(made)
    return made


def main() -> int:
    """Exit codes: 0 done, 1 refused, 2 wrong use, 128 + n stopped by signal n (130: Ctrl-C)."""
    asked = parser().parse_args()

    def run() -> str:
        import recipe  # PyTorch takes seconds to import

        return recipe.run(asked)

    return ended("pretrain", run)


if __name__ == "__main__":
    sys.exit(main())
