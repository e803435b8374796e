# SPDX-License-Identifier: Apache-2.0
"""Models of random shapes and settings mean for etch what they do for `transformers` and `sentence-transformers`, where
these are installed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

LEAST_SAME = 0.3  # of the models: tests/README.md has 40 % and more


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("script", "count"), [("model_differences.py", 230), ("sentence_differences.py", 60)], ids=["models", "sentences"]
)
def test_models_of_every_family(script: str, count: int) -> None:
    for module in ("torch", "transformers", "sentence_transformers"):
        pytest.importorskip(module)
    command = [sys.executable, Path(__file__).with_name(script), "--models", str(count), "--seed", "20261127"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.search(r"^(\d+) the same, \d+ refused, 0 different$", done.stdout, re.MULTILINE)
    assert found is not None, done.stdout
    assert int(found[1]) > LEAST_SAME * count, done.stdout  # refused models, and those of no library, compare nothing
