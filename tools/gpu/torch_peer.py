# SPDX-License-Identifier: Apache-2.0
"""A program of its own, run by the Python that has PyTorch: BERT-base in bf16 with fused attention, eager and as a CUDA
graph, from ids in page-locked memory to the first row in page-locked memory. Prints one JSON object a line."""

from __future__ import annotations

import json
import statistics
import time

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
    for texts, tokens in SHAPES:
        ids = torch.randint(1000, config.vocab_size, (texts, tokens)).pin_memory()
        on_device = ids.to("cuda")
        answer = torch.empty((texts, config.hidden_size), dtype=torch.bfloat16).pin_memory()

        def forward(on_device=on_device, ids=ids, answer=answer) -> None:  # noqa: ANN001
            on_device.copy_(ids, non_blocking=True)
            answer.copy_(model(input_ids=on_device).pooler_output, non_blocking=True)

        with torch.inference_mode():
            eager = median_of(forward, torch)
            try:
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph):
                    forward()
                replayed = median_of(graph.replay, torch)
            except RuntimeError:
                replayed = None  # this version cannot record the model
        print(
            json.dumps(
                {"texts": texts, "tokens": tokens, "eager_us": eager, "graph_us": replayed, "versions": versions}
            )
        )


def median_of(call, torch) -> float:  # noqa: ANN001
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
