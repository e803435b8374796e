# SPDX-License-Identifier: Apache-2.0
"""The comparison of a generative model: of a translator, a source of so many tokens, as many written, with each number
of beams; of a decoder alone, so many tokens one by one behind a single one.

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
from .runs import STARTS, ask_each, chosen, in_turns, prepare_all, start_all
from .runtimes import GENERATORS, WRITERS

LENGTHS = (20,)
BEAMS = (1, 4)
GENERATED = (64,)
MOST_BEAMS = 8


def run(options: argparse.Namespace, checkpoint: Path, config: dict[str, Any]) -> None:
    if options.texts or options.evaluate:
        raise InputError("a generative model is timed with made-up tokens: no --texts, no --evaluate")
    encoder = config["model_type"] == "marian"
    if not encoder and options.beams not in (None, [1]):
        raise InputError("--beams: only a translator searches")
    most = config["max_position_embeddings" if encoder else "n_positions"] - 1
    lengths = options.lengths or (LENGTHS if encoder else GENERATED)
    searches = options.beams or (BEAMS if encoder else (1,))
    for length in lengths:
        if not 2 <= length <= most:
            raise InputError(f"length {length} is not possible: the model takes 2 to {most} tokens")
    if not all(1 <= beams <= MOST_BEAMS for beams in searches):
        raise InputError(f"--beams: 1 to {MOST_BEAMS}")
    report = Report(options.json)
    report.begin(machine(), checkpoint.name, options.rounds)
    known = WRITERS if encoder else GENERATORS
    for length in lengths:
        read = length if encoder else 1
        beams = max(2, *searches) if encoder else 1
        preparation = Preparation(checkpoint, read, [], written=length, beams=beams, encoder=encoder)
        setups = prepare_all(chosen(options.peers, known), preparation, options.kernel, report)
        ids = source(config, length) if encoder else [config["vocab_size"] // 2]
        for threads in options.threads:
            first = {"ids": ids, "beams": 1, "tokens": length}
            workers = start_all(setups, threads, first, min(STARTS, options.rounds), report)
            try:
                for beams in searches:
                    request = first | {"beams": beams}
                    written = ask_each(workers, report, calls=0, **request)
                    times = in_turns(workers, request, options.rounds, report)
                    tokens = {peer: written[peer]["result"] for peer in workers}
                    report.written(threads, (read, length), beams, workers, tokens, times)
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
