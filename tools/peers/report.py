# SPDX-License-Identifier: Apache-2.0
"""Tables on standard output; the same as JSON lines."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from .inputs import Input
from .processes import Worker

FIRST = "etch-w8a8"  # what the others are related to, where it is there
MOST_TEXTS = 4  # that have columns of their own


class Times(NamedTuple):
    """Seconds of a call that was made again and again."""

    median: float
    least: float

    def milliseconds(self) -> dict[str, float]:
        return {"milliseconds": round(self.median * 1e3, 4), "least_milliseconds": round(self.least * 1e3, 4)}


@dataclass
class Result:
    peer: str
    threads: int  # the limit
    worker: Worker
    error: float | None = None
    accuracy: float | None = None
    times: dict[tuple[str, str], Times] = field(default_factory=dict)  # by input's name and form


class Report:
    def __init__(self, path: Path | None) -> None:
        self._path = path

    def begin(self, machine: dict[str, object], checkpoint: str, rounds: int) -> None:
        print(
            "{cpu} (family {family}, model {model}), {processors} processors allowed, Python {python}".format(**machine)
        )
        print(
            f"{checkpoint}, batch 1, {rounds} alternating turns, medians (least); each runtime in a process of its own"
        )
        self._write(machine | {"checkpoint": checkpoint, "rounds": rounds})

    def skipped(self, peer: str, reason: str) -> None:
        print(f"skipped {peer}: {reason}")
        self._write({"peer": peer, "skipped": reason})

    def program(self, command: str, seconds: float) -> None:
        print(f"fresh process, start to end, without Python: {command}: {seconds * 1e3:.1f} ms")
        self._write({"program": command, "milliseconds": round(seconds * 1e3, 3)})

    def throughput(self, threads: int, texts: int, seconds: dict[tuple[str, int], float]) -> None:
        """Of each runtime and size of batch; 0: the runtime's own choice."""
        print(f"\ntexts to labels in batches, at most {threads} thread{'s' if threads > 1 else ''}; texts: {texts}")
        for (peer, size), time in seconds.items():
            best = time == min(other for (name, _), other in seconds.items() if name == peer)
            together = f"batches of {size}" if size else "what fits the arena"
            print(f"{peer:24}{together:>20}{texts / time:12.1f} texts/s{'  best' if best else ''}")
            self._write(
                {"throughput": peer, "thread_limit": threads, "batch": size, "texts": texts}
                | {"texts_per_second": round(texts / time, 2)}
            )

    def tokenizers(self, texts: int, size: int, tokens: dict[str, int], seconds: dict[str, float]) -> None:
        print(f"\ntokenizer alone, 1 thread; texts: {texts}, {size} bytes")
        for peer, time in seconds.items():
            rate = size / time / 1e6
            print(f"{peer:24}{rate:9.2f} MB/s {time / texts * 1e6:10.2f} us a text {tokens[peer]:10} tokens")
            self._write(
                {"tokenizer": peer, "texts": texts, "bytes": size, "tokens": tokens[peer], "MB/s": round(rate, 3)}
            )

    def written(
        self,
        threads: int,
        lengths: tuple[int, int],
        beams: int,
        workers: dict[str, Worker],
        tokens: dict[str, list[int]],
        times: dict[str, Times],
    ) -> None:
        """One line a runtime; its tokens beside those of the first one in float32. Lengths: read, and written."""
        read, length = lengths
        search = f"{beams} beams" if beams > 1 else "greedy"
        limit = f"{threads} thread{'s' if threads > 1 else ''}"
        amount = f"{read} token{'s' if read > 1 else ''} read, {length} written"
        print(f"\n{amount}, {search}, at most {limit}; x: time relative to {FIRST}")
        exact = next((peer for peer in tokens if peer.endswith("-fp32")), None)
        for peer, time in times.items():
            ratio = time.median / times[FIRST].median if FIRST in times else 1.0
            same = None
            if exact is not None:
                same = sum(a == b for a, b in zip(tokens[peer], tokens[exact], strict=False))
            worker = workers[peer]
            shown = "" if same is None else f"{same:5} of {length} tokens as {exact}"
            about = " ".join(filter(None, (worker.version, worker.detail)))
            print(
                f"{peer:18}{time.median * 1e3:10.3f} ({time.least * 1e3:.3f}) ms {ratio:6.2f} x {shown}"
                f"  start {worker.start_seconds:.2f} s  {about}"
            )
            self._write(
                {"peer": peer, "thread_limit": threads, "threads": worker.threads, "version": worker.version}
                | {"detail": worker.detail, "read": read, "tokens": length, "beams": beams}
                | time.milliseconds()
                | {"same_tokens": same, "same_as": exact}
            )

    def table(self, threads: int, inputs: list[Input], results: list[Result]) -> None:
        """One line a runtime. With many texts, the sum of their medians."""
        groups = [(item.name, [item.name]) for item in inputs]
        if len(inputs) > MOST_TEXTS:
            groups = [(f"all {len(inputs)} texts", [item.name for item in inputs])]
        header = ["runtime"]
        for name, _ in groups:
            header += [f"{name}: ids to logits, ms", "x", "text to label, ms", "x"]
        lines = [[*header, "mean |dlogit|", "accuracy", "start, ms", "MB", "threads", "version"]]
        first = next((result for result in results if result.peer == FIRST), None)
        for result in results:
            line = [result.peer]
            for _, names in groups:
                for form in ("ids", "text"):
                    time = _total(result, names, form)
                    ratio = f"{time.median / _total(first, names, form).median:.2f}" if first else "-"
                    line += [f"{time.median * 1e3:.3f} ({time.least * 1e3:.3f})", ratio]
            worker = result.worker
            line.append("-" if result.error is None else f"{result.error:.2e}")
            line.append("-" if result.accuracy is None else f"{100 * result.accuracy:.2f} %")
            line += [f"{worker.start_seconds * 1e3:.0f}", f"{worker.megabytes:.0f}", str(worker.threads)]
            lines.append([*line, " ".join(filter(None, (worker.version, worker.detail)))])
            self._write_result(result)
        print(f"\nat most {threads} thread{'s' if threads > 1 else ''}; x: time relative to {FIRST}")
        widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
        for line in lines:
            cells = [cell.rjust(width) for cell, width in zip(line, widths, strict=True)]
            print("  ".join([line[0].ljust(widths[0]), *cells[1:-1], line[-1]]))
        print("start: a fresh process to its first answer; MB: the most it held then, Python included")

    def _write_result(self, result: Result) -> None:
        common = {
            "peer": result.peer,
            "thread_limit": result.threads,
            "threads": result.worker.threads,
            "version": result.worker.version,
            "detail": result.worker.detail,
        }
        for (name, form), times in result.times.items():
            self._write(common | {"input": name, "from": form} | times.milliseconds())
        self._write(
            common
            | {
                "mean_logit_error": result.error,
                "accuracy": result.accuracy,
                "start_milliseconds": round(result.worker.start_seconds * 1e3, 1),
                "megabytes": round(result.worker.megabytes, 1),
            }
        )

    def _write(self, values: dict[str, object]) -> None:
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                print(json.dumps(values), file=file)


def _total(result: Result, names: list[str], form: str) -> Times:
    times = [result.times[(name, form)] for name in names]
    return Times(sum(time.median for time in times), sum(time.least for time in times))
