# SPDX-License-Identifier: Apache-2.0
"""One runtime in a process of its own: reads requests, one JSON object a line, and answers in the same way.

A request says what to compute: "ids" or "text" for the logits; "texts", which are tokenized, or answered where there is
a "batch" size; "ids" and "beams" for so many "tokens" that follow. And how many "calls" of it to time, after one that
is not timed, gives the result, and brings back caches and threads.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .answering import answering, peak_megabytes
from .runtimes import load
from .setup import Setup


def call_of(runtime: Any, request: dict[str, Any]) -> Callable[[], object]:
    if "beams" in request:
        return runtime.write(request["ids"], request["beams"], request["tokens"])
    if "ids" in request:
        return runtime.call(request["ids"])
    if "batch" in request:
        return runtime.batch(request["texts"], request["batch"])
    if "texts" in request:
        return runtime.tokenize(request["texts"])
    return lambda: runtime.answer(request["text"])


def main() -> None:
    reply = answering()
    spec = json.loads(sys.argv[1])
    model, checkpoint = Path(spec["model"]), Path(spec["checkpoint"])
    rest = (spec["max_tokens"], spec["writes"], spec["kernel"])
    setup = Setup(spec["peer"], spec["threads"], model, checkpoint, *rest)
    try:
        runtime = load(setup)
        answer = call_of(runtime, spec["first"])()
    except Exception as error:
        reply(error=f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}")
        return
    reply(
        result=answer,
        megabytes=peak_megabytes(),
        version=runtime.version,
        detail=runtime.detail,
        threads=runtime.threads,
        batches=getattr(runtime, "batches", ()),
    )
    for line in sys.stdin:
        request = json.loads(line)
        call = call_of(runtime, request)
        result = call()
        seconds = []
        for _ in range(request["calls"]):
            begin = time.perf_counter()
            call()
            seconds.append(time.perf_counter() - begin)
        reply(result=result, seconds=seconds)


if __name__ == "__main__":
    main()
