# SPDX-License-Identifier: Apache-2.0
"""Signals that end a run, held back where stopping in the middle would leave something behind."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator

from . import signals
from .signals import farewell

SIGNALS = tuple(map(signal.Signals, signals.SIGNALS))


class Stops:
    """The signals that came while a program worked."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    def watch(self) -> None:
        """From now on the first signal raises a KeyboardInterrupt, so that what is begun is cleaned up; what comes
        after it does nothing. To be called when everything is imported: until then leave_on_signals() is better."""
        for number in SIGNALS:
            if signal.getsignal(number) not in (None, signal.SIG_IGN):  # not where the caller ignores it
                signal.signal(number, self._stop)

    def _stop(self, number: int, _: object) -> None:
        self.seen.append(number)
        if len(self.seen) == 1:
            raise KeyboardInterrupt


def stoppable(program: str, work: Callable[[Stops], int], *, ends_process: bool = True) -> int:
    """The exit code of `work`, or, where signal n came, one line on stderr and 128 + n.

    Where the process ends after it, signals are ignored from then on: Python gives them their default actions back
    before its own end, which kill.
    """
    stops = Stops()
    usual = {number: signal.getsignal(number) for number in SIGNALS}
    complain = sys.unraisablehook
    sys.unraisablehook = lambda told: None if stops.seen else complain(told)  # where a destructor was interrupted
    interrupted = False
    code = 0
    try:
        try:
            code = work(stops)
        finally:
            sys.unraisablehook = complain
            for number, handler in usual.items():
                signal.signal(number, signal.SIG_IGN if ends_process else handler)
    except KeyboardInterrupt:
        interrupted = True
        # Where it passed through an exec(), as of a dataclass that is being made, CPython remembers it and in the end
        # kills the process by SIGINT, as if nobody had caught it. The next exec() forgets that.
        exec("")
    if not interrupted and not stops.seen:
        return code
    # Also where the exception came to nothing, as in a destructor.
    seen = stops.seen[0] if stops.seen else int(signal.SIGINT)
    sys.stderr.write(farewell(program, seen))
    return 128 + seen


def run_program(program: str, main: Callable[[], int]) -> int:
    """`main` of a tool whose modules are imported, stoppable from its first line to its last."""

    def work(stops: Stops) -> int:
        stops.watch()
        return main()

    return stoppable(program, work)


@contextlib.contextmanager
def held_signals() -> Iterator[Callable[[], contextlib.AbstractContextManager[None]]]:
    """Holds the signals back until the end; yields a context in which they act at once.

    Handlers are exchanged instead of masks: a mask holds for one thread only, and NumPy has started others.
    """
    if threading.current_thread() is not threading.main_thread():
        yield contextlib.nullcontext  # Python runs handlers in the main thread only
        return
    waiting: list[int] = []
    usual = {number: signal.getsignal(number) for number in SIGNALS}

    def hold() -> None:
        for number, handler in usual.items():
            if handler not in (None, signal.SIG_IGN):
                signal.signal(number, lambda number, _: waiting.append(number))

    def release() -> None:
        for number, handler in usual.items():
            if handler not in (None, signal.SIG_IGN):
                signal.signal(number, handler)
        while waiting:
            signal.raise_signal(waiting.pop(0))

    @contextlib.contextmanager
    def acting() -> Iterator[None]:
        try:
            release()
            yield
        finally:
            hold()

    try:
        hold()
        yield acting
    finally:
        release()
