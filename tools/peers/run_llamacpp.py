# SPDX-License-Identifier: Apache-2.0
"""llama.cpp through its Python package, whose C functions are called as they are: one token a call."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable

import llama_cpp
import numpy as np

from .setup import Setup


class LlamaCpp:
    def __init__(self, setup: Setup) -> None:
        config = json.loads((setup.checkpoint / "config.json").read_text(encoding="utf-8"))
        self._quiet = llama_cpp.llama_log_callback(lambda *_: None)
        llama_cpp.llama_log_set(self._quiet, ctypes.c_void_p(0))
        llama_cpp.llama_backend_init()
        self._model = llama_cpp.llama_model_load_from_file(
            str(setup.model).encode(), llama_cpp.llama_model_default_params()
        )
        settings = llama_cpp.llama_context_default_params()
        settings.n_ctx = config["n_positions"]
        settings.n_threads = settings.n_threads_batch = setup.threads
        self._context = llama_cpp.llama_init_from_model(self._model, settings)
        if not self._context:
            raise RuntimeError("llama.cpp refuses the model")
        self._vocabulary, self._end = config["vocab_size"], config["eos_token_id"]
        self.version = llama_cpp.__version__
        self.detail = "llama-cpp-python"
        self.threads = setup.threads

    def write(self, ids: list[int], beams: int, tokens: int) -> Callable[[], list[int]]:
        if beams != 1:
            raise RuntimeError("it has no beams")
        context, vocabulary, end = self._context, self._vocabulary, self._end
        text = (llama_cpp.llama_token * len(ids))(*ids)
        one = (llama_cpp.llama_token * 1)()

        def logits_behind(array: ctypes.Array[ctypes.c_int32], count: int) -> np.ndarray:
            if llama_cpp.llama_decode(context, llama_cpp.llama_batch_get_one(array, count)) != 0:
                raise RuntimeError("llama_decode failed")
            return np.ctypeslib.as_array(llama_cpp.llama_get_logits_ith(context, -1), (vocabulary,))

        def run() -> list[int]:
            llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(context), False)
            logits = logits_behind(text, len(ids))
            written = []
            while True:
                logits[end] = -np.inf
                written.append(int(np.argmax(logits)))
                if len(written) == tokens:
                    return written
                one[0] = written[-1]
                logits = logits_behind(one, 1)

        return run
