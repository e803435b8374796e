# SPDX-License-Identifier: Apache-2.0
"""Hugging Face transformers on PyTorch, eager, with its fused attention."""

from __future__ import annotations

from collections.abc import Callable

import torch
import transformers

from .inputs import open_tokenizer
from .setup import Setup


class TorchWriter:
    def __init__(self, setup: Setup) -> None:
        torch.set_num_threads(setup.threads)
        torch.set_grad_enabled(False)
        self._model = transformers.AutoModelForSeq2SeqLM.from_pretrained(
            setup.checkpoint, dtype=torch.float32, local_files_only=True
        ).eval()
        self.version = torch.__version__
        self.detail = f"transformers {transformers.__version__}"
        self.threads = setup.threads

    def write(self, ids: list[int], beams: int, tokens: int) -> Callable[[], list[int]]:
        inputs, model = torch.tensor([ids]), self._model
        limits = {"max_new_tokens": tokens, "min_new_tokens": tokens, "num_beams": beams, "do_sample": False}

        def run() -> list[int]:
            with torch.inference_mode():
                return model.generate(input_ids=inputs, **limits)[0, 1:].tolist()

        return run


class Torch:
    def __init__(self, setup: Setup) -> None:
        torch.set_num_threads(setup.threads)
        torch.set_grad_enabled(False)
        dtype = torch.bfloat16 if setup.peer.endswith("bf16") else torch.float32
        model = transformers.AutoModelForSequenceClassification.from_pretrained(
            setup.checkpoint, dtype=dtype, attn_implementation="sdpa", local_files_only=True
        ).eval()
        if setup.peer.endswith("int8"):
            model = torch.ao.quantization.quantize_dynamic(model, {torch.nn.Linear}, torch.qint8)
        self._model = model
        self._tokenizer = open_tokenizer(setup.checkpoint, setup.max_tokens)
        self.version = torch.__version__
        engine = f", dynamic, {torch.backends.quantized.engine}" if setup.peer.endswith("int8") else ""
        self.detail = f"transformers {transformers.__version__}{engine}"
        self.threads = setup.threads

    def call(self, ids: list[int]) -> Callable[[], list[float]]:
        inputs, model = torch.tensor([ids]), self._model

        def run() -> list[float]:
            with torch.inference_mode():
                return model(input_ids=inputs).logits[0].tolist()

        return run

    def answer(self, text: str) -> list[float]:
        return self.call(self._tokenizer.encode(text).ids)()
