# SPDX-License-Identifier: Apache-2.0
"""The build stage: a generated folder to its library and program, by CMake."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from .errors import EtchError
from .manifest import read_manifest

DEFAULT_MODEL = "agnews"  # its program is called `classify`
_ROOT = Path(__file__).resolve().parent.parent
_LOG_LINES = 20


def program_path(directory: Path) -> Path:
    """Where the program of a generated folder is built."""
    name = read_manifest(directory)["name"]
    return directory.absolute() / "build" / "bin" / ("classify" if name == DEFAULT_MODEL else f"classify-{name}")


def build(directory: Path, echo: Callable[[str], None] = lambda _: None) -> Path:
    """Builds libraries and program of a generated folder into its `build/bin` and returns the program."""
    if shutil.which("cmake") is None:
        raise EtchError("cmake-missing", "build", "cmake is not installed (3.22 or newer is needed)")
    directory = directory.absolute()
    binary = directory / "build"
    configure = [
        "cmake",
        "-S",
        str(_ROOT),
        "-B",
        str(binary),
        "-DCMAKE_BUILD_TYPE=Release",
        f"-DETCH_MODEL_DIRS={directory}",
        "-DETCH_BUILD_TESTS=OFF",
    ]
    echo(f"building in {binary}")
    _run(configure, "configure")
    _run(["cmake", "--build", str(binary), "--parallel", str(os.cpu_count() or 1)], "compile")
    program = program_path(directory)
    alias = program.parent / "classify"
    if alias != program:
        alias.unlink(missing_ok=True)
        alias.symlink_to(program.name)
    return program


def _run(command: list[str], what: str) -> None:
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False
    )
    if done.returncode != 0:
        tail = "\n".join(done.stdout.splitlines()[-_LOG_LINES:])
        raise EtchError(
            f"{what}-failed", "build", f"`{' '.join(command)}` failed with exit {done.returncode}", detail=tail
        )
