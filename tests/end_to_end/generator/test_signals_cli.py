# SPDX-License-Identifier: Apache-2.0
"""`python3 -m codegen` that is stopped by Ctrl-C, `kill` or a closed terminal: it ends by that signal, says so in one
line, and leaves nothing half written."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from classify_program import ROOT, Outcome
from folder_content import content
from generator_program import etch, one_line
from sampling import one_in
from tiny_checkpoint import write_tiny_checkpoint


@pytest.fixture
def model(tmp_path: Path) -> Path:
    write_tiny_checkpoint(tmp_path / "model")
    return tmp_path / "model"


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
WORDS = {signal.SIGINT: "etch: interrupted"}
NAMES = {"argvalues": SIGNALS, "ids": [number.name for number in SIGNALS]}
PIPE = 4096  # bytes, a page: the smallest that Linux makes, and less than a report
WAITS = "import os, signal\nos.fsync = lambda _: signal.pause()\n"  # Python reads it before our first line


def stopped(
    command: list[str], number: signal.Signals, wait: Callable[[subprocess.Popen[bytes]], object], **environment: str
) -> Outcome:
    """Starts a command, sends it a signal after `wait`."""
    process = subprocess.Popen(
        [sys.executable, "-m", "codegen", *command],
        cwd=ROOT,
        env=os.environ | {"PYTHONUNBUFFERED": "1"} | environment,
        pipesize=PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL) and None,  # noqa: PLW1509 - it may be ignored
    )
    try:
        wait(process)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    return Outcome(process.returncode, out, err.decode())


@pytest.fixture(scope="module")
def slow_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Takes a second or more, most of it before anything is printed."""
    folder = tmp_path_factory.mktemp("slow") / "model"
    write_tiny_checkpoint(folder, hidden=256, heads=4, layers=8, intermediate=1024, max_positions=512)
    return folder


@pytest.mark.parametrize("number", **NAMES)
@pytest.mark.parametrize("older", [False, True], ids=["new", "older"])
def test_stopped_while_reporting(number: signal.Signals, older: bool, slow_model: Path, tmp_path: Path) -> None:
    """The report's first line is out, the files come after the last one. It waits: the pipe holds less than all."""
    out = tmp_path / "deep" / "out"
    if older:
        small = tmp_path / "small"
        write_tiny_checkpoint(small)
        assert etch("generate", small, "--out", out).code == 0
    before = content(tmp_path)
    outcome = stopped(
        ["generate", str(slow_model), "--out", str(out)],
        number,
        lambda process: process.stdout and os.read(process.stdout.fileno(), 1),
    )
    assert one_line(outcome, 128 + number) == WORDS.get(number, "etch: stopped")
    assert content(tmp_path) == before


@pytest.mark.parametrize(
    ("number", "delay"),
    [(signal.SIGINT, 0.3), (signal.SIGINT, 1.0), (signal.SIGTERM, 0.3), (signal.SIGTERM, 0.6), (signal.SIGHUP, 1.0)],
)
def test_stopped_at_any_time(number: signal.Signals, delay: float, slow_model: Path, tmp_path: Path) -> None:
    """Whatever it was doing: no folder, and no temporary one. It is not done before: nobody reads the pipe, which holds
    less than its report, and the files come after that."""
    command = ["generate", str(slow_model), "--out", str(tmp_path / "out")]
    outcome = stopped(command, number, lambda _: time.sleep(delay))
    assert "internal" not in outcome.err
    if outcome.code == 128 + number:
        assert outcome.err.endswith(WORDS.get(number, "etch: stopped") + "\n")
    else:
        # Before our first line ran Python itself answers: on a busy machine it still imports what runs modules.
        assert outcome.code == -number or "Could not import runpy module" in outcome.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", **NAMES)
