# SPDX-License-Identifier: Apache-2.0
"""Signs of life of what takes long: which stage runs, how far it is, and about how many seconds are left.

One line of standard error, written again and again, on terminals only: elsewhere the report's lines come as they
happen, and two runs print the same, however long they take. Stages tell of themselves with stage() and advance(),
whoever listens; nobody does unless listening() says so.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TextIO

QUIET_SECONDS = 2.0  # of a command before anything is shown
_REDRAW_SECONDS = 0.2
_ESTIMATE_SECONDS = 1.0  # of a stage before the rest of it is estimated
_BOLD, _PLAIN, _CLEAR = "\033[1m", "\033[0m", "\r\033[K"

Clock = Callable[[], float]


@dataclass
class _Stage:
    name: str
    unit: str
    total: int
    begun: float
    done: int = 0

    def words(self, now: float) -> str:
        """`tensor 3 of 12, 4 s, about 12 s left`"""
        parts = [f"{self.unit} {min(self.done + 1, self.total):,} of {self.total:,}"] if self.total else []
        spent = now - self.begun
        parts.append(f"{spent:.0f} s")
        if 0 < self.done < self.total and spent >= _ESTIMATE_SECONDS:
            parts.append(f"about {spent * (self.total - self.done) / self.done:.0f} s left")
        return ", ".join(parts)


@dataclass
class Listener:
    """Where signs of life go."""

    terminal: TextIO
    colour: bool = False
    clock: Clock = time.monotonic
    begun: float = field(init=False)
    _next: float = field(init=False)
    _drawn: bool = False

    def __post_init__(self) -> None:
        self.begun = self.clock()
        self._next = self.begun + QUIET_SECONDS

    def show(self, stage: _Stage) -> None:
        """Where it is time to."""
        now = self.clock()
        if now < self._next:
            return
        self._next = now + _REDRAW_SECONDS
        width = shutil.get_terminal_size().columns - 1
        text = f"{stage.name:<12} {stage.words(now)}"[:width]
        if self.colour:
            text = f"{_BOLD}{text[:12]}{_PLAIN}{text[12:]}"
        self._write(_CLEAR + text)
        self._drawn = True

    def clear(self) -> None:
        """Before something else is written."""
        if self._drawn:
            self._write(_CLEAR)
            self._drawn = False

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):  # a terminal that is gone stops nothing
            self.terminal.write(text)
            self.terminal.flush()


_LISTENER: ContextVar[Listener | None] = ContextVar("etch_listener", default=None)
_STAGE: ContextVar[_Stage | None] = ContextVar("etch_stage", default=None)


@contextlib.contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Stages that run meanwhile tell `listener`."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        if listener is not None:
            listener.clear()
        _LISTENER.reset(token)


@contextlib.contextmanager
def stage(name: str, unit: str = "", total: int = 0) -> Iterator[None]:
    """What is done inside is the stage `name` of `total` units, 0 where nobody knows."""
    listener = _LISTENER.get()
    if listener is None:
        yield
        return
    token = _STAGE.set(_Stage(name, unit, total, listener.clock()))
    try:
        advance(0)
        yield
    finally:
        _STAGE.reset(token)


def advance(units: int = 1) -> None:
    """The stage that runs has done so many more of its units."""
    listener, current = _LISTENER.get(), _STAGE.get()
    if listener is not None and current is not None:
        current.done += units
        listener.show(current)


def advance_to(done: int, total: int) -> None:
    """The same where the stage learns both from outside."""
    if (current := _STAGE.get()) is not None:
        current.total = total
        advance(done - current.done)


def say(line: str) -> None:
    """A line of the report, handed on at once."""
    if (listener := _LISTENER.get()) is not None:
        listener.clear()
    print(line, flush=True)


def listener_of(stream: TextIO | None) -> Listener | None:
    """For a command whose standard error is `stream`. NO_COLOR (https://no-color.org) and TERM=dumb are heeded."""
    dumb = os.environ.get("TERM", "") in ("", "dumb")
    if stream is None or not stream.isatty() or dumb:
        return None
    return Listener(stream, colour=not os.environ.get("NO_COLOR"))


def standard_listener() -> Listener | None:
    """Of this process."""
    return listener_of(sys.stderr)
