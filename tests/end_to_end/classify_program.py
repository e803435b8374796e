# SPDX-License-Identifier: Apache-2.0
"""Runs a built program of a model the way a user does."""

from __future__ import annotations

import errno
import json
import os
import platform
import pty
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from once import once
from standard_headers import standard_headers

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = 60  # seconds
# What a build has where the compiler has sanitizers, CUDA's headers were found, the machine is of such a kind.
_SOME_MACHINES = "" if platform.machine() in ("x86_64", "AMD64") else "|promise-no-libc|promise-kernel-choice-no-avx2"
NOT_EVERYWHERE = re.compile(rf".*-[at]san|promise-arena-live|stand-in-.*|libetch_cuda_.*\.a{_SOME_MACHINES}")
TITLES = [
    b"Oil prices climb as storms close refineries in the gulf",
    b"Champions beaten at home by a goal in extra time",
    b"New telescope sees the oldest galaxy so far",
    b"Ministers meet to sign a ceasefire after months of talks",
]


def open_terminal() -> tuple[int, int]:
    """A pseudo-terminal: the controlling end, and the one for the program."""
    try:
        return pty.openpty()
    except OSError as error:
        pytest.skip(f"this machine has no pseudo-terminals: {error}")


def read_terminal(controller: int) -> str:
    """What the program's end, which must be closed, has written: one read may give a part of it."""
    shown = b""
    try:
        while part := os.read(controller, 65536):
            shown += part
    except OSError as error:
        if error.errno != errno.EIO:  # the end, of Linux's terminals
            raise
    return shown.decode()


@dataclass(frozen=True)
class Outcome:
    code: int
    out: bytes
    err: str

    @property
    def lines(self) -> list[str]:
        """Lines of stdout; each must have been ended by LF."""
        assert not self.out or self.out.endswith(b"\n")
        return self.out.decode("utf-8").split("\n")[:-1]

    @property
    def objects(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines]


@dataclass(frozen=True)
class Program:
    path: Path

    def __call__(
        self,
        *arguments: str | bytes | Path,
        stdin: bytes = b"",
        kernel: str | None = None,
        cwd: Path | None = None,
        timeout: int = TIMEOUT,
    ) -> Outcome:
        environment = {k: v for k, v in os.environ.items() if k != "ETCH_KERNEL"}
        if kernel is not None:
            environment["ETCH_KERNEL"] = kernel
        done = subprocess.run(
            [self.path, *arguments],
            input=stdin,
            env=environment,
            cwd=cwd,
            capture_output=True,
            timeout=timeout,
            check=False,
        )
        return Outcome(done.returncode, done.stdout, done.stderr.decode("utf-8"))

    def well(self, *arguments: str | bytes | Path, **keywords: Any) -> Outcome:
        """A run that must succeed."""
        outcome = self(*arguments, **keywords)
        assert outcome.code == 0, outcome.err
        return outcome

    def refused(self, code: int, *arguments: str | bytes | Path, **keywords: Any) -> str:
        """A run that must fail with exactly one line on stderr; returns the message."""
        outcome = self(*arguments, **keywords)
        assert outcome.code == code, (outcome.code, outcome.err)
        name = self.path.resolve().name
        assert outcome.err.startswith(f"{name}: "), outcome.err
        assert outcome.err.endswith("\n"), outcome.err
        assert outcome.err.count("\n") == 1, outcome.err
        return outcome.err.removeprefix(f"{name}: ").rstrip("\n")


def tool(name: str) -> str:
    """Where a command is, of those that a machine may lack."""
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path


def build_folder() -> Path:
    """The build that ETCH_BUILD names, such as build/release."""
    build = os.environ.get("ETCH_BUILD")
    if not build:
        pytest.skip("ETCH_BUILD is not set: no build to test")
    return (ROOT / build).resolve()


def built_file(name: str) -> Path:
    """A file of the build's bin folder, which must be there unless not every build has it."""
    path = build_folder() / "bin" / name
    if not path.is_file():
        (pytest.skip if NOT_EVERYWHERE.fullmatch(name) else pytest.fail)(f"the build has no bin/{name}")
    return path


def built(name: str) -> Program:
    """A program of the build."""
    return Program(built_file(name))


def most_tokens(program: Program) -> int:
    """kMaxTokens of the program's model."""
    found = re.search(r"(\d+) tokens at most", program.well("--help").out.decode())
    assert found
    return int(found[1])


def build_stub(folder: Path, *stub_flags: str) -> Program:
    """The program over tests/end_to_end/program/stub_model, under the address and undefined behaviour sanitizers.

    Few sources see the model's header: a second build into the same folder, with other flags, compiles those. Workers
    share the folder. What most sources include is compiled once before them.
    """
    compiler = shutil.which(os.environ.get("CXX", "g++"))
    if compiler is None:
        pytest.skip("no C++ compiler")
    task = (
        "regress" if "-DSTUB_REGRESSION" in stub_flags else "embed" if "-DSTUB_EMBEDDING" in stub_flags else "classify"
    )
    own = folder / "-".join(flag.removeprefix("-DSTUB_").lower() for flag in ("single", *stub_flags))
    own.mkdir(exist_ok=True)
    program = own / f"{task}-stub"
    stub = Path(__file__).parent / "program" / "stub_model"
    sees_header = [ROOT / "tools/cli/model.cpp", stub / "stub.cpp"]
    if "-DSTUB_CUDA" in stub_flags:
        sees_header += [ROOT / "tools/cli/cuda/cuda_model.cpp", stub / "stub_cuda.cpp"]
        stub_flags += ('-DETCH_MODEL_CUDA_HEADER="stub_cuda.hpp"',)
    shared = [
        *sorted(
            path
            for path in (ROOT / "tools/cli").rglob("*.cpp")
            if path.parent.name not in ("cuda", "windows") and path not in sees_header
        ),
        *sorted(path for part in (".", "posix") for path in (ROOT / "runtime/src/hosted" / part).glob("*.cpp")),
        ROOT / "runtime/src/chat.cpp",
        ROOT / "runtime/src/decode/token_weights.cpp",
        ROOT / "runtime/src/similarity.cpp",
        ROOT / "runtime/src/status.cpp",
        *(
            ROOT / f"runtime/src/tokenizer/unicode/{name}.cpp"
            for name in ("characters", "unicode", "unicode_tables", "utf8")
        ),
    ]
    flags = [
        *("-std=c++17", "-O0", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
        *(f"-I{path}" for path in (ROOT / "runtime/include", ROOT / "runtime/src", ROOT / "tools/cli", stub)),
    ]
    flags += standard_headers(folder, [compiler, *flags])
    model_flags = [
        "-DETCH_MODEL=stub",
        '-DETCH_MODEL_HEADER="stub.hpp"',
        f'-DETCH_TASK_HEADER="tasks/{task}.hpp"',
        f'-DETCH_PROGRAM="{program.name}"',
        *stub_flags,
    ]

    def compile_one(source: Path) -> Path:
        seen = source in sees_header
        object_file = (own if seen else folder) / f"{source.parent.name}-{source.name}.o"
        command = [compiler, *flags, *(model_flags if seen else []), "-c", source, "-o", object_file]
        stamp = object_file.with_suffix(".made")
        once(stamp, repr(command), lambda: subprocess.run(command, check=True))
        return object_file

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compile_one, sees_header + shared))
    command = [compiler, *flags, *objects, "-o", program]
    once(own / "made", repr(command), lambda: subprocess.run(command, check=True))
    return Program(program)
