# SPDX-License-Identifier: Apache-2.0
"""Programs of generated folders out of the libraries of a finished build: seconds, where CMake's build takes a minute.

A folder's sources are compiled with the commands that CMake wrote down for `agnews_small` in compile_commands.json, and
linked with what it used for that model's program (model-programs.json, see model_programs.cmake).
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from classify_program import ROOT, Program, build_folder
from once import once
from standard_headers import standard_headers

from codegen.building.build import program_path

REFERENCE = "agnews_small"  # the committed model whose commands are taken
REFERENCE_VERB = "classify"
_SOURCES = ROOT / "generated" / REFERENCE
_MAIN = ROOT / "tools" / "cli" / "model.cpp"


@dataclass(frozen=True)
class Built:
    """What was made of a generated folder."""

    program: Program
    library: Path  # of the model
    runtime: Path  # libetch.a of the build


def build_model(folder: Path) -> Built:
    """Library, stack check and program of a generated folder, in its `build/bin` as `etch build` does it.

    The same content is built once, whichever test and worker asks.

    Skips where ETCH_BUILD names no build with CMake's records.
    """
    built = build_library(folder)
    folder = folder.resolve()
    content = (folder / "etch.json").read_bytes()
    once(folder / "build" / "linked", content, lambda: _link(folder, built, _declared(folder / "CMakeLists.txt")))
    return built


def build_library(folder: Path) -> Built:
    """The same without the program."""
    record = _record()
    folder = folder.resolve()
    program, declared = program_path(folder), _declared(folder / "CMakeLists.txt")
    built = Built(Program(program), program.parent / f"libetch_{declared['NAME'][0]}.a", Path(record["libraries"][-1]))
    once(folder / "build" / "made", (folder / "etch.json").read_bytes(), lambda: _compile(folder, built, declared))
    return built


def build_program(folder: Path) -> Program:
    """The program alone."""
    return build_model(folder).program


def build_test(folder: Path, source: Path, out: Path, *flags: str) -> Path:
    """A C++ program of the tests over a generated folder, in `out`.

    Macros tell it the model: ETCH_MODEL_SOURCE, ETCH_MODEL_HEADER, ETCH_MODEL, and ETCH_TASK(suffix) for its functions.
    """
    built = build_library(folder)
    declared = _declared(folder / "CMakeLists.txt")
    (name,), (task,) = declared["NAME"], declared["TASK"]
    places = (ROOT / "runtime" / "include", folder, Path(__file__).parent)
    macros = {
        "ETCH_MODEL_SOURCE": f'"{name}.cpp"',
        "ETCH_MODEL_HEADER": f'"{folder}/{name}.hpp"',
        "ETCH_MODEL": name,
        "ETCH_TASK(suffix)": f"{task}##suffix",
    }
    run(
        [
            *("c++", "-std=c++17", "-O1", "-ffp-contract=off"),
            *(f"-I{place}" for place in places),
            *(f"-D{macro}={value}" for macro, value in macros.items()),
            *filter(None, _record()["flags"]),  # of a build that counts, so that its libraries link
            *(*flags, source, built.library, built.runtime, "-o", out),
        ]
    )
    return out


def without_symbols(program: Path, out: Path) -> bytes:
    """A program's bytes but for the symbols, which name the file that a tokenizer was compiled from: of models whose
    tokenizer has the same parts, whichever came first."""
    run(["strip", "--remove-section=.note.gnu.build-id", "-o", out, program])
    return out.read_bytes()


def _compile(folder: Path, built: Built, declared: dict[str, list[str]]) -> None:
    record, program = _record(), built.program.path
    (name,), (task,) = declared["NAME"], declared["TASK"]
    objects = folder / "build" / "objects"
    for place in (objects, program.parent):
        place.mkdir(parents=True, exist_ok=True)

    tokenizer = f"{name}_tokenizer.cpp"

    def compile_one(source: str) -> Path:
        command = _command_for(folder / source, folder, name, task, program.name)
        if source == tokenizer:
            return _tokenizer_object(folder / source, command)
        return _compile_one(folder / source, objects / f"{source}.o", command)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        model = dict(zip(declared["SOURCES"], pool.map(compile_one, declared["SOURCES"]), strict=True))
    if record["stack"]:
        checker, *runtime = record["stack"]
        report = str(folder / "build" / f"{name}.stack.txt")
        public = [str(made) for source, made in model.items() if source != tokenizer]  # what a user calls
        run([checker, name, *declared["STACK_BUDGET"], report, *public, "--", str(model[tokenizer]), *runtime])
    built.library.unlink(missing_ok=True)
    run([record["archiver"], "qc", str(built.library), *map(str, model.values())])


def _compile_one(source: Path, made: Path, command: Sequence[str]) -> Path:
    run([*command, "-o", made, "-c", source])
    return made


def _tokenizer_object(source: Path, command: Sequence[str]) -> Path:
    """Of the code of a tokenizer, compiled once for all models whose tokenizer has the same parts."""
    key = tokenizer_key(source, command)
    made = build_folder() / "tokenizers" / f"{key}.o"
    once(made.with_suffix(".made"), key, lambda: _compile_one(source, made, command))
    return made


def tokenizer_key(source: Path, command: Sequence[str]) -> str:
    """A hash of what the object is made of and by: its parts, the headers, the compiler and its options."""
    parts = source.read_text().rstrip().rpartition("\n")[2]
    options = [word for word in command if str(source.parent) not in word]  # not where the model is
    return hashlib.sha256(repr((parts, _tokenizer_headers(), _compiler_version(), options)).encode()).hexdigest()[:16]


@cache
def _compiler_version() -> str:
    return subprocess.run([_record()["linker"][0], "--version"], capture_output=True, text=True, check=True).stdout


@cache
def _tokenizer_headers() -> str:
    """A hash of what tokenizers are compiled of."""
    headers = sorted((ROOT / "runtime").rglob("*.hpp"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in headers)).hexdigest()


def _link(folder: Path, built: Built, declared: dict[str, list[str]]) -> None:
    record, program = _record(), built.program.path
    (name,), (task,) = declared["NAME"], declared["TASK"]
    command = [*_command_for(_MAIN, folder, name, task, program.name), *_headers()]
    main = _compile_one(_MAIN, folder / "build" / "objects" / f"{_MAIN.name}.o", command)
    linked = [*record["linker"], str(main), *record["program"], str(built.library), *record["libraries"]]
    run([*linked, "-o", str(program)])


@cache
def _headers() -> list[str]:
    """Options with which the program's source is compiled sooner."""
    flags = [word for word in _commands()[_MAIN] if not word.startswith(("-D", "-I")) and word != str(_MAIN)]
    return standard_headers(build_folder(), flags)


