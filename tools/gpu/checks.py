# SPDX-License-Identifier: Apache-2.0
"""What a step found out, and how it runs a command."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codegen.process.children import run_with_children

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "gpu-check"
LOGS = BUILD / "logs"
ERROR = re.compile(r"\berror[:\[]|^etch-stack: |^CMake Error")


@dataclass(frozen=True)
class Check:
    name: str
    outcome: str  # passed, failed or skipped
    detail: str = ""  # what was compared; why it failed or was skipped


@dataclass(frozen=True)
class Done:
    """A command's end, and what it wrote."""

    code: int | None  # None: it took too long and was stopped
    text: str
    seconds: float
    log: Path

    @property
    def well(self) -> bool:
        return self.code == 0

    @property
    def place(self) -> str:
        """Where its output is, from the project's folder."""
        return os.path.relpath(self.log, ROOT)

    @property
    def failure(self) -> str:
        """One line: how it ended, the first error it names or its last words, where the rest is."""
        end = f"stopped after {self.seconds:.0f} s" if self.code is None else f"ended with {self.code}"
        lines = [line.strip() for line in self.text.splitlines() if line.strip()]
        said = next((line for line in lines if ERROR.search(line)), lines[-1] if lines else "no output")
        return f"{end}: {said[:300]} ({self.place})"


def run(
    name: str, command: Sequence[str | Path], environment: Mapping[str, str] | None = None, timeout: int = 900
) -> Done:
    """Runs a command, `timeout` seconds at most; its output goes into the log NAME.txt."""
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{name}.txt"
    begin = time.monotonic()
    try:
        done = run_with_children(
            [str(word) for word in command],
            timeout,
            cwd=ROOT,
            env=os.environ | (environment or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        code, output = done.returncode, done.stdout
    except subprocess.TimeoutExpired as stopped:
        code, output = None, stopped.stdout or b""
    except OSError as error:
        code, output = 127, f"{command[0]}: {error.strerror}".encode()
    log.write_bytes(output)
    return Done(code, output.decode(errors="replace"), time.monotonic() - begin, log)
