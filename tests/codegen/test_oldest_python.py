# SPDX-License-Identifier: Apache-2.0
"""What users run works with the oldest Python that pyproject.toml allows: its grammar, and nothing that the standard
library has only since a later one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("codegen", "tools/cli", "tools/package", "tools/python", "tools/sqlite", "tools/stack", "tools/web")
OLDEST = (3, 10)
# Modules and their names, since 3.11 and later: those that a generator could have a use for ("What's New in Python").
LATER = {
    "asyncio": {"Barrier", "Runner", "TaskGroup", "timeout"},
    "collections.abc": {"Buffer"},
    "contextlib": {"chdir"},
    "copy": {"replace"},
    "datetime": {"UTC"},
    "enum": {"EnumCheck", "ReprEnum", "StrEnum", "member", "nonmember", "verify"},
    "hashlib": {"file_digest"},
    "inspect": {"getmembers_static"},
    "itertools": {"batched"},
    "logging": {"getLevelNamesMapping"},
    "math": {"cbrt", "exp2", "fma", "sumprod"},
    "operator": {"call", "is_none", "is_not_none"},
    "os": {"listdrives", "process_cpu_count"},
    "os.path": {"isjunction", "splitroot"},
    "re": {"NOFLAG"},
    "sys": {"activate_stack_trampoline", "exception"},
    "tomllib": {"load", "loads"},
    "types": {"get_original_bases"},
    "typing": {
        *("LiteralString", "Never", "NotRequired", "ReadOnly", "Required", "Self", "TypeAliasType", "TypeIs"),
        *("TypeVarTuple", "Unpack", "assert_never", "assert_type", "clear_overloads", "dataclass_transform"),
        *("get_overloads", "override", "reveal_type"),
    },
}
# The same of methods, classes without a module and arguments, whatever they belong to.
METHODS = {"add_note", "from_uri", "full_match", "is_junction", "with_segments"}
BUILT_IN = {"BaseExceptionGroup", "ExceptionGroup", "PythonFinalizationError"}
ARGUMENTS = {"case_sensitive", "delete_on_close", "include_hidden", "onexc", "recurse_symlinks", "walk_up"}


def later_names(source: str) -> Iterator[str]:
    """What of a module's text the oldest Python does not have. SyntaxError where it cannot read the text."""
    for node in ast.walk(ast.parse(source, feature_version=OLDEST)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name == "tomllib")
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            later = LATER.get(node.module or "", set())
            yield from (f"{node.module}.{alias.name}" for alias in node.names if alias.name in later)
        elif isinstance(node, ast.Attribute):
            of = ast.unparse(node.value)
            if node.attr in LATER.get(of, ()) or node.attr in METHODS:
                yield f"{of}.{node.attr}"
        elif isinstance(node, ast.Name) and node.id in BUILT_IN:
            yield node.id
        elif isinstance(node, ast.keyword) and node.arg in ARGUMENTS:
            yield f"{node.arg}="


def test_oldest_is_that_of_the_package() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'requires-python = ">={OLDEST[0]}.{OLDEST[1]}"' in project
    assert f'target-version = "py{OLDEST[0]}{OLDEST[1]}"' in project
    assert all(f'"{folder}' in project for folder in FOLDERS)


def test_nothing_of_a_later_python() -> None:
    files = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    assert len(files) > 100
    found = {str(path.relative_to(ROOT)): [*later_names(path.read_text(encoding="utf-8"))] for path in files}
    assert {path: names for path, names in found.items() if names} == {}


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("from typing import Any, Self", "typing.Self"),
        ("import tomllib", "tomllib"),
        ("def f():\n    return hashlib.file_digest(file, 'sha256')", "hashlib.file_digest"),
        ("shutil.rmtree(folder, onexc=print)", "onexc="),
        ("error.add_note('why')", "error.add_note"),
        ("raise ExceptionGroup('all', [])", "ExceptionGroup"),
    ],
)
def test_what_is_later_is_found(source: str, name: str) -> None:
    assert [*later_names(source)] == [name]


def test_later_grammar_is_found() -> None:
    with pytest.raises(SyntaxError):
        [*later_names("try:\n    pass\nexcept* OSError:\n    pass")]
