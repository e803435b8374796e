# SPDX-License-Identifier: Apache-2.0
"""What tests ask a program, recorded once, and put to a changed program without the tests.

Tests that compare with a reference spend their time on that, a minute for answers that take the program seconds. Where
a changed program answers as before, they would pass: they see nothing else of it. Where it does not, they are run.
"""

from __future__ import annotations

import hashlib
import json
import stat
import subprocess
import sys
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

_RECORDER = """#!{python}
import os, subprocess, sys, time
begin = time.monotonic()
given = sys.stdin.buffer.read()
done = subprocess.run([{program!r}, *sys.argv[1:]], input=given, capture_output=True)
sys.stdout.buffer.write(done.stdout)
sys.stderr.buffer.write(done.stderr)
sys.path.insert(0, {here!r})
import replay
if done.returncode == 0:
    test = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0]
    replay.write(replay.Path({calls!r}), sys.argv[1:], given, done.stdout, time.monotonic() - begin, test)
sys.exit(done.returncode)
"""


@dataclass(frozen=True)
class Call:
    """`given` is a file with the standard input; `test` the node that asked first."""

    arguments: list[str]
    given: Path
    answer: str  # SHA-256 of the standard output
    seconds: float
    test: str


def recorder(folder: Path, program: Path) -> Path:
    """A program in `folder` that answers as `program` does and writes down its calls below `folder`/calls."""
    calls = folder / "calls"
    calls.mkdir(parents=True)
    script = folder / program.name
    here = str(Path(__file__).resolve().parent)
    script.write_text(_RECORDER.format(python=sys.executable, program=str(program), here=here, calls=str(calls)))
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return script


def write(folder: Path, arguments: list[str], given: bytes, answer: bytes, seconds: float, test: str) -> None:
    """Writes down a call; the same one twice is one."""
    name = hashlib.sha256(json.dumps(arguments).encode() + given).hexdigest()
    if (folder / f"{name}.json").exists():
        return
    (folder / name).write_bytes(given)
    described = [arguments, hashlib.sha256(answer).hexdigest(), seconds, test]
    (folder / f"{name}.json").write_text(json.dumps(described))


def read(folder: Path) -> list[Call]:
    """What was written down, in the order in which it was asked."""
    calls = []
    for path in sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns):
        arguments, answer, seconds, test = json.loads(path.read_text())
        calls.append(Call(arguments, path.with_suffix(""), answer, seconds, test))
    return calls


class Answer(Enum):
    SAME = 1
    OTHER = 2
    NONE = 3  # it failed, or took a time out of all proportion


def ask(program: Path, call: Call) -> Answer:
    """Makes a recorded call again."""
    with call.given.open("rb") as given:
        try:
            done = subprocess.run(
                [program, *call.arguments], stdin=given, capture_output=True, check=False, timeout=5 + 10 * call.seconds
            )
        except subprocess.TimeoutExpired:
            return Answer.NONE
    if done.returncode != 0:
        return Answer.NONE
    return Answer.SAME if hashlib.sha256(done.stdout).hexdigest() == call.answer else Answer.OTHER
