# SPDX-License-Identifier: Apache-2.0
"""What the build on this machine made of a model: its program by symbol, and the deepest stack."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..building.stack_report import Stack, parse_stack
from .flash import Flash, flash_of


@dataclass(frozen=True)
class Linked:
    """None where it is not known."""

    program: str
    machine: str
    flash: Flash | None
    stack: Stack | None
    report: str  # where the build wrote the stack down, below the model's folder


def linked_of(program: Path, directory: Path, manifest: dict[str, Any]) -> Linked:
    """`program` is that of the generated folder `directory`, as it is built."""
    stack, report = _stack_of(directory, manifest)
    return Linked(program.name, platform.machine(), flash_of(program, manifest), stack, report)


def _stack_of(directory: Path, manifest: dict[str, Any]) -> tuple[Stack | None, str]:
    """That of the program's own build; those of its shared library, benchmark and so on lie deeper."""
    reports = (directory / "build").rglob(f"{manifest['name']}.stack.txt")
    for report in sorted(reports, key=lambda path: (len(path.parts), path))[:1]:
        try:
            stack = parse_stack(report.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if stack.budget == manifest["stack_budget"]:
            return stack, report.relative_to(directory).as_posix()
    return None, ""
