# SPDX-License-Identifier: Apache-2.0
"""codegen/ERRORS.md has every code that the generator and its builds refuse with, and no other; so has `STAGES` every
stage."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from codegen.errors import STAGES

CODEGEN = Path(__file__).resolve().parents[2] / "codegen"
PAGE = (CODEGEN / "ERRORS.md").read_text(encoding="utf-8")
CMAKE = (CODEGEN.parent / "CMakeLists.txt", *sorted((CODEGEN.parent / "runtime" / "cmake").glob("*.cmake")))
# Functions that take a code: as the first argument, or behind the stage.
TAKE_A_CODE = {
    "EtchError",
    "refusal",
    "tensor_refusal",
    "head_refusal",
    "refuse",
    "_refuse",
    "_refusal",
    "Refused",
    "fail",
    "partial",
}
OF_NAMED_FILES = "self._refuse"  # of outside_files.py: `file` is what the file is
CODE = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)+")


@dataclass(frozen=True)
class Call:
    file: str
    function: str
    given: tuple[ast.expr, ...]

    @property
    def name(self) -> str:
        return self.function.rpartition(".")[2]


@cache
def nodes() -> tuple[tuple[str, ast.AST], ...]:
    """Calls, assignments and definitions, with the file that each is in."""
    trees = {path.relative_to(CODEGEN).as_posix(): ast.parse(path.read_text("utf-8")) for path in CODEGEN.rglob("*.py")}
    kinds = (ast.Call, ast.Assign, ast.FunctionDef, ast.ClassDef)
    return tuple((file, node) for file, tree in trees.items() for node in ast.walk(tree) if isinstance(node, kinds))


@cache
def calls() -> tuple[Call, ...]:
    """Of functions and methods by their names."""
    found = ((file, node) for file, node in nodes() if isinstance(node, ast.Call))
    kinds = (ast.Name, ast.Attribute)
    return tuple(
        Call(file, ast.unparse(node.func), tuple(node.args)) for file, node in found if isinstance(node.func, kinds)
    )


def texts(node: ast.AST) -> set[str]:
    """Of an expression that is one, or one of two."""
    parts = (node.body, node.orelse) if isinstance(node, ast.IfExp) else (node,)
    return {part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)}


def second(name: str) -> set[str]:
    """What a function is given behind its first argument."""
    return {text for call in calls() if call.name == name and len(call.given) > 1 for text in texts(call.given[1])}


def raised() -> set[str]:
    codes: set[str] = set()
    of_files: set[str] = {"too-large", "unreadable"}  # by functions that both kinds of files share
    for call in calls():
        if call.name in TAKE_A_CODE:
            found = {text for argument in call.given[:2] for text in texts(argument)}
            if (call.file, call.function) == ("files/outside_files.py", OF_NAMED_FILES):
                of_files |= {code.removeprefix("file-") for code in found if code.startswith("file-")}
                found = {code for code in found if not code.startswith("file-")}
            codes |= found
    for _, node in nodes():
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "code":
            codes |= texts(node.value)
    codes = {code for code in codes if CODE.fullmatch(code)} - STAGES
    codes |= {f"{what}-failed" for what in second("_run")}
    codes |= {f"tokenizer-{where.replace('_', '-')}" for where in second("typed")}
    codes |= {f"{what}-{code}" for what in second("NamedFile") for code in of_files}
    printed = "".join(path.read_text(encoding="utf-8") for path in (CODEGEN / "cli.py", *CMAKE))
    return codes | set(re.findall(r"error\[([a-z-]+)\]", printed))


def named() -> set[str]:
    """On the page: `error[CODE]`, or among those that the end lists."""
    end = PAGE.partition("## Those that are not above")[2]
    listed = set(re.findall(r"`((?:TEXTS-)?[a-z0-9]+(?:-[a-z0-9]+)*)`(?:[,:.]| or)", end)) - {
        "texts",
        "table",
        "corpus",
    }
    of_texts = {code.removeprefix("TEXTS-") for code in listed if code.startswith("TEXTS-")}
    codes = set(re.findall(r"error\[([a-z0-9-]+)\]", PAGE)) | {code for code in listed if not code.startswith("TEXTS-")}
    return codes | {f"{what}-{code}" for what in ("texts", "table", "corpus") for code in of_texts}


def test_the_page_has_every_code() -> None:
    assert sorted(raised() - named()) == []


def test_the_page_has_no_other() -> None:
    assert sorted(named() - raised()) == []


def test_codes_that_are_made_of_parts_are_known_here() -> None:
    """Where a code is no constant, `raised` has to know what it is made of."""
    made = {
        call.file
        for call in calls()
        if call.name in ("EtchError", "refusal") and call.given and isinstance(call.given[0], ast.JoinedStr)
    }
    # Those of gpu/ take a message alone.
    assert {file for file in made if not file.startswith("gpu/")} == {
        "building/build.py",
        "load/tokenizer_files/tokenizer_json/fields.py",
    }


def takes_a_stage() -> dict[str, int]:
    """Functions and classes that other modules give one, with the place of that argument."""
    found = {"EtchError": 1}
    for _, node in nodes():
        if isinstance(node, ast.FunctionDef):
            names = [argument.arg for argument in node.args.args if argument.arg != "self"]
        elif isinstance(node, ast.ClassDef):
            fields = (field.target for field in node.body if isinstance(field, ast.AnnAssign))
            names = [ast.unparse(field) for field in fields]
        else:
            continue
        if "stage" in names and not node.name.startswith("_"):
            found[node.name] = names.index("stage")
    return found


def stages() -> set[str]:
    found: set[str] = set()
    places = takes_a_stage()
    for call in calls():
        place = places.get(call.name)
        if place is not None and len(call.given) > place:
            found |= texts(call.given[place])
    for _, node in nodes():
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ("STAGE", "_STAGE"):
            found |= texts(node.value)
    return found


def test_stages_are_those_that_refuse() -> None:
    assert sorted(stages()) == sorted(STAGES)
