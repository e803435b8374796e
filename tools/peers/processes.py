# SPDX-License-Identifier: Apache-2.0
"""Worker processes, the measured start of a process, and the machine."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .prepare import BUILD, ROOT
from .setup import Setup

# Libraries of a CUDA toolkit, where there is one: a PyTorch for CUDA wants them even when it computes on the CPU.
CUDA_LIBRARIES = Path("/usr/local/cuda/lib64")


class WorkerError(Exception):
    """The worker could not load its runtime, or died."""


class Process:
    """A process that answers requests, each a JSON object in a line (answering.py), on the first `threads` of the
    processors that this process may use. `hello` is what it says once it can.

    It stands still but when it is asked: threads that wait for work by spinning would slow the others.
    """

    def __init__(self, command: list[str], threads: int, log: Path) -> None:
        self._log = log
        begin = time.perf_counter()
        with log.open("w", encoding="utf-8") as printed:
            self._process = subprocess.Popen(
                [*pinned(threads), *command],
                cwd=ROOT,
                env=environment(threads),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=printed,
                text=True,
            )
        try:
            self.hello = self._read()
        except WorkerError:
            self.stop()
            raise
        self.start_seconds = time.perf_counter() - begin
        if "error" in self.hello:
            self.stop()
            raise WorkerError(self.hello["error"])
        self._process.send_signal(signal.SIGSTOP)

    def ask(self, **request: object) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.send_signal(signal.SIGCONT)
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except OSError:
            raise self._ended() from None
        answer = self._read()
        self._process.send_signal(signal.SIGSTOP)
        return answer

    def stop(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.send_signal(signal.SIGCONT)
        with contextlib.suppress(OSError):  # what was written last, to a process that has ended
            self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.endswith("\n"):  # nothing, or what it had written of a line when it was killed
            raise self._ended()
        try:
            return json.loads(line)
        except ValueError:
            self._process.kill()  # it may do anything
            raise WorkerError(f"it answered with what is not JSON (see {self._log.name})") from None

    def _ended(self) -> WorkerError:
        """How, of a process whose output has ended."""
        code = self._process.wait()
        return WorkerError(f"its process {ending(code)} (see {self._log.name})")


class Worker(Process):
    """A runtime in its own process. `first` is a text, or a request, that it answers when it is started."""

    def __init__(self, setup: Setup, first: str | dict[str, Any]) -> None:
        spec = {
            "peer": setup.peer,
            "threads": setup.threads,
            "model": str(setup.model),
            "checkpoint": str(setup.checkpoint),
            "max_tokens": setup.max_tokens,
            "writes": setup.writes,
            "kernel": setup.kernel,
            "first": {"text": first} if isinstance(first, str) else first,
        }
        command = [sys.executable, "-m", f"{__package__}.worker", json.dumps(spec)]
        super().__init__(command, setup.threads, BUILD / f"{setup.peer}.log")
        self.megabytes: float = self.hello["megabytes"]
        self.version: str = self.hello["version"]
        self.detail: str = self.hello["detail"]
        self.threads: int = self.hello["threads"]
        self.batches: list[int] = self.hello["batches"]


def ending(code: int) -> str:
    """How a process ended, by its exit code, or the negative number of a signal."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:  # of real time
        return f"was killed by signal {-code}"


def pinned(threads: int) -> list[str]:
    """The start of a command that shall run on `threads` processors."""
    return ["taskset", "-c", ",".join(map(str, processors()[:threads]))]


def processors() -> list[int]:
    return sorted(os.sched_getaffinity(0))


def environment(threads: int) -> Mapping[str, str]:
    limits = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")
    values = (
        os.environ
        | dict.fromkeys(limits, str(threads))
        | {"TOKENIZERS_PARALLELISM": "true" if threads > 1 else "false", "HF_HUB_OFFLINE": "1"}
    )
    if CUDA_LIBRARIES.is_dir():
        values["LD_LIBRARY_PATH"] = ":".join(filter(None, (str(CUDA_LIBRARIES), values.get("LD_LIBRARY_PATH"))))
    return values


def fresh_process(command: list[str], repetitions: int = 5) -> float:
    """Median seconds from start to end of a program."""
    seconds = []
    for _ in range(repetitions):
        begin = time.perf_counter()
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        seconds.append(time.perf_counter() - begin)
        if done.returncode != 0:
            raise WorkerError(f"it {ending(done.returncode)}")
    return statistics.median(seconds)


def machine() -> dict[str, object]:
    """What a figure depends on besides the runtimes."""
    values: dict[str, str] = {}
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        key, _, value = line.partition(":")
        values.setdefault(key.strip(), value.strip())
    return {
        "cpu": values.get("model name", platform.machine()),
        "family": values.get("cpu family", ""),
        "model": values.get("model", ""),
        "processors": len(processors()),
        "python": platform.python_version(),
    }
