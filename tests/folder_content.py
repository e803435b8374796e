# SPDX-License-Identifier: Apache-2.0
"""What lies in a folder, to be compared."""

from __future__ import annotations

from pathlib import Path


def content(folder: Path) -> dict[str, bytes | None]:
    """Every entry below a folder; None for a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }
