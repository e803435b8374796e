# SPDX-License-Identifier: Apache-2.0
"""What other tests run is what users get: model_build.py makes the bytes that CMake makes, refuses what it refuses."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from classify_program import ROOT, build_folder, built
from model_build import build_model, build_program, tokenizer_key, without_symbols


def copied(name: str, folder: Path) -> Path:
    """A committed model in a folder of its own."""
    source = ROOT / "generated" / name
    return shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("build"))


@pytest.mark.parametrize(("name", "program"), [("agnews", "classify"), ("agnews_small", "classify-agnews_small")])
def test_the_programs_of_the_build(name: str, program: str, tmp_path: Path) -> None:
    made = build_program(copied(name, tmp_path)).path
    assert made.name == program
    assert without_symbols(made, tmp_path / "made") == without_symbols(built(program).path, tmp_path / "built")


def test_what_was_built_is_not_built_again(tmp_path: Path) -> None:
    folder = copied("agnews_small", tmp_path)
    first = build_model(folder)
    before = first.program.path.stat()
    assert build_model(folder) == first
    assert first.program.path.stat().st_mtime_ns == before.st_mtime_ns
    with (folder / "etch.json").open("a") as file:
        file.write("\n")
    assert build_model(folder).program.path.stat().st_mtime_ns > before.st_mtime_ns


def test_a_tokenizer_is_shared_by_those_that_compile_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever its name and place; not with other options, by another compiler, of other parts."""
    build_folder()

    def key(name: str, *options: str, parts: str = "Parts<>") -> str:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        (folder / f"{name}_tokenizer.cpp").write_text(f"// {name}\n{parts}\n")
        return tokenizer_key(folder / f"{name}_tokenizer.cpp", ["c++", f"-I{folder}", *options])

    first = key("a", "-O2")
    assert key("b", "-O2") == first
    assert key("a", "-O0") != first
    assert key("a", "-O2", parts="Parts<1>") != first
    monkeypatch.setattr("model_build._compiler_version", lambda: "another")
    assert key("a", "-O2") != first


def test_a_stack_over_its_budget_is_refused(tmp_path: Path) -> None:
    folder = copied("agnews_small", tmp_path)
    build_model(folder)
    if not (folder / "build" / "agnews_small.stack.txt").exists():
        pytest.skip("this build checks no stacks")
    lists = folder / "CMakeLists.txt"
    lists.write_text(re.sub(r"STACK_BUDGET \d+", "STACK_BUDGET 1000", lists.read_text()))
    shutil.rmtree(folder / "build")
    with pytest.raises(AssertionError, match="budget"):
        build_model(folder)


def test_with_frame_pointers_no_stack_is_checked(tmp_path: Path) -> None:
    """Of a distribution that is built for its profilers: frames are larger than the budget has them."""
    model = ROOT / "generated" / "agnews_small"
    flags = "-DCMAKE_CXX_FLAGS=-fno-omit-frame-pointer -mno-omit-leaf-frame-pointer"
    command = ["cmake", "-S", ROOT, "-B", tmp_path, flags, f"-DETCH_MODEL_DIRS={model}", "-DETCH_BUILD_PROGRAMS=OFF"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "etch_agnews_small: stack not checked against its budget: " in done.stdout


def test_a_source_that_does_not_compile_is_refused(tmp_path: Path) -> None:
    folder = copied("agnews_small", tmp_path)
    (folder / "agnews_small_c.cpp").write_text("#error of this test\n")
    for _ in range(2):  # nothing remembers it as built
        with pytest.raises(AssertionError, match="of this test"):
            build_model(folder)
