# SPDX-License-Identifier: Apache-2.0
"""The comparison of a translator: a source of so many tokens, as many written, with each number of beams.

Sources are made up, and the end is kept from being written, so that random weights do as well as trained ones. Every
runtime takes token ids and gives token ids.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path
from typing import Any

from .inputs import InputError
from .prepare import Preparation
from .processes import Worker, machine
from .report import Report
from .runs import STARTS, chosen, in_turns, prepare_all, start_all
from .runtimes import WRITERS

LENGTHS = (20,)
BEAMS = (1, 4)
MOST_BEAMS = 8


def run(options: argparse.Namespace, checkpoint: Path, config: dict[str, Any]) -> None:
    if options.texts or options.evaluate:
        raise InputError("a translator is timed with made-up tokens: no --texts, no --evaluate")
    most = config["max_position_embeddings"] - 1
    lengths, searches = options.lengths or LENGTHS, options.beams or BEAMS
    for length in lengths:
        if not 2 <= length <= most:
            raise InputError(f"length {length} is not possible: the model takes 2 to {most} tokens")
    if not all(1 <= beams <= MOST_BEAMS for beams in searches):
        raise InputError(f"--beams: 1 to {MOST_BEAMS}")
    report = Report(options.json)
    report.begin(machine(), checkpoint.name, options.rounds)
    for length in lengths:
        preparation = Preparation(checkpoint, length, [], written=length, beams=max(2, *searches))
        setups = prepare_all(chosen(options.peers, WRITERS), preparation, options.kernel, report)
        ids = source(config, length)
        for threads in options.threads:
            first = {"ids": ids, "beams": 1, "tokens": length}
            workers = start_all(setups, threads, first, min(STARTS, options.rounds), report)
            try:
                for beams in searches:
                    request = first | {"beams": beams}
                    tokens = {peer: worker.ask(calls=0, **request)["result"] for peer, worker in workers.items()}
                    times = in_turns(workers, request, options.rounds)
                    report.written(threads, length, beams, workers, tokens, times)
            finally:
                stop(workers)


def source(config: dict[str, Any], length: int) -> list[int]:
    """Any tokens but the special ones, and the end."""
    special = {config["eos_token_id"], config["pad_token_id"], config["decoder_start_token_id"]}
    words = [number for number in range(2, config["vocab_size"]) if number not in special]
    return [*random.Random(1).choices(words, k=length - 1), config["eos_token_id"]]


def stop(workers: dict[str, Worker]) -> None:
    for worker in workers.values():
        worker.stop()
