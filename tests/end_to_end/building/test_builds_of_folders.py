# SPDX-License-Identifier: Apache-2.0
"""What `--build` and the commands behind it make of a folder: again where something changed, one at a time, where it
lies now."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tiny_checkpoint import write_tiny_checkpoint

from codegen.building import built_program
from codegen.building.build import program_path

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("builds")
    write_tiny_checkpoint(place / "checkpoint")
    etch(place, "generate", "checkpoint", "--out", "tiny")
    return place


def started(place: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "codegen", *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen(command, cwd=place, env=os.environ | {"PYTHONPATH": str(ROOT)}, **pipes)  # type: ignore[call-overload, no-any-return]


def etch(place: Path, *arguments: str) -> str:
    process = started(place, *arguments)
    said = process.communicate()[0]
    assert process.returncode == 0, said
    return said


VERIFY = ("--checkpoint", "checkpoint")


def test_two_at_once(place: Path) -> None:
    """Both build, one after the other."""
    both = [started(place, "verify", "tiny", *VERIFY) for _ in range(2)]
    said = [process.communicate()[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert all("the contract's bits" in each for each in said)


def test_a_folder_that_was_moved(place: Path) -> None:
    etch(place, "verify", "tiny", *VERIFY)
    (place / "tiny").rename(place / "moved")
    assert "the contract's bits" in etch(place, "verify", "moved", *VERIFY)
    cache = (place / "moved/build/CMakeCache.txt").read_text()
    assert f"CMAKE_CACHEFILE_DIR:INTERNAL={place / 'moved/build'}\n" in cache
    (place / "moved").rename(place / "tiny")


def test_a_program_is_built_again_whenever_it_is_asked(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However new its file is: the runtime or the compiler may be others. The first time is told."""
    calls: list[bool] = []

    def build(directory: Path, echo: Callable[[str], None]) -> Path:
        calls.append(echo is print)
        return program_path(directory)

    monkeypatch.setattr(built_program, "build", build)
    program = program_path(place / "tiny")
    program.parent.mkdir(parents=True, exist_ok=True)
    program.unlink(missing_ok=True)
    assert built_program.program_of(place / "tiny", print) == program
    program.touch()
    assert built_program.program_of(place / "tiny", print) == program
    assert calls == [True, False]
    program.unlink()


@pytest.mark.parametrize("name", ["a;b", "a$b", "a#b", 'a"b', "a[b"])
def test_paths_that_cmake_cannot_take(place: Path, name: str) -> None:
    """They are refused before anything is written; without --build they are as good as others."""
    process = started(place, "generate", "checkpoint", "--out", f"{name}/tiny", "--build")
    said = process.communicate()[0]
    assert process.returncode == 1
    assert f"error[build-path] build: {name}/tiny cannot be built in: CMake has other uses for {name[1]}" in said
    assert not (place / name).exists()
    etch(place, "generate", "checkpoint", "--out", f"{name}/tiny")
    assert (place / name / "tiny/etch.json").is_file()


def test_the_stack_of_a_model_called_tokenizer(place: Path) -> None:
    """Its own source is called as the one of a tokenizer: what it defines is checked all the same."""
    etch(place, "generate", "checkpoint", "--out", "own_tokenizer", "--build")
    [report] = (place / "own_tokenizer/build").rglob("own_tokenizer.stack.txt")
    assert " own_tokenizer::classify " in report.read_text()
