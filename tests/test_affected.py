# SPDX-License-Identifier: Apache-2.0
"""tools/test --changed: which tests it takes for which paths."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import affected as selection
import pytest
from affected import BUILT, CPP, ROOT, TABLE, affected, changed_paths, python_tests


def tracked() -> list[str]:
    try:
        done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a checkout of git")
    return [path for path in done.stdout.splitlines() if (ROOT / path).is_file()]


@pytest.mark.parametrize(
    ("path", "reached", "spared"),
    [
        (
            "README.md",
            [f"{BUILT}/scripts/test_readme.py"],
            ["tests/codegen/memory/test_plan.py", f"{BUILT}/models/test_shapes.py"],
        ),
        (
            "codegen/memory/plan.py",
            ["tests/codegen/memory/test_plan.py", f"{BUILT}/models/test_shapes.py"],
            ["test-kernels"],
        ),
        (
            "codegen/vocabulary/pruning.py",
            ["tests/codegen/vocabulary/test_vocabulary.py", "tests/codegen/test_oldest_python.py"],
            ["tests/coverage/test_unreached_reasons.py"],
        ),
        (
            "codegen/templates/model.cpp.j2",
            ["tests/codegen/render/test_render.py", f"{BUILT}/models/test_shapes.py"],
            [],
        ),
        (
            "runtime/src/kernels/avx2/avx2.cpp",
            [*CPP, f"{BUILT}/models/test_shapes.py"],
            ["tests/codegen/memory/test_plan.py"],
        ),
        (
            "runtime/src/hosted/thread_pool.cpp",
            ["test-hosted", f"{BUILT}/program/test_classify_cli.py"],
            ["test-kernels"],
        ),
        (
            "runtime/src/cuda/stream.cpp",
            ["test-cuda", f"{BUILT}/models/test_cuda_shapes.py"],
            [f"{BUILT}/models/test_shapes.py"],
        ),
        ("tests/runtime/ops/linear_test.cpp", ["test-ops"], ["test-tokenizer", "tests/codegen/memory/test_plan.py"]),
        (
            "tests/codegen/tiny_checkpoint.py",
            ["tests/codegen/memory/test_plan.py", f"{BUILT}/models/test_shapes.py"],
            [*CPP],
        ),
        (
            "tests/codegen/memory/test_plan.py",
            ["tests/codegen/memory/test_plan.py"],
            ["tests/codegen/render/test_render.py"],
        ),
        (
            "tests/end_to_end/promises/conftest.py",
            [f"{BUILT}/promises/test_promise_stack.py"],
            [f"{BUILT}/scripts/test_demo.py"],
        ),
        ("tests/end_to_end/once.py", [f"{BUILT}/program/test_classify_stub.py"], ["tests/codegen/memory/test_plan.py"]),
        ("tools/train/finetune/finetune.py", [f"{BUILT}/recipes/test_finetune.py"], [f"{BUILT}/models/test_shapes.py"]),
        ("tests/mutation/mutate.py", ["tests/mutation/test_mutants.py"], [*CPP, "tests/codegen/memory/test_plan.py"]),
        ("tools/report", [f"{BUILT}/report/test_report_linked.py"], [f"{BUILT}/models/test_shapes.py"]),
    ],
)
def test_examples(path: str, reached: list[str], spared: list[str]) -> None:
    found = affected([path])
    names = found.programs | found.files
    assert not found.unknown
    assert set(reached) <= names
    assert not set(spared) & names


def test_what_is_unknown_can_affect_everything() -> None:
    for path in ("CMakeLists.txt", "pyproject.toml", "tests/run.py", "a/new/folder.txt"):
        found = affected([path, "README.md"])
        assert found.unknown == (path,)
        assert found.programs == set(CPP)
        assert found.files == set(python_tests())
    assert not affected([]).files


def test_only_the_generators_tests_need_no_build() -> None:
    assert not affected(["tests/codegen/memory/test_plan.py"]).needs_build
    assert affected(["tests/end_to_end/scripts/test_demo.py"]).needs_build
    assert affected(["runtime/src/status.cpp"]).needs_build


def test_the_table_names_what_there_is() -> None:
    lists = "".join(path.read_text() for path in (ROOT / "tests").rglob("*") if path.suffix in (".cmake", ".txt"))
    programs = {f"test-{part}" for part in re.findall(r"etch_add_test\((\w+)", lists)}
    programs |= set(re.findall(r"add_executable\((test-\w+)", lists)) - {"test-"}
    files = set(tracked())
    for beginning, places in TABLE.items():
        assert any(path.startswith(beginning) for path in files), beginning
        for place in places:
            assert place in programs if place.startswith("test-") else (ROOT / place).exists(), place


def test_every_folder_is_known() -> None:
    """All but what configures the whole: files of the root, and the programs that run the tests."""
    whole = r"\.ci/|tests/(conftest\.py|CMakeLists\.txt|cuda\.cmake|requirements\.txt)|tools/(support/|test|mutate)"
    unknown = {path for path in tracked() if "/" in path and affected([path]).unknown and not path.endswith(".py")}
    assert {path for path in unknown if not re.match(whole, path)} == set()


@cache
def reached(path: str) -> frozenset[str]:
    return affected([path]).files


@cache
def named_in(helper: str) -> tuple[str, ...]:
    return tuple(named_paths((ROOT / helper).read_text(encoding="utf-8")))


def named_paths(source: str) -> Iterator[str]:
    """`ROOT / "a" / "b"` and `ROOT / "a/b"` in a Python file."""
    inner = set()
    for expression in ast.walk(ast.parse(source)):
        node, parts = expression, list[str]()
        while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and isinstance(node.right, ast.Constant):
            parts.insert(0, str(node.right.value))
            node = node.left
            inner.add(node)
        if parts and isinstance(node, ast.Name) and node.id == "ROOT" and expression not in inner:
            yield "/".join(parts)


def test_what_tests_name_affects_them() -> None:
    """Files that a test or a helper of it reads by name, and at least something of the folders."""
    files = [path for path in tracked() if not path.endswith((".py", "README.md"))]
    for test in python_tests():
        for helper in (test, *selection._reached(test)):
            if not helper.startswith("tests/"):
                continue
            for name in named_in(helper):
                below = [path for path in files if path == name or path.startswith(name + "/")]
                assert not below or any(test in reached(path) for path in below), (test, name)


def test_changed_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True, capture_output=True)

    def commit(name: str) -> None:
        (tmp_path / name).write_text(name)
        git("add", name)
        git("commit", "-m", name)

    try:
        git("init", "-b", "main")
    except OSError:
        pytest.skip("no git")
    monkeypatch.setattr(selection, "ROOT", tmp_path)
    for name in ("one", "two"):
        commit(name)
    assert changed_paths() == ["two"]  # on the main branch: the last commit
    (tmp_path / "one").write_text("changed")
    (tmp_path / "new caf\u00e9").write_text("")
    assert changed_paths() == ["new caf\u00e9", "one", "two"]
    git("stash", "--include-untracked")
    git("checkout", "-b", "work")
    for name in ("three", "four"):
        commit(name)
    assert changed_paths() == ["four", "three"]  # since it left the main branch
