# SPDX-License-Identifier: Apache-2.0
"""Signals while a folder is written: the old folder or the new one, whole, and nothing beside it."""

from __future__ import annotations

import os
import pkgutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from folder_content import content
from test_output import FIRST, SECOND, manifest

from codegen.folders.output import check_target, write_output
from codegen.process.interrupts import SIGNALS, held_signals

MOMENTS = {
    "temporary folder": ("tempfile.mkdtemp", 0),
    "temporary folder for the old": ("tempfile.mkdtemp", 1),
    "first file": ("os.fsync", 0),
    "last file": ("os.fsync", len(SECOND)),
    "first rename": ("pathlib.Path.rename", 0),
    "second rename": ("pathlib.Path.rename", 1),
    "last rename": ("pathlib.Path.rename", 2),
    "first removal": ("codegen.folders.output._remove", 0),
    "last removal": ("codegen.folders.output._remove", 1),
}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder written before."""
    write_output(tmp_path / "model", FIRST, manifest)
    return tmp_path / "model"


@pytest.fixture
def stopping() -> Iterator[list[int]]:
    """Signals end the work as they do on the command line; the list says which came."""
    seen: list[int] = []

    def stop(number: int, _: object) -> None:
        seen.append(number)
        raise KeyboardInterrupt

    usual = {number: signal.signal(number, stop) for number in SIGNALS}
    yield seen
    for number, handler in usual.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_signal(
    number: int, moment: str, after: bool, out: Path, stopping: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twice in a row, before or after a step."""
    (out / "build").mkdir()
    (out / "build" / "x.o").write_bytes(b"object")
    before = content(out.parent)
    name, call = MOMENTS[moment]
    real: Callable[..., object] = pkgutil.resolve_name(name)
    calls = iter(range(100))

    def step(*arguments: object, **keywords: object) -> object:
        now = next(calls) == call
        if now and not after:
            signal.raise_signal(number)
            signal.raise_signal(number)
        result = real(*arguments, **keywords)
        if now and after:
            signal.raise_signal(number)
            signal.raise_signal(number)
        return result

    monkeypatch.setattr(name, step)
    with pytest.raises(KeyboardInterrupt):
        write_output(out, SECOND, manifest)
    assert number in stopping
    left = content(out.parent)
    if left != before:
        assert left["model/build/x.o"] == b"object"
        assert sorted(path.name for path in out.iterdir()) == ["a.cpp", "a.hpp", "a.tables", "build", "etch.json"]
        assert sorted(path.name for path in out.parent.iterdir()) == ["model"]
    check_target(out)


def test_a_signal_stops_the_writing_at_once(out: Path, stopping: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    synced = []
    monkeypatch.setattr("os.fsync", lambda descriptor: synced.append(descriptor) or signal.raise_signal(signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        write_output(out, SECOND, manifest)
    assert len(synced) == 1


def test_held_signals_come_later_and_in_order(stopping: list[int]) -> None:
    reached = False
    with pytest.raises(KeyboardInterrupt), held_signals():
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGHUP)
        assert stopping == []
        reached = True
    assert reached
    assert stopping == [signal.SIGTERM]
    with pytest.raises(KeyboardInterrupt), held_signals() as acting:
        with acting():
            signal.raise_signal(signal.SIGINT)
        raise AssertionError("not reached")
    assert stopping == [signal.SIGTERM, signal.SIGINT]
    with pytest.raises(KeyboardInterrupt):  # the handlers are as they were
        signal.raise_signal(signal.SIGHUP)


def test_ignored_signals_stay_ignored(stopping: list[int]) -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with held_signals() as acting, acting():
        signal.raise_signal(signal.SIGHUP)
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    assert stopping == []


def test_other_threads_hold_nothing(out: Path) -> None:
    """Python allows handlers in the main thread only; writing works in every one."""
    errors: list[BaseException] = []

    def work() -> None:
        try:
            write_output(out, SECOND, manifest)
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert errors == []
    assert (out / "a.tables").exists()


STOPPED_IN_EXEC = """
import signal, sys
from codegen.process.interrupts import run_program
sys.exit(run_program("etch", lambda: exec("signal.raise_signal(signal.SIGTERM)", {"signal": signal})))
"""


def test_a_signal_while_a_string_is_executed(tmp_path: Path) -> None:
    """As `dataclass` does it: the process ends by the program's own code, not by SIGINT."""
    (tmp_path / "stopped.py").write_text(STOPPED_IN_EXEC)
    done = subprocess.run(
        [sys.executable, "-m", "stopped"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[3])},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (128 + signal.SIGTERM, "etch: stopped\n")
