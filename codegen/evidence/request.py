# SPDX-License-Identifier: Apache-2.0
"""What is asked of `evidence`, and what its page shows of a check."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..head_folders import HeadFolder


@dataclass(frozen=True)
class Request:
    """The arguments of `evidence`."""

    directory: Path
    checkpoint: Path
    heads: tuple[HeadFolder, ...]  # of a model that has several
    texts: Path
    table: Path | None
    table_options: tuple[str, ...]
    latency: bool
    out: Path
    calibrate: Path | None = None  # what the model was calibrated on
    calibrate_columns: tuple[str, ...] | None = None
    smooth: Path | None = None  # what it was smoothed by
    smooth_columns: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Check:
    """A command that was run, and what it said."""

    title: str
    command: str  # as a user would type it
    holds: bool
    output: str
