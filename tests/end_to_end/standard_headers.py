# SPDX-License-Identifier: Apache-2.0
"""The standard headers that the program's sources include, compiled once: reading them is half of what those take."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from once import once

NAMES = ("algorithm", "atomic", "cstdint", "cstdio", "memory", "optional", "string", "string_view", "vector")


def standard_headers(folder: Path, compiler: Sequence[str]) -> list[str]:
    """Options for sources that are compiled with the same command; what they name is made in `folder`."""
    header = folder / "standard.hpp"
    text = "".join(f"#include <{name}>\n" for name in NAMES)
    command = [*compiler, "-x", "c++-header", str(header), "-o", f"{header}.gch"]

    def compile_it() -> None:
        header.write_text(text)
        subprocess.run(command, check=True)

    once(folder / "standard.made", repr((text, command)), compile_it)
    return ["-include", str(header)]
