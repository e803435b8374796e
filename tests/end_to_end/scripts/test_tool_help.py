# SPDX-License-Identifier: Apache-2.0
"""--help and wrong options of every command of the tree: answered at once, on a machine with nothing to install from.

The commands run in a copy without a Python environment, without a network where this machine can take it away, and
with programs on the PATH that tell when something would have been installed.
"""

from __future__ import annotations

import ast
import functools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from classify_program import ROOT
from shell_scripts import tools

SCRIPTS = (
    "tests/codegen/recorded/record.py",
    "tools/polynomials/fit.py",
    "tools/support/lock.py",
    "tools/train/agnews/bag_of_words.py",
    "tools/train/agnews/evaluate.py",
    "tools/train/agnews/make.py",
    "tools/train/agnews/tables.py",
    "tools/train/agnews_roberta/make.py",
    "tools/train/agnews_small/make.py",
    "tools/train/agnews_tiny/make.py",
    "tools/train/finetune/finetune.py",
    "tools/train/gru/gru.py",
    "tools/train/plain/make.py",
    "tools/train/pretrain/pretrain.py",
    "tools/train/tokens/tokens.py",
    "tools/train/translate/make.py",
)
INSTALLERS = ("apt-get", "dpkg-query", "sudo", "python3", "pip", "pip3", "curl", "wget", "cmake", "git")
NOT_COPIED = (".git", ".venv", "build", "__pycache__", ".pytest_cache", ".ruff_cache")


@functools.cache
def without_network() -> tuple[str, ...]:
    """The start of a command that cannot reach any other machine; nothing where this one does not allow it."""
    unshare = ("unshare", "--map-root-user", "--net")
    if shutil.which("unshare") is None:
        return ()
    allowed = subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode == 0
    return unshare if allowed else ()


