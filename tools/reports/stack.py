# SPDX-License-Identifier: Apache-2.0
"""Where the stack that the build computed is written down."""

from __future__ import annotations

from pathlib import Path

from codegen.building.stack_report import Stack, parse_stack

from .failure import refused, text_of
from .model_folder import Model, build_folder


def read_stack(path: Path) -> Stack:
    try:
        return parse_stack(text_of(path))
    except ValueError as error:
        raise refused("not-a-stack-report", f"{path} is not what tools/stack writes") from error


def find_stacks(elf: Path, models: list[Model]) -> list[Stack]:
    """The program's report beside it, or else those of its models in its build folder."""
    beside = elf.with_name(f"{elf.name.removesuffix('.elf')}.stack.txt")
    if beside.is_file():
        return [read_stack(beside)]
    build = build_folder(elf)
    if build is None:
        return []
    found = [sorted(build.rglob(f"{model.name}.stack.txt"))[:1] for model in models]
    return [read_stack(path) for paths in found for path in paths]
