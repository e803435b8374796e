# SPDX-License-Identifier: Apache-2.0
"""The comparison: prepare, start, let all compute in turn, report."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from codegen.oracle.bert import Reference
from tools.support.options import OptionParser

from . import writing
from .inputs import Input, InputError, Labelled, of_length, open_tokenizer, read_labelled, read_texts
from .prepare import Preparation
from .processes import Worker, WorkerError, fresh_process, machine, pinned, processors
from .report import FIRST, Report, Result
from .runs import STARTS, ask_each, chosen, each, in_turns, prepare_all, start_all
from .runtimes import GENERATORS, PEERS, TOKENIZERS, WRITERS
from .setup import Setup

SINGLE_LABEL = "single_label_classification"
THROUGHPUT_ROUNDS = 3
MOST_REFERENCE_TEXTS = 32


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    try:
        run(options)
    except InputError as error:
        print(f"compare: {error}", file=sys.stderr)
        return 2
    except WorkerError as error:
        print(f"compare: {error}", file=sys.stderr)
        return 1
    return 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = OptionParser("compare")
    parser.add_argument("checkpoint", type=Path, metavar="CHECKPOINT")
    parser.add_argument("--lengths", type=numbers)
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--threads", type=numbers, default=[1])
    parser.add_argument("--beams", type=numbers)
    parser.add_argument("--evaluate", type=Path)
    parser.add_argument("--limit", type=int, default=200)
    parser.add_argument("--peers", type=peers)
    parser.add_argument("--kernel", default="")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    if options.rounds < 1 or options.limit < 1:
        parser.error("--rounds and --limit are at least 1")
    if options.lengths and options.texts:
        parser.error("--lengths and --texts cannot be used together")
    for count in options.threads:
        if not 1 <= count <= len(processors()):
            parser.error(f"--threads: this process may use 1 to {len(processors())} processors")
    return options


def numbers(text: str) -> list[int]:
    parts = text.split(",")
    if not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of numbers such as 44,221")
    return [int(part) for part in parts]


def peers(text: str) -> list[str]:
    """Names, or beginnings of names: `etch,onnxruntime-int8`."""
    known = list(dict.fromkeys(PEERS + WRITERS + GENERATORS))
    found = [peer for part in text.split(",") for peer in known if peer == part or peer.startswith(f"{part}-")]
    if not found or not all(any(peer == p or peer.startswith(f"{p}-") for peer in known) for p in text.split(",")):
        raise argparse.ArgumentTypeError(f"unknown, known are: {', '.join(known)}")
    return list(dict.fromkeys(found))


def run(options: argparse.Namespace) -> None:
    checkpoint = options.checkpoint.resolve()
    config, decoder, max_tokens, labels = read_config(options.checkpoint)
    if decoder or config.get("model_type") == "marian":
        writing.run(options, checkpoint, config)
        return
    if options.beams:
        raise InputError("--beams: only a translator searches")
    if options.evaluate and config.get("problem_type") not in (None, SINGLE_LABEL):
        raise InputError(f"--evaluate: accuracy is of {SINGLE_LABEL}, this is {config['problem_type']}")
    tokenizer = open_tokenizer(checkpoint, max_tokens)
    if options.texts:
        inputs = read_texts(options.texts, tokenizer, options.limit)
    else:
        wanted = options.lengths or [length for length in (44, 221) if length <= max_tokens] or [max_tokens]
        inputs = [of_length(tokenizer, length, max_tokens) for length in wanted]
    rows = read_labelled(options.evaluate, labels, options.limit) if options.evaluate else []

    report = Report(options.json)
    report.begin(machine(), checkpoint.name, options.rounds)
    calibration = [tokenizer.encode(row.text).ids for row in rows] or [item.ids for item in inputs]
    preparation = Preparation(checkpoint, max_tokens, calibration)
    setups = prepare_all(chosen(options.peers, PEERS), preparation, options.kernel, report)
    reference = reference_logits(checkpoint, calibration[:MOST_REFERENCE_TEXTS])
    for index, threads in enumerate(options.threads):
        workers = start_all(setups, threads, inputs[0].text, min(STARTS, options.rounds), report)
        try:
            results = {peer: Result(peer, threads, worker) for peer, worker in workers.items()}
            if index == 0:
                errors = each(workers, report, lambda _, worker: mean_error(worker, calibration, reference))
                shares = each(workers, report, lambda _, worker: accuracy(worker, rows)) if rows else {}
                for peer in workers:
                    results[peer].error, results[peer].accuracy = errors[peer], shares.get(peer)
            take_turns(workers, inputs, options.rounds, results, report)
            texts = [row.text for row in rows]
            seconds = throughput(workers, texts, min(options.rounds, THROUGHPUT_ROUNDS), report)
        finally:
            for worker in workers.values():
                worker.stop()
        report.table(threads, inputs, [results[peer] for peer in workers])
        if seconds:
            report.throughput(threads, len(rows), seconds)
    texts = [row.text for row in rows] or [item.text for item in inputs]
    tokenizers = {peer: Setup(peer, 1, checkpoint, checkpoint, max_tokens) for peer in TOKENIZERS}
    tokenizers |= {peer: setup for peer, setup in setups.items() if peer == FIRST}
    compare_tokenizers(tokenizers, texts, options.rounds, report)
    report_starts(preparation, [peer for peer in setups if peer.startswith("etch")], inputs[0], report)


def read_config(checkpoint: Path) -> tuple[dict[str, Any], bool, int, list[str]]:
    """config.json; whether the model is a GPT-2; its positions; its labels, none where it has no own ones."""
    try:
        config = json.loads((checkpoint / "config.json").read_text(encoding="utf-8"))
        decoder = config.get("model_type") == "gpt2"
        max_tokens, names = config["n_positions" if decoder else "max_position_embeddings"], config.get("id2label", {})
        return config, decoder, max_tokens, [names[str(index)] for index in range(len(names))]
    except OSError as error:
        raise InputError(f"{checkpoint}: config.json: {error.strerror}") from None
    except KeyError as error:
        raise InputError(f"{checkpoint}: config.json does not say {error}") from None
    except (ValueError, RecursionError, AttributeError, TypeError):
        raise InputError(f"{checkpoint}: config.json is not the configuration of a model") from None


def reference_logits(checkpoint: Path, texts: list[list[int]]) -> list[np.ndarray]:
    """In float64, from the checkpoint itself."""
    reference = Reference(checkpoint)
    return [reference.output(ids, [0] * len(ids)) for ids in texts]


def mean_error(worker: Worker, texts: list[list[int]], reference: list[np.ndarray]) -> float:
    differences = [
        np.abs(np.array(worker.ask(calls=0, ids=ids)["result"]) - exact)
        for ids, exact in zip(texts, reference, strict=False)
    ]
    return float(np.mean(differences))


def accuracy(worker: Worker, rows: list[Labelled]) -> float:
    right = [int(np.argmax(worker.ask(calls=0, text=row.text)["result"])) == row.label for row in rows]
    return sum(right) / len(right)


def take_turns(
    workers: dict[str, Worker], inputs: list[Input], rounds: int, results: dict[str, Result], report: Report
) -> None:
    for item in inputs:
        for form in ({"ids": item.ids}, {"text": item.text}):
            for peer, times in in_turns(workers, form, rounds, report).items():
                results[peer].times[(item.name, next(iter(form)))] = times


def throughput(
    workers: dict[str, Worker], texts: list[str], rounds: int, report: Report
) -> dict[tuple[str, int], float]:
    """Median seconds for all texts, in turn, of each runtime that takes several at once and each size it names."""
    if not texts:
        return {}

    def once(_: str, worker: Worker) -> list[float]:
        """By size of batch."""
        return [worker.ask(calls=1, texts=texts, batch=size)["seconds"][0] for size in worker.batches]

    turns = [each(workers, report, once) for _ in range(rounds)]
    return {
        (peer, size): statistics.median(turn[peer][index] for turn in turns)
        for peer, worker in workers.items()
        for index, size in enumerate(worker.batches)
    }


def compare_tokenizers(setups: dict[str, Setup], texts: list[str], rounds: int, report: Report) -> None:
    """All texts again and again, in turn, on one thread."""
    workers = start_all(setups, 1, texts[0], 1, report)
    try:
        turns = [ask_each(workers, report, calls=1, texts=texts) for _ in range(rounds)]
    finally:
        for worker in workers.values():
            worker.stop()
    size = sum(len(text.encode()) for text in texts)
    tokens = {peer: turns[0][peer]["result"] for peer in workers}
    seconds = {peer: statistics.median(turn[peer]["seconds"][0] for turn in turns) for peer in workers}
    report.tokenizers(len(texts), size, tokens, seconds)


def report_starts(preparation: Preparation, etch: list[str], first: Input, report: Report) -> None:
    """Programs without Python, from start to end."""
    for peer in etch:
        program = preparation.program(peer)
        try:
            seconds = fresh_process([*pinned(1), str(program), "--", first.text])
        except WorkerError as error:
            report.skipped(f"{peer}, {program.name} TEXT", str(error))
        else:
            report.program(f"{program.name} TEXT", seconds)
