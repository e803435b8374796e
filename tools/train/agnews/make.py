# SPDX-License-Identifier: Apache-2.0
"""Remakes the checkpoint: `python make.py` with ETCH_DATA and ETCH_MODELS set (see README.md)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))  # common

import arguments


def main() -> None:
    asked = arguments.of_make(Path(__file__).resolve().parent)
    import distil
    import remake
    from student import Shape

    # 1.33 M weights in the layers, 1.78 M in the embeddings.
    shape = Shape(vocabulary=9_000, positions=256, layers=3, width=192, heads=3, inner=768, activation="gelu")
    remake.main(asked, shape, distil.Settings(epochs=2))


if __name__ == "__main__":
    main()
