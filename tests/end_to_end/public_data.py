# SPDX-License-Identifier: Apache-2.0
"""Where public data and models lie. Unset: the test is skipped. Set and something is missing: it fails."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def data_folder() -> Path:
    """The folder that ETCH_DATA names."""
    return _folder("ETCH_DATA")


def models_folder() -> Path:
    """The folder that ETCH_MODELS names."""
    return _folder("ETCH_MODELS")


def _folder(variable: str) -> Path:
    value = os.environ.get(variable)
    if not value:
        pytest.skip(f"{variable} is not set")
    return Path(value)
