# SPDX-License-Identifier: Apache-2.0
"""Names of llama.cpp's files, which only `etch convert` reads, and what a user can do with them."""

from __future__ import annotations

from pathlib import Path

from ..process.command_line import etch_command
from .refusal import refusal

GGUF_SUFFIX = ".gguf"


def gguf_names(names: list[str]) -> list[str]:
    """Those of the names that such a file has."""
    return [name for name in names if name.lower().endswith(GGUF_SUFFIX)]


def gguf_refusal(path: Path) -> Exception:
    """The refusal of a file, with the command that makes a folder of it."""
    command = etch_command("convert", path, "--out", path.with_name(f"{path.stem}-folder"))
    return refusal(
        "format-not-supported", f"this is a GGUF file; to make a checkpoint of it: {command}", file=path.name
    )