class Checkout:
    """A copy of the tree, and what would have been installed."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "tree"
        shutil.copytree(ROOT, self.root, ignore=shutil.ignore_patterns(*NOT_COPIED), symlinks=True)
        self.home = folder / "home"
        self.home.mkdir()
        self.calls = folder / "calls"
        self.programs = folder / "programs"
        self.programs.mkdir()
        for name in INSTALLERS:
            program = self.programs / name
            program.write_text(f'#!/bin/sh\necho "{name} $*" >> "{self.calls}"\nexit 1\n')
            program.chmod(0o755)
        self.before = self.files()

    def files(self) -> dict[str, tuple[int, int]]:
        """Path -> size and time of change, of the tree and the home folder."""
        found = {}
        for path in sorted(self.root.parent.rglob("*")):
            state = path.lstat()
            found[str(path)] = (state.st_size, state.st_mtime_ns)
        return found

    def run(self, *command: str | Path) -> subprocess.CompletedProcess[str]:
        """A command that must install, write and reach nothing."""
        done = subprocess.run(
            [*without_network(), *command],
            cwd=self.root,
            env={
                "PATH": f"{self.programs}:{os.environ['PATH']}",
                "HOME": str(self.home),
                "PIP_INDEX_URL": "http://127.0.0.1:9/",
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        if self.calls.exists():
            calls = self.calls.read_text()
            self.calls.unlink()
            pytest.fail(f"it would have installed something: {calls}")
        assert self.files() == self.before
        return done


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    return Checkout(tmp_path_factory.mktemp("checkout"))


def usage(tool: Path) -> str:
    """The comment at its head."""
    lines = tool.read_text(encoding="utf-8").splitlines()
    end = next(index for index, line in enumerate(lines) if not line.startswith("#"))
    return "".join(f"{line.removeprefix('#').removeprefix(' ')}\n" for line in lines[2:end])


@pytest.mark.parametrize("option", ["--help", "-h"])
@pytest.mark.parametrize("tool", tools(), ids=lambda path: path.name)
def test_help_of_tools(checkout: Checkout, tool: Path, option: str) -> None:
    done = checkout.run(checkout.root / "tools" / tool.name, option)
    assert (done.returncode, done.stdout, done.stderr) == (0, usage(tool), "")
    assert f"usage: tools/{tool.name}" in done.stdout


@pytest.mark.parametrize("tool", tools(), ids=lambda path: path.name)
def test_wrong_options_of_tools(checkout: Checkout, tool: Path) -> None:
    done = checkout.run(checkout.root / "tools" / tool.name, "--nonsense=1")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"{tool.name}: unknown ")
    assert "--nonsense" in done.stderr
    assert done.stderr.endswith(f" (see tools/{tool.name} --help)\n")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("tool", ["compare", "curve", "firmware", "report"])
def test_tools_that_need_an_argument(checkout: Checkout, tool: str) -> None:
    done = checkout.run(checkout.root / "tools" / tool)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"{tool}: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("tool", "named", "message"),
    [
        ("bench", "nowhere", "nowhere holds no generated model (no etch.json)"),
        ("compare", "nowhere", "'nowhere' is no checkpoint: a folder with config.json is needed"),
        ("compare", "README.md", "'README.md' is no checkpoint: a folder with config.json is needed"),
        ("curve", "generated", "'generated' is no checkpoint: a folder with config.json is needed"),
        ("fuzz", "nowhere", "unknown target nowhere"),
        ("fuzz", "-1", "-1 is no value: numbers are 0 or more"),
        ("report", "nowhere", "'nowhere' is no file: a linked program is needed"),
        ("report", "generated", "'generated' is no file: a linked program is needed"),
    ],
)
def test_what_is_not_there(checkout: Checkout, tool: str, named: str, message: str) -> None:
    done = checkout.run(checkout.root / "tools" / tool, named)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"{tool}: {message}")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts(checkout: Checkout, script: str) -> None:
    """Without any package."""
    bare = (sys.executable, "-S", "-E", "-B", checkout.root / script)
    done = checkout.run(*bare, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: ")
    assert "default: None" not in " ".join(done.stdout.split())
    wrong = checkout.run(*bare, "--nonsense")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "Traceback" not in wrong.stderr


def test_the_generator(checkout: Checkout) -> None:
    """Without any package."""
    done = checkout.run(sys.executable, "-S", "-E", "-B", "-m", "codegen", "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: ")


def test_it_is_seen_when_something_is_installed(checkout: Checkout) -> None:
    """The check itself: tools/mutate without an argument goes on to install."""
    with pytest.raises(pytest.fail.Exception, match="dpkg-query"):
        checkout.run(checkout.root / "tools/mutate")


def test_every_option_of_the_programs_is_in_the_usage(checkout: Checkout) -> None:
    """A tool refuses what its usage does not name, so what its program understands must be there."""
    programs = {
        "compare": "tools/peers/compare.py",
        "curve": "tools/reports/curve_command.py",
        "fuzz": "tests/fuzz/fuzzing.py",
        "mutate": "tests/mutation/mutate.py",
        "report": "tools/reports/command.py",
    }
    for tool, program in programs.items():
        words = (ROOT / program).read_text(encoding="utf-8").split('add_argument("')[1:]
        options = {word.split('"')[0] for word in words if word.startswith("--")}
        assert options
        assert not [option for option in options if f"{option} " not in usage(ROOT / "tools" / tool)]


@pytest.mark.parametrize(
    ("tool", "program", "table"),
    [("fuzz", "tests/fuzz/fuzzing.py", "TARGETS"), ("mutate", "tests/mutation/areas.py", "AREAS")],
)
def test_the_usage_names_all_that_may_be_chosen(tool: str, program: str, table: str) -> None:
    tree = ast.parse((ROOT / program).read_text(encoding="utf-8"))
    [names] = [
        node.value for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == table
    ]
    assert isinstance(names, ast.Dict)
    words = set(re.findall(r"\w+", usage(ROOT / "tools" / tool)))
    assert [key.value for key in names.keys if isinstance(key, ast.Constant) and key.value not in words] == []
