# SPDX-License-Identifier: Apache-2.0
"""Signs of life: what is shown when, where to, and that nothing is shown where nobody listens."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tiny_checkpoint import write_tiny_checkpoint

from codegen import cli
from codegen.building import build
from codegen.process import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def run(listener: progress.Listener, clock: Clock, seconds: float) -> None:
    with progress.listening(listener), progress.stage("quantize", "tensor", 4):
        for _ in range(4):
            clock.now += seconds
            progress.advance()


def test_a_terminal_has_one_line_that_is_cleared() -> None:
    terminal, clock = Terminal(), Clock()
    run(progress.Listener(terminal, clock=clock), clock, 1.0)
    assert terminal.getvalue() == (
        "\r\033[Kquantize     tensor 3 of 4, 2 s, about 2 s left"
        "\r\033[Kquantize     tensor 4 of 4, 3 s, about 1 s left"
        "\r\033[Kquantize     tensor 4 of 4, 4 s\r\033[K"
    )


def test_what_is_quick_shows_nothing() -> None:
    terminal, clock = Terminal(), Clock()
    run(progress.Listener(terminal, clock=clock), clock, 0.4)
    assert terminal.getvalue() == ""


def test_a_line_of_the_report_clears_the_terminal_first(capsys: pytest.CaptureFixture[str]) -> None:
    terminal, clock = Terminal(), Clock()
    clock.now = -9.0
    with progress.listening(progress.Listener(terminal, clock=clock)), progress.stage("load"):
        clock.now = 1.0
        progress.advance()
        progress.say("a line")
    assert terminal.getvalue() == "\r\033[Kload         10 s\r\033[K"
    assert capsys.readouterr().out == "a line\n"


@pytest.mark.parametrize(
    ("stream", "environment", "expected"),
    [
        (Terminal(), {"TERM": "xterm"}, True),
        (Terminal(), {"TERM": "xterm", "NO_COLOR": "1"}, False),
        (Terminal(), {"TERM": "xterm", "NO_COLOR": ""}, True),
        (Terminal(), {"TERM": "dumb"}, None),
        (io.StringIO(), {"TERM": "xterm"}, None),
        (None, {"TERM": "xterm"}, None),
    ],
)
def test_colour_is_for_terminals(
    monkeypatch: pytest.MonkeyPatch, *, stream: io.StringIO | None, environment: dict[str, str], expected: bool | None
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    listener = progress.listener_of(stream)
    assert (None if listener is None else listener.colour) == expected


def test_colour_is_of_the_stage_only() -> None:
    terminal, clock = Terminal(), Clock()
    run(progress.Listener(terminal, colour=True, clock=clock), clock, 2.0)
    assert "\r\033[K\033[1mquantize    \033[0m tensor 2 of 4" in terminal.getvalue()


@pytest.mark.parametrize("lines", [("[1/3] CXX a", "[2/3] CXX b"), ("[ 33%] CXX a", "[ 66%] CXX b")])
def test_files_compiled_are_counted(lines: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, clock = Terminal(), Clock()
    (tmp_path / "lines").write_text("\n".join(lines) + "\n")
    monkeypatch.setattr(progress, "_REDRAW_SECONDS", 0.0)
    listener = progress.Listener(terminal, clock=clock)
    clock.now = 5.0
    with progress.listening(listener):
        build._run(["cat", str(tmp_path / "lines")], "compile")
    total = "3" if "/" in lines[0] else "100"
    shown = [line.split(", ")[0] for line in terminal.getvalue().split("\r\033[K") if line]
    assert shown[-1] == f"compile      step {'3' if total == '3' else '67'} of {total}"


def test_the_end_of_what_failed_is_kept(tmp_path: Path) -> None:
    (tmp_path / "lines").write_text("".join(f"line {i}\n" for i in range(99)))
    with pytest.raises(build.EtchError) as failed:
        build._run(["sh", "-c", f"cat '{tmp_path / 'lines'}'; exit 3"], "compile")
    assert failed.value.code == "compile-failed"
    assert failed.value.detail.split("\n") == [f"line {i}" for i in range(79, 99)]


def test_quiet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_tiny_checkpoint(tmp_path / "tiny")
    assert cli.main(["generate", str(tmp_path / "tiny"), "--out", str(tmp_path / "out"), "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert (tmp_path / "out" / "etch.json").is_file()
    assert cli.main(["generate", str(tmp_path / "none"), "--out", str(tmp_path / "out"), "--quiet"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert re.match(r"etch: error\[", err)


@pytest.mark.parametrize("arguments", ["--help", "generate --help", "--version"])
def test_a_reader_that_leaves_ends_it_quietly(arguments: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)  # what `| head -1` does as soon as it has its line
    command = [sys.executable, "-m", "codegen", *arguments.split()]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, cwd=build.ROOT, check=False)
    os.close(writer)
    assert done.stderr == b""
