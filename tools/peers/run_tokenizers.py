# SPDX-License-Identifier: Apache-2.0
"""Hugging Face's tokenizers without a model: one text at a time, or as a batch."""

from __future__ import annotations

from collections.abc import Callable

import tokenizers

from .inputs import open_tokenizer
from .setup import Setup


class Tokenizers:
    def __init__(self, setup: Setup) -> None:
        self._tokenizer = open_tokenizer(setup.checkpoint, setup.max_tokens)
        self._batch = setup.peer.endswith("batch")
        self.version = tokenizers.__version__
        self.detail = "encode_batch_fast" if self._batch else "encode"
        self.threads = setup.threads

    def answer(self, text: str) -> list[float]:
        """Makes a tokenizer start up: the ids."""
        return [float(token) for token in self._tokenizer.encode(text).ids]

    def tokenize(self, texts: list[str]) -> Callable[[], int]:
        encode, batch = self._tokenizer.encode, self._tokenizer.encode_batch_fast
        if self._batch:
            return lambda: sum(len(encoding.ids) for encoding in batch(texts))
        return lambda: sum(len(encode(text).ids) for text in texts)
