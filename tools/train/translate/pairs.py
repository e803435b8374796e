# SPDX-License-Identifier: Apache-2.0
"""English captions and their German translations: Multi30k's task 1, as it was typed."""

from __future__ import annotations

import gzip
from pathlib import Path

TRAIN, HELD_OUT, TEST = "train", "val", "test_2016_flickr"


def read_pairs(data: Path, part: str) -> tuple[list[str], list[str]]:
    """(English, German), a line each."""
    english, german = (_lines(data / "multi30k" / f"{part}.{language}.gz") for language in ("en", "de"))
    if len(english) != len(german):
        raise SystemExit(f"{part}: {len(english)} English lines, {len(german)} German ones")
    return english, german


def _lines(path: Path) -> list[str]:
    return [line.strip() for line in gzip.decompress(path.read_bytes()).decode("utf-8").split("\n")[:-1]]
