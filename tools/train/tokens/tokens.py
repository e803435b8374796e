# SPDX-License-Identifier: Apache-2.0
"""Trains what reads every token of an encoder, tags of words or answers to questions, or measures it:
`python tokens.py --help`, and README.md beside this file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))  # common
sys.path.insert(2, str(Path(__file__).resolve().parents[3]))  # codegen, the generator
sys.path.insert(3, str(Path(__file__).resolve().parents[1] / "finetune"))  # the new folder

from common.program import add_run_options, add_step_options, ended, make_parser, number


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = make_parser("tokens", __doc__)
    add = made.add_argument
    add("task", choices=("tag", "answer"), help="tag: .conll, .bio or .iob; answer: .json of SQuAD, or .jsonl")
    add("checkpoint", type=Path, metavar="CHECKPOINT", help="Hugging Face folder of an encoder")
    what = made.add_mutually_exclusive_group(required=True)
    what.add_argument("--train", type=Path, metavar="FILE", help="rows to learn from")
    what.add_argument("--evaluate", type=Path, metavar="FILE", help="measure CHECKPOINT on these rows instead")
    add("--out", type=Path, metavar="DIR", help="folder to make")
    add("--freeze", choices=("nothing", "embeddings", "encoder"), default="embeddings", help="what keeps its weights")
    add(
        "--max-tokens",
        type=number(int, 3, 1 << 16),
        metavar="N",
        help="longest text, or window (default: the checkpoint's own limit)",
    )
    add_step_options(made, steps=1000, batch=16, rate=1e-4, of="rows")
    add("--bfloat16", action="store_true", help="train in mixed precision; faster on CPUs that have bfloat16")
    add_run_options(made)
    return made


def main() -> int:
    """Exit codes: 0 done, 1 refused, 2 wrong use, 128 + n stopped by signal n (130: Ctrl-C)."""
    options = parser()
    asked = options.parse_args()
    if asked.train and not asked.out:
        options.error("--train needs --out")

    def run() -> str:
        import recipe  # PyTorch takes seconds to import

        return recipe.evaluate(asked) if asked.evaluate else recipe.train(asked)

    return ended("tokens", run)


if __name__ == "__main__":
    sys.exit(main())
