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

    @property
    def all(self) -> tuple[str, ...]:
        """The module and, as some are modules too, the names in it."""
        return (self.module, *(f"{self.module}.{name}" for name in self.names))


def imports_of(file: str) -> Iterator[Imported]:
    """Those of a file, a path from the root, inside functions and for annotations too."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    package = Path(file).parent.parts
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (Imported(alias.name, ()) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield Imported(module, tuple(alias.name for alias in node.names))
