# SPDX-License-Identifier: Apache-2.0
"""Signals that end a run, held back where stopping in the middle would leave something behind."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator

# Ctrl-C, `kill`, and the terminal that is closed.
SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


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
