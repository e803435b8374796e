# SPDX-License-Identifier: Apache-2.0
"""Builds the projects of this folder the way a user does, in folders of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from classify_program import ROOT, Program, tool

HERE = Path(__file__).parent
TIMEOUT = 900  # seconds
TEXT = "Oil prices climb after the summit"  # that main.cpp and main.c know


def run(
    *command: str | Path, cwd: Path, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """One command; stdout and stderr together in `stdout`."""
    return subprocess.run(
        command,
        cwd=cwd,
        env=os.environ | (environment or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=TIMEOUT,
        check=False,
    )


def done(*command: str | Path, cwd: Path, environment: Mapping[str, str] | None = None) -> str:
    """What a command that must succeed printed."""
    ran = run(*command, cwd=cwd, environment=environment)
    assert ran.returncode == 0, ran.stdout[-4000:]
    return ran.stdout


def project(folder: Path, name: str) -> Path:
    """A copy of the project `name` and the program that it builds; a space is in its path."""
    copy = folder / f"a {name}"
    copy.mkdir()
    for path in [HERE / ("main.c" if name == "pkg_config" else "main.cpp"), *(HERE / name).iterdir()]:
        shutil.copy(path, copy)
    return copy


def configure(source: Path, *options: str, build: str = "build") -> subprocess.CompletedProcess[str]:
    return run(tool("cmake"), "-S", ".", "-B", build, f"-DETCH_PYTHON={sys.executable}", *options, cwd=source)


def compiled(source: Path, build: str = "build") -> str:
    """What the build of a configured project printed."""
    return done(tool("cmake"), "--build", build, "--parallel", str(os.cpu_count() or 1), cwd=source)


def built(source: Path, *options: str) -> Path:
    """The program of a project, configured with these options."""
    configured = configure(source, *options)
    assert configured.returncode == 0, configured.stdout
    compiled(source)
    return source / "build" / "app"


def checkpoint(folder: Path) -> Path:
    """A copy of the default model's checkpoint."""
    shutil.copytree(ROOT / "tools/train/agnews/checkpoint", folder / "checkpoint")
    return folder / "checkpoint"


def expected(program: Program) -> str:
    """What main.cpp and main.c print: with the digits that give a float's bits."""
    [answer] = program.well("--json", TEXT).objects
    return f"{answer['label']} {answer['probability']:.9g}\n"
