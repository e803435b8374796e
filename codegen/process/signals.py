# SPDX-License-Identifier: Apache-2.0
"""What comes before every other import: until the work begins nothing is written, and a signal may end the process.

A handler of our own, because Python's own one for Ctrl-C raises an exception wherever it happens to be, which libraries
turn into others while they are imported. Only modules that every Python has loaded already are imported here.
"""

import _signal
import os
import sys

# Ctrl-C, `kill`, and the terminal that is closed.
SIGNALS = tuple(getattr(_signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(_signal, name))


def leave_on_signals(program: str) -> None:
    """From here on a signal that the caller does not ignore ends the process with one line and 128 + its number."""

    def leave(number: int, _: object) -> None:
        try:
            sys.unraisablehook = lambda _: None  # tells of signals that came before they were ignored
            for each in SIGNALS:  # one that comes meanwhile would say it again
                _signal.signal(each, _signal.SIG_IGN)
            os.write(2, farewell(program, number).encode())
        finally:
            os._exit(128 + number)

    for number in SIGNALS:
        if _signal.getsignal(number) in (_signal.SIG_DFL, _signal.default_int_handler):
            _signal.signal(number, leave)


def farewell(program: str, number: int) -> str:
    """The last line of a process that a signal ends."""
    return f"{program}: {'interrupted' if number == _signal.SIGINT else 'stopped'}\n"
