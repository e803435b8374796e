# SPDX-License-Identifier: Apache-2.0
"""The program between pipes, terminals, full disks and closed streams."""

from __future__ import annotations

import os
import select
import subprocess
from pathlib import Path

import pytest
from classify_program import TITLES, Program, built, open_terminal


@pytest.fixture(scope="module")
def classify() -> Program:
    return built("classify")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("arguments", [["text"], ["--help"], ["--version"], ["--kernel", "list"], ["--memory"]])
def test_a_full_disk_is_reported(classify: Program, arguments: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([classify.path, *arguments], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1
    assert done.stderr == b"classify: cannot write the output: No space left on device\n"


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="no /proc/self/mem, which opens and cannot be read")
@pytest.mark.parametrize("arguments", [["--file", "/proc/self/mem"], ["--evaluate", "unreadable.csv"]])
def test_a_read_that_fails_is_reported(classify: Program, tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "unreadable.csv").symlink_to("/proc/self/mem")
    assert classify.refused(1, *arguments, cwd=tmp_path) == f"cannot read '{arguments[1]}': Input/output error"


def test_a_reader_that_leaves_is_reported(classify: Program) -> None:
    process = subprocess.Popen([classify.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin and process.stdout and process.stderr
    process.stdout.close()
    process.stdin.write(b"text\n")
    process.stdin.close()
    assert process.stderr.read() == b""
    assert process.wait(10) == 1


def test_closed_standard_streams(classify: Program) -> None:
    def run(redirections: str) -> tuple[int, bytes]:
        command = f'exec "$0" --file "$1" {redirections}'
        done = subprocess.run(["sh", "-c", command, classify.path, __file__], stderr=subprocess.PIPE, check=False)
        return done.returncode, done.stderr

    assert run(">&-")[0] == 1
    assert run("<&- >/dev/null")[0] == 0
    done = subprocess.run(["sh", "-c", '"$0" <&-', classify.path], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (2, b"classify: cannot open standard input: Bad file descriptor\n")


def test_a_dialogue_over_pipes_gets_each_answer_at_once(classify: Program) -> None:
    process = subprocess.Popen([classify.path, "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    assert process.stdin and process.stdout
    expected = classify.well("--json", *TITLES).out.splitlines(keepends=True)
    for title, answer in zip(TITLES, expected, strict=True):
        process.stdin.write(title + b"\n")
        assert select.select([process.stdout], [], [], 10)[0], "no answer"
        assert process.stdout.readline() == answer
    process.stdin.close()
    assert process.stdout.read() == b""
    assert process.wait(10) == 0


def test_a_terminal_gets_a_hint(classify: Program) -> None:
    controller, terminal = open_terminal()
    process = subprocess.Popen([classify.path], stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.close(terminal)
    os.write(controller, b"text\n\x04")
    out, err = process.communicate(timeout=10)
    os.close(controller)
    assert err == b"classify: reading texts from the terminal, one a line; Ctrl-D ends\n"
    assert out == classify.well("text").out
