# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes a checkpoint folder on a labelled file: `python finetune.py --help`, and README.md beside this file."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import NoReturn

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))  # common
sys.path.insert(2, str(Path(__file__).resolve().parents[3]))  # codegen, the generator

from base import load_base
from folder import check_free, new_folder, write_settings
from refusal import Refused
from rows import read_rows
from settings import Settings, parse

from codegen.errors import EtchError


def say(message: str) -> None:
    """Progress goes to standard error."""
    print(message, file=sys.stderr, flush=True)


def run(settings: Settings) -> str:
    """Files -> rows -> model -> folder. Everything that can be refused without PyTorch is looked at before it loads."""
    check_free(settings.out)
    base = load_base(settings.checkpoint, settings.max_tokens, settings.columns.pairs)
    labels, parts = read_rows(settings, base)
    with new_folder(settings.out) as folder:
        import training_run  # PyTorch takes seconds to import

        write_settings(folder, base, labels)
        done = training_run.train_into(folder, settings, base, labels, parts, say)
    return done


def _terminated(*_: object) -> NoReturn:
    raise SystemExit(143)


def main() -> int:
    """Exit codes: 0 done, 1 refused, 2 wrong use, 130 interrupted, 143 terminated."""
    signal.signal(signal.SIGTERM, _terminated)
    try:
        print(run(parse(None)))
        return 0
    except (Refused, EtchError) as error:
        return _fail(str(error), 1)
    except OSError as error:
        return _fail(f"{error.strerror or error}", 1)
    except ImportError as error:
        return _fail(f"{error}; install tools/train/finetune/requirements.txt", 1)
    except KeyboardInterrupt:
        return _fail("interrupted", 130)


def _fail(message: str, code: int) -> int:
    line = " ".join(message.split())
    say("finetune: " + "".join(c if c.isprintable() else "?" for c in line))
    return code


if __name__ == "__main__":
    sys.exit(main())
