# SPDX-License-Identifier: Apache-2.0
"""What a stage hands to the next one cannot be changed behind its back: dataclasses are frozen."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from codegen import errors

CODEGEN = Path(errors.__file__).resolve().parent
# What counts, or is put together, within one function or for as long as a command runs.
THAT_CHANGE = {
    "verification/certificate.py: Counts",
    "lower/schedule.py: _Versions",
    "memory/placement.py: Life",
    "process/progress.py: Listener",
    "process/progress.py: _Stage",
}


def changeable(source: str) -> Iterator[str]:
    """The dataclasses that are not frozen."""
    for node in ast.walk(ast.parse(source)):
        for decorator in node.decorator_list if isinstance(node, ast.ClassDef) else ():
            options = decorator.keywords if isinstance(decorator, ast.Call) else []
            name = decorator.func if isinstance(decorator, ast.Call) else decorator
            frozen = any(option.arg == "frozen" and ast.literal_eval(option.value) is True for option in options)
            if isinstance(name, ast.Name) and name.id == "dataclass" and not frozen:
                yield node.name


def test_they_are_found() -> None:
    kinds = {"A": "", "B": "(frozen=False)", "C": "(order=True, frozen=True)", "D": "(order=True)"}
    source = "\n".join(f"@dataclass{options}\nclass {name}: ..." for name, options in kinds.items())
    assert list(changeable(source)) == ["A", "B", "D"]


def test_values_are_frozen() -> None:
    found = {
        f"{path.relative_to(CODEGEN).as_posix()}: {name}"
        for path in sorted(CODEGEN.rglob("*.py"))
        for name in changeable(path.read_text(encoding="utf-8"))
    }
    assert found == THAT_CHANGE
