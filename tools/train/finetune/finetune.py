# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes a checkpoint folder on a labelled file: `python finetune.py --help`, and README.md beside this file."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))  # common
sys.path.insert(2, str(Path(__file__).resolve().parents[3]))  # codegen, the generator

from common.program import ended
from settings import Settings, parse


def say(message: str) -> None:
    """Progress goes to standard error."""
    print(message, file=sys.stderr, flush=True)


def run(settings: Settings) -> str:
    """Files -> rows -> model -> folder. The command line is looked at before any package loads, and all else
    that can be refused without PyTorch before that does."""
    from base import load_base
    from folder import check_free, new_folder, write_settings
    from rows import read_rows

    check_free(settings.out)
    base = load_base(settings.checkpoint, settings.max_tokens, settings.columns.pairs)
    labels, parts = read_rows(settings, base)
    with new_folder(settings.out) as folder:
        import training_run  # PyTorch takes seconds to import

        write_settings(folder, base, labels)
        done = training_run.train_into(folder, settings, base, labels, parts, say)
    return done


def main() -> int:
    """Exit codes: 0 done, 1 refused, 2 wrong use, 128 + n stopped by signal n (130: Ctrl-C)."""
    return ended("finetune", lambda: run(parse(None)))


if __name__ == "__main__":
    sys.exit(main())
