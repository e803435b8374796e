# SPDX-License-Identifier: Apache-2.0
"""Measures a checkpoint: `python evaluate.py [--test]` with ETCH_DATA set (see README.md)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))  # common

import arguments


def main() -> None:
    asked = arguments.of_evaluate(Path(__file__).resolve().parent)
    from accuracy import measure  # PyTorch takes seconds to import

    measure(asked)


if __name__ == "__main__":
    main()
