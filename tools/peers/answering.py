# SPDX-License-Identifier: Apache-2.0
"""The other side of processes.Process: one that answers."""

from __future__ import annotations

import ctypes
import json
import os
import signal
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1  # of <sys/prctl.h>


def answering() -> Callable[..., None]:
    """Makes this process one that is asked, and returns what answers: with its arguments, as a JSON object. What
    libraries print goes to standard error from now on."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # one that stands still does not see its input end
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def reply(**values: object) -> None:
        print(json.dumps(values), file=answers, flush=True)

    return reply


def peak_megabytes() -> float:
    """Of memory that this process had at most."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))
