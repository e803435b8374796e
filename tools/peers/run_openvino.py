# SPDX-License-Identifier: Apache-2.0
"""OpenVINO's CPU plugin, for latency. Its default would be bf16 where the CPU has it: the precision is always set."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import openvino

from .inputs import open_tokenizer
from .setup import Setup


class OpenVino:
    def __init__(self, setup: Setup) -> None:
        precision = "bf16" if setup.peer.endswith("bf16") else "f32"
        core = openvino.Core()
        if precision == "bf16" and "BF16" not in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES"):
            raise RuntimeError("this CPU has no bf16 instructions")
        settings = {
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_NUM_THREADS": setup.threads,
            "INFERENCE_PRECISION_HINT": precision,
        }
        self._request = core.compile_model(str(setup.model), "CPU", settings).create_infer_request()
        self._tokenizer = open_tokenizer(setup.checkpoint, setup.max_tokens)
        self.version = openvino.__version__.split("-")[0]
        self.detail = "NNCF" if setup.peer.endswith("int8") else ""
        self.threads = setup.threads

    def call(self, ids: list[int]) -> Callable[[], list[float]]:
        inputs, infer = {"input_ids": np.array([ids], np.int64)}, self._request.infer

        def run_once() -> list[float]:
            return infer(inputs)[0][0].tolist()

        return run_once

    def answer(self, text: str) -> list[float]:
        return self.call(self._tokenizer.encode(text).ids)()
