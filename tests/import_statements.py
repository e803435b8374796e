# SPDX-License-Identifier: Apache-2.0
"""What a file of this project imports, by the text of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Imported:
    """`import module`, or `from module import names`, from the root however it was written."""

    module: str
    names: tuple[str, ...]
    for_types: bool  # below `if TYPE_CHECKING:`

    @property
    def all(self) -> tuple[str, ...]:
        """The module and, as some are modules too, the names in it."""
        return (self.module, *(f"{self.module}.{name}" for name in self.names))


def imports_of(file: str) -> Iterator[Imported]:
    """Those of a file, a path from the root, inside functions too."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    tests = (node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test))
    for_types = {below for test in tests for below in ast.walk(test)}
    package = Path(file).parent.parts
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (Imported(alias.name, (), node in for_types) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield Imported(module, tuple(alias.name for alias in node.names), node in for_types)
