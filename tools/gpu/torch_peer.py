# SPDX-License-Identifier: Apache-2.0
"""A program of its own, run by the Python that has PyTorch: BERT-base in bf16 with fused attention, eager and as a CUDA
graph, from ids in page-locked memory to the first row in page-locked memory. Prints one JSON object a line."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

SHAPES = [(1, 44), (1, 128), (1, 221), (64, 44), (64, 128)]  # texts, tokens
RUNS = 100


def main() -> None:
    try:
        import torch
        import transformers
    except ImportError as error:
        print(json.dumps({"skipped": str(error)}))
        return
    if not torch.cuda.is_available():
        print(json.dumps({"skipped": "this PyTorch sees no GPU"}))
        return
    config = transformers.BertConfig(attn_implementation="sdpa")
    model = transformers.BertModel(config).eval().to("cuda", torch.bfloat16)
    versions = f"PyTorch {torch.__version__}, transformers {transformers.__version__}"
    passes = [forward_of(torch, model, config, *shape) for shape in SHAPES]
    with torch.inference_mode():
        eager = [median_of(torch, forward) for forward in passes]
        graphs = replayed(torch, passes)
    for (texts, tokens), eager_us, graph_us in zip(SHAPES, eager, graphs, strict=True):
        row = {"texts": texts, "tokens": tokens, "eager_us": eager_us, "graph_us": graph_us, "versions": versions}
        print(json.dumps(row))


def forward_of(torch: Any, model: Any, config: Any, texts: int, tokens: int) -> Callable[[], None]:
    ids = torch.randint(1000, config.vocab_size, (texts, tokens)).pin_memory()
    on_device = ids.to("cuda")
    answer = torch.empty((texts, config.hidden_size), dtype=torch.bfloat16).pin_memory()

    def forward() -> None:
        on_device.copy_(ids, non_blocking=True)
        answer.copy_(model(input_ids=on_device).pooler_output, non_blocking=True)

    return forward


def replayed(torch: Any, passes: Sequence[Callable[[], None]]) -> list[float | None]:
    """Of each pass as a CUDA graph; none from the first that cannot be recorded, which may leave CUDA unusable."""
    times: list[float | None] = [None] * len(passes)
    for index, forward in enumerate(passes):
        try:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                forward()
            times[index] = median_of(torch, graph.replay)
        except RuntimeError:
            break
    return times


def median_of(torch: Any, call: Callable[[], None]) -> float:
    """Microseconds of a call and of the wait for its answer."""
    times = []
    for _ in range(RUNS + 10):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        call()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    return statistics.median(times[10:]) * 1e6


if __name__ == "__main__":
    main()
