# SPDX-License-Identifier: Apache-2.0
"""LiteRT (TensorFlow Lite) with its XNNPACK delegate."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version

import numpy as np
from ai_edge_litert.interpreter import Interpreter

from .inputs import open_tokenizer
from .setup import Setup


class LiteRt:
    def __init__(self, setup: Setup) -> None:
        self._interpreter = Interpreter(str(setup.model), num_threads=setup.threads)
        self._ids, self._positions = (entry["index"] for entry in self._interpreter.get_input_details())
        (self._logits,) = (entry["index"] for entry in self._interpreter.get_output_details())
        self._tokens = 0
        self._tokenizer = open_tokenizer(setup.checkpoint, setup.max_tokens)
        self.version = version("ai-edge-litert")
        self.detail = "dynamic, per channel" if setup.peer.endswith("int8") else ""
        self.threads = setup.threads

    def call(self, ids: list[int]) -> Callable[[], list[float]]:
        """Another length than the one before is set, and planned for, outside the call."""
        interpreter = self._interpreter
        if len(ids) != self._tokens:
            self._tokens = len(ids)
            for index in (self._ids, self._positions):
                interpreter.resize_tensor_input(index, [1, len(ids)])
            interpreter.allocate_tensors()
            interpreter.set_tensor(self._positions, np.arange(len(ids), dtype=np.int32)[None])
        inputs = np.array([ids], np.int32)

        def run_once() -> list[float]:
            interpreter.set_tensor(self._ids, inputs)
            interpreter.invoke()
            return interpreter.get_tensor(self._logits).ravel().tolist()

        return run_once

    def answer(self, text: str) -> list[float]:
        return self.call(self._tokenizer.encode(text).ids)()
