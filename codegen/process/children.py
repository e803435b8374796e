# SPDX-License-Identifier: Apache-2.0
"""Commands that start others, which end with them."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from typing import Any

_GRACE = 10.0  # seconds to end by itself


def run_with_children(command: list[str], seconds: float, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """`subprocess.run` with a process group of its own (POSIX), which is stopped as a whole where it takes longer or
    this process is interrupted: by SIGTERM, so that a tool can end what it has put into another group, then by SIGKILL.

    subprocess.TimeoutExpired with what was written by then.
    """
    with subprocess.Popen(command, start_new_session=True, **options) as process:
        try:
            output, _ = process.communicate(timeout=seconds)
        except BaseException:
            os.killpg(process.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(command, process.returncode, output)