@pytest.mark.parametrize("moment", one_in(4, range(12)))
def test_stopped_while_starting(moment: int, number: signal.Signals, slow_model: Path, tmp_path: Path) -> None:
    """Twice at each of many moments, most of them while modules are imported: by this signal and no other, without a
    traceback of ours. Before our first line Python itself answers. The model is never done, as above."""
    outcome = stopped(
        ["generate", str(slow_model), "--out", str(tmp_path / "out")],
        number,
        lambda process: (time.sleep(0.05 * moment), process.send_signal(number)),
    )
    assert "codegen" not in outcome.err
    if outcome.code == 128 + number:
        assert outcome.err == WORDS.get(number, "etch: stopped") + "\n"
    else:
        assert outcome.code == -number or "KeyboardInterrupt" in outcome.err


@pytest.mark.parametrize("number", **NAMES)
def test_stopped_while_writing(number: signal.Signals, model: Path, tmp_path: Path) -> None:
    """As soon as the temporary folder is there, and then twice more. No file of it is ever on the disk."""
    folder = tmp_path / "place"
    folder.mkdir()
    (tmp_path / "sitecustomize.py").write_text(WAITS)

    def appears(process: subprocess.Popen[bytes]) -> None:
        while process.poll() is None and not any(folder.iterdir()):
            time.sleep(0.0005)
        for _ in range(2):
            process.send_signal(number)

    command = ["generate", str(model), "--out", str(folder / "out")]
    places = filter(None, (str(tmp_path), os.environ.get("PYTHONPATH")))
    outcome = stopped(command, number, appears, PYTHONPATH=os.pathsep.join(places))
    assert one_line(outcome, 128 + number) == WORDS.get(number, "etch: stopped")
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("number", **NAMES)
def test_stopped_when_all_is_done(number: signal.Signals, tmp_path: Path) -> None:
    """A signal while the interpreter shuts down changes nothing any more."""
    write_tiny_checkpoint(tmp_path / "model")
    program = (
        "import atexit, os, sys; from codegen.cli import main; "
        f"atexit.register(os.kill, os.getpid(), {int(number)}); sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "inspect", str(tmp_path / "model")], cwd=ROOT, capture_output=True, check=False
    )
    assert done.returncode == 0
    assert done.stderr == b""


def commands_in(folder: Path) -> list[bytes]:
    """Command lines that name a folder, or that run below it."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            line = (process / "cmdline").read_bytes()
            if os.fsencode(folder) in line or (process / "cwd").readlink().is_relative_to(folder):
                found.append(line)
    return found


@pytest.mark.skipif(
    shutil.which("cmake") is None or not Path("/proc/self/cmdline").exists(), reason="no cmake, no /proc"
)
def test_stopped_while_compiling(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A source of the runtime: earlier compilers are CMake's, which tries them. The generated sources stay, they are
    whole; the compilers stop, too."""
    monkeypatch.setenv("ETCH_CACHE", "off")
    out = tmp_path / "compiled"

    seen = False

    def compiles(process: subprocess.Popen[bytes]) -> None:
        nonlocal seen
        while process.poll() is None and not seen:
            time.sleep(0.01)
            seen = any(b"cc1plus" in line and b"/runtime/src/" in line for line in commands_in(out))

    outcome = stopped(["generate", str(model), "--out", str(out), "--build"], signal.SIGTERM, compiles)
    if outcome.code == 0 and not seen:
        pytest.skip("the compiler is not called cc1plus, nothing to stop")
    assert one_line(outcome, 128 + signal.SIGTERM) == "etch: stopped"
    assert (out / "etch.json").exists()
    end = time.monotonic() + 30  # they are told to stop, and need a moment
    while commands_in(out) and time.monotonic() < end:
        time.sleep(0.05)
    assert commands_in(out) == []


def test_ignored_signals_do_not_stop_it(model: Path, tmp_path: Path) -> None:
    """As under nohup."""
    command = [sys.executable, "-m", "codegen", "generate", str(model), "--out", str(tmp_path / "out")]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN) and None,  # noqa: PLW1509
    )
    while process.poll() is None:
        process.send_signal(signal.SIGHUP)
        time.sleep(0.01)
    assert process.returncode == 0
    assert (tmp_path / "out" / "etch.json").exists()
