# SPDX-License-Identifier: Apache-2.0
"""The built program of a generated folder, asked about texts."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .build import build, program_path

Echo = Callable[[str], None]


class ProgramError(Exception):
    """The built program did not answer as it should."""


def program_of(directory: Path, echo: Echo) -> Path:
    """The built program of a generated folder. It is built whenever it is asked for, since the runtime or the compiler
    may be others by now; `echo` is told where there is none yet."""
    return build(directory, (lambda _: None) if program_path(directory).exists() else echo)


def json_lines(program: Path, lines: Sequence[bytes], form: str, *options: str) -> list[dict[str, Any]]:
    """What it prints of each line with `--file`, `form` (--json or --tokens) and `options`. ProgramError where it does
    not."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "texts.txt")
        file.write_bytes(b"".join(line + b"\n" for line in lines))
        try:
            done = subprocess.run([program, "--file", file, form, *options], capture_output=True, check=False)
        except OSError as error:
            raise ProgramError(f"{program.name}: {error.strerror}") from error
    if done.returncode != 0:
        last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise ProgramError(f"{program.name} {form}: exit code {done.returncode}: {last}")
    try:
        answers = [json.loads(line) for line in done.stdout.split(b"\n") if line]
    except ValueError as error:
        raise ProgramError(f"{program.name} {form}: {error}") from error
    if len(answers) != len(lines):
        raise ProgramError(f"{program.name} {form}: {len(answers)} lines for {len(lines)} texts")
    return answers
