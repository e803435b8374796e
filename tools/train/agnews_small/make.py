# SPDX-License-Identifier: Apache-2.0
"""Remakes the checkpoint: `python make.py` with ETCH_DATA and ETCH_MODELS set (see README.md)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))  # common
sys.path.insert(1, str(Path(__file__).resolve().parents[1] / "agnews"))  # the recipe

import arguments


def main() -> None:
    asked = arguments.of_make(Path(__file__).resolve().parent)
    import distil
    import remake
    from student import Shape

    shape = Shape(vocabulary=6_000, positions=128, layers=2, width=96, heads=3, inner=384, activation="relu")
    remake.main(asked, shape, distil.Settings(epochs=2, peak_rate=1e-3))


if __name__ == "__main__":
    main()
