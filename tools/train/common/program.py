# SPDX-License-Identifier: Apache-2.0
"""What the programs that train have in common: the form of their options, and how they end."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from common.refusal import Refused

from codegen.errors import EtchError


def make_parser(name: str, description: str | None) -> argparse.ArgumentParser:
    """Without options; --help says their defaults."""
    return argparse.ArgumentParser(
        prog=name,
        description=description,
        allow_abbrev=False,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )


def add_run_options(made: argparse.ArgumentParser) -> None:
    """Those that every run has, behind its own."""
    made.add_argument("--seed", type=int, default=0, metavar="N", help="of everything random")
    made.add_argument("--threads", type=int, metavar="N", help="PyTorch's choice where not given")


def ended(name: str, run: Callable[[], str]) -> int:
    """Prints what a run says at its end; `run` imports PyTorch. Exit codes: 0 done, 1 refused."""
    try:
        print(run())
        return 0
    except (Refused, EtchError) as error:
        print(f"{name}: {error}", file=sys.stderr)
    except ImportError as error:
        print(f"{name}: {error}; install tools/train/requirements.txt", file=sys.stderr)
    return 1
