# SPDX-License-Identifier: Apache-2.0
"""Models of random shapes and settings mean for etch what they do for `transformers`, where that is installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.sweep
def test_models_of_every_family() -> None:
    for module in ("torch", "transformers"):
        pytest.importorskip(module)
    command = [
        sys.executable,
        Path(__file__).with_name("model_differences.py"),
        "--models",
        "230",
        "--seed",
        "20261127",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 different" in done.stdout
