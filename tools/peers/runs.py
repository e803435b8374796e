# SPDX-License-Identifier: Apache-2.0
"""What every comparison does: prepare the runtimes, start each in a process of its own, let them compute in turn."""

from __future__ import annotations

import logging
import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from .inputs import InputError
from .prepare import BUILD, Preparation
from .processes import Worker, WorkerError
from .report import Report, Times
from .setup import Setup

Answer = TypeVar("Answer")

TURN_SECONDS = 0.05  # a turn calls as often as fits in, at least once, at most
TURN_CALLS = 50
STARTS = 3  # of which the median counts
# Runtimes without a wheel, which nothing installs by itself.
COMPILED = {
    "llamacpp": "not installed: build/compare/venv/bin/pip install llama-cpp-python==0.3.36 gguf==0.19.0 compiles it"
}


def chosen(asked: list[str] | None, known: Sequence[str]) -> list[str]:
    """Those that the user asked for, or all that can run such a model."""
    names = [peer for peer in asked or known if peer in known]
    if not names:
        raise InputError(f"--peers: none of them runs this model, but {', '.join(known)}")
    return names


def prepare_all(names: list[str], preparation: Preparation, kernel: str, report: Report) -> dict[str, Setup]:
    """The setup of each peer that could be prepared; etch's with the kernel set of this name, or the best one."""
    logging.disable(logging.WARNING)  # of the quantizers
    models: dict[str, Path] = {}
    for peer in names:
        try:
            models[peer] = preparation.model(peer)
        except Exception as error:  # whatever a foreign tool raises: the others go on
            report.skipped(peer, reason(peer, f"{type(error).__name__}: {error}"))
    common = (preparation.checkpoint, preparation.max_tokens, preparation.written > 0, kernel)
    return {peer: Setup(peer, 0, model, *common) for peer, model in models.items()}


def reason(peer: str, error: str) -> str:
    """Why a peer is left out: what installing its packages said, how the user does it, or else the error."""
    kind = peer.split("-", 1)[0]
    if kind in COMPILED and error.startswith(ModuleNotFoundError.__name__):
        return COMPILED[kind]
    failed = BUILD / f"not-installed-{kind}"
    return failed.read_text(encoding="utf-8").strip() if failed.exists() else error.splitlines()[0]


def start(setup: Setup, first: str | dict[str, Any], starts: int) -> Worker:
    """A worker that knows the median of several starts."""
    seconds = []
    for _ in range(starts - 1):
        worker = Worker(setup, first)
        seconds.append(worker.start_seconds)
        worker.stop()
    worker = Worker(setup, first)
    worker.start_seconds = statistics.median([*seconds, worker.start_seconds])
    return worker


def start_all(
    setups: dict[str, Setup], threads: int, first: str | dict[str, Any], starts: int, report: Report
) -> dict[str, Worker]:
    workers = {}
    for peer, setup in setups.items():
        try:
            workers[peer] = start(replace(setup, threads=threads), first, starts)
        except WorkerError as error:
            report.skipped(peer, reason(peer, str(error)))
    return workers


def each(workers: dict[str, Worker], report: Report, ask: Callable[[str, Worker], Answer]) -> dict[str, Answer]:
    """What `ask` gets of each. A runtime whose process ends is reported and left out of `workers` from then on."""
    answers = {}
    for peer, worker in list(workers.items()):
        try:
            answers[peer] = ask(peer, worker)
        except WorkerError as error:
            report.skipped(peer, str(error))
            workers.pop(peer).stop()
    if not workers:
        raise WorkerError("no runtime is left")
    return answers


def ask_each(workers: dict[str, Worker], report: Report, **request: Any) -> dict[str, dict[str, Any]]:
    """The answers of all that answer a request."""
    return each(workers, report, lambda _, worker: worker.ask(**request))


def in_turns(workers: dict[str, Worker], request: dict[str, Any], rounds: int, report: Report) -> dict[str, Times]:
    """Seconds of a request: A B C A B C. A turn calls several times, more often where a call is short."""
    once = ask_each(workers, report, calls=1, **request)
    calls = {peer: max(1, min(TURN_CALLS, int(TURN_SECONDS / answer["seconds"][0]))) for peer, answer in once.items()}
    turns = [
        each(workers, report, lambda peer, worker: worker.ask(calls=calls[peer], **request)["seconds"])
        for _ in range(rounds)
    ]
    times = {peer: [second for turn in turns for second in turn[peer]] for peer in workers}
    return {peer: Times(statistics.median(values), min(values)) for peer, values in times.items()}
