# SPDX-License-Identifier: Apache-2.0
"""What the CPU at hand has."""

from __future__ import annotations

from pathlib import Path


def cpu_flags() -> frozenset[str]:
    """Names of instruction sets, as Linux writes them; none where it does not tell."""
    info = Path("/proc/cpuinfo")
    return frozenset(info.read_text(encoding="utf-8").split()) if info.exists() else frozenset()
