# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime with all graph optimizations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnxruntime

from .inputs import open_tokenizer
from .setup import Setup


class OnnxRuntime:
    def __init__(self, setup: Setup) -> None:
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.intra_op_num_threads = setup.threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(str(setup.model), options, providers=["CPUExecutionProvider"])
        self._tokenizer = open_tokenizer(setup.checkpoint, setup.max_tokens)
        self.version = onnxruntime.__version__
        self.detail = "dynamic, per channel" if "int8" in setup.peer else ""
        self.threads = setup.threads
        self.batches = (1, 4, 16, 64)

    def call(self, ids: list[int]) -> Callable[[], list[float]]:
        inputs, run = {"input_ids": np.array([ids], np.int64)}, self._session.run

        def run_once() -> list[float]:
            return run(None, inputs)[0][0].tolist()

        return run_once

    def answer(self, text: str) -> list[float]:
        return self.call(self._tokenizer.encode(text).ids)()

    def batch(self, texts: list[str], size: int) -> Callable[[], list[list[float]]]:
        """At most `size` texts together, all of one length: nothing is padded, and nothing needs a mask."""
        run, encode = self._session.run, self._tokenizer.encode_batch_fast

        def run_once() -> list[list[float]]:
            ids = [encoding.ids for encoding in encode(texts)]
            by_length: dict[int, list[int]] = {}
            for index, text in enumerate(ids):
                by_length.setdefault(len(text), []).append(index)
            outputs: list[list[float]] = [[]] * len(texts)
            for indices in by_length.values():
                for begin in range(0, len(indices), size):
                    together = indices[begin : begin + size]
                    logits = run(None, {"input_ids": np.array([ids[index] for index in together], np.int64)})[0]
                    for index, row in zip(together, logits.tolist(), strict=True):
                        outputs[index] = row
            return outputs

        return run_once
