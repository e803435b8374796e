# SPDX-License-Identifier: Apache-2.0
"""How far a training is, in a file that the next run of the same rows and options finds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from common.checkpoint import digest, keep_state


class Kept:
    """A file of `folder`; `run` says what the training depends on."""

    def __init__(self, folder: Path, run: object) -> None:
        self._place = folder / f"{digest(run)[:24]}.pt"

    def read(self) -> dict[str, Any] | None:
        """What was written last; None: nothing."""
        return torch.load(self._place, weights_only=True) if self._place.exists() else None

    def write(self, state: dict[str, Any]) -> None:
        """Replaces it."""
        keep_state(self._place, state)