def run(command: Sequence[str | Path]) -> None:
    """A command that must succeed; else what it printed is shown."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0, f"{shlex.join(map(str, command))}\n{done.stdout[-8000:]}"


@cache
def _record() -> dict[str, Any]:
    path = build_folder() / "model-programs.json"
    if not path.is_file():
        pytest.skip("ETCH_BUILD was not configured with ETCH_BUILD_TESTS: it does not say how programs are linked")
    return json.loads(path.read_text())


def _declared(lists: Path) -> dict[str, list[str]]:
    """Arguments of etch_generated_model() by keyword; NAME is the first one."""
    found: dict[str, list[str]] = {}
    key = "NAME"
    for word in lists.read_text().split("(", 1)[1].rsplit(")", 1)[0].split():
        if word in ("VERSION", "TASK", "STACK_BUDGET", "SOURCES", "CUDA_SOURCES"):
            key = word
        else:
            found.setdefault(key, []).append(word)
    return found


@cache
def _commands() -> dict[Path, list[str]]:
    """CMake's command for each source of the reference model's library and program."""
    entries = json.loads((build_folder() / "compile_commands.json").read_text())
    found: dict[Path, list[str]] = {}
    for entry in entries:
        source, words = Path(entry["file"]), shlex.split(entry["command"])
        if source.parent == _SOURCES or (source == _MAIN and f"-DETCH_MODEL={REFERENCE}" in words):
            for option in ("-o", "-c"):
                at = words.index(option)
                del words[at : at + 2]
            found[source] = words
    return found


def _command_for(source: Path, folder: Path, name: str, task: str, program: str) -> list[str]:
    """The reference's command with this model's name, task and folder."""
    known = _commands()
    if source == _MAIN:
        taken = known[_MAIN]
    else:  # tables are C++ or assembler
        same = _SOURCES / source.name.replace(name, REFERENCE)
        taken = known.get(same) or known[_SOURCES / f"{REFERENCE}{source.suffix}"]
    own = {
        f"-I{_SOURCES}": f"-I{folder}",
        f"-DETCH_MODEL={REFERENCE}": f"-DETCH_MODEL={name}",
        f'-DETCH_MODEL_HEADER="{_SOURCES}/{REFERENCE}.hpp"': f'-DETCH_MODEL_HEADER="{folder}/{name}.hpp"',
        f'-DETCH_TASK_HEADER="tasks/{REFERENCE_VERB}.hpp"': f'-DETCH_TASK_HEADER="tasks/{task}.hpp"',
        f'-DETCH_PROGRAM="{REFERENCE_VERB}-{REFERENCE}"': f'-DETCH_PROGRAM="{program}"',
    }
    launcher = [word for word in _record()["launcher"] if word and word != taken[0]]
    return [*launcher, *(own.get(word, word) for word in taken)]
