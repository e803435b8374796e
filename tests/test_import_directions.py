# SPDX-License-Identifier: Apache-2.0
"""Data flows one way: neither modules nor packages import each other in a circle, nor for annotations alone."""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from import_statements import ROOT, imports_of

Edges = dict[str, set[str]]


def _name(path: Path) -> str:
    """`codegen.ir.graph`; of `__init__.py` the package's."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {_name(path): path for folder in ("codegen", "tools") for path in (ROOT / folder).rglob("*.py")}


def _package(module: str) -> str:
    return module if MODULES[module].name == "__init__.py" else module.rpartition(".")[0]


def _imported(module: str) -> Iterator[str]:
    """Modules that one imports."""
    for found in imports_of(str(MODULES[module].relative_to(ROOT))):
        within = [name for name in found.all[1:] if name in MODULES]
        yield from within or {found.module} & MODULES.keys()


def _of_modules() -> Edges:
    return {module: {*_imported(module)} - {module} for module in MODULES}


def _of_packages() -> Edges:
    """A package and those inside it may look into each other."""
    edges: Edges = {}
    for module in MODULES:
        package = _package(module)
        for other in map(_package, _imported(module)):
            if not f"{other}.".startswith(f"{package}.") and not f"{package}.".startswith(f"{other}."):
                edges.setdefault(package, set()).add(other)
    return edges


def _circle(edges: Edges) -> list[str]:
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []


def test_modules_do_not_import_each_other() -> None:
    assert _circle(_of_modules()) == []


def test_packages_do_not_import_each_other() -> None:
    edges = _of_packages()
    assert {"codegen.frontends", "codegen.load"} <= edges.keys(), "imports are not found"
    assert _circle(edges) == []
