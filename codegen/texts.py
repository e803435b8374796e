# SPDX-License-Identifier: Apache-2.0
"""Files of texts, one a line."""

from __future__ import annotations

from pathlib import Path

from .errors import EtchError


def read_lines(path: Path, stage: str) -> list[bytes]:
    """Bytes as they are; the last line may lack its line feed. EtchError of `stage` where there is no line."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise EtchError("texts-unreadable", stage, f"{path}: {error.strerror}") from error
    lines = content.split(b"\n")
    if not lines[-1]:
        lines.pop()
    if not lines:
        raise EtchError("no-texts", stage, f"{path} is empty")
    return lines
