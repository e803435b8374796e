# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes a checkpoint folder on a labelled file: `python finetune.py --help`, and README.md beside this file."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))  # common
sys.path.insert(2, str(Path(__file__).resolve().parents[3]))  # codegen, the generator

from common.refusal import Refused
from settings import Settings, parse

from codegen.errors import EtchError
from codegen.process.interrupts import run_program


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
    return run_program("finetune", _answered)


def _answered() -> int:
    try:
        print(run(parse(None)))
        return 0
    except (Refused, EtchError) as error:
        return _fail(str(error), 1)
    except OSError as error:
        return _fail(f"{error.strerror or error}", 1)
    except ImportError as error:
        return _fail(f"{error}; install tools/train/requirements.txt", 1)


def _fail(message: str, code: int) -> int:
    line = " ".join(message.split())
    say("finetune: " + "".join(c if c.isprintable() else "?" for c in line))
    return code


if __name__ == "__main__":
    sys.exit(main())
