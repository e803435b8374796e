# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime with all graph optimizations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnxruntime

from .inputs import open_tokenizer
from .runtimes import Setup


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

    def call(self, ids: list[int]) -> Callable[[], list[float]]:
        inputs, run = {"input_ids": np.array([ids], np.int64)}, self._session.run

        def run_once() -> list[float]:
            return run(None, inputs)[0][0].tolist()

        return run_once

    def answer(self, text: str) -> list[float]:
        return self.call(self._tokenizer.encode(text).ids)()
