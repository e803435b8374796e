# SPDX-License-Identifier: Apache-2.0
"""A BERT classifier's checkpoint as the graph of another runtime, tensor by tensor, so that no exporter and no PyTorch
is needed. Texts of one length, no padding and no mask: the fastest form for the runtimes that read it. Segment 0 is
added to the positions beforehand.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from safetensors.numpy import load_file

ARCHITECTURE = "BertForSequenceClassification"

Value = TypeVar("Value")  # how a format names a tensor


class NotWritten(Exception):
    """A checkpoint that these writers do not know."""


class BertWriter(ABC, Generic[Value]):
    """The network, of the operations that a format has. Tensors of texts are [texts, tokens, width]."""

    def __init__(self, checkpoint: Path) -> None:
        config: dict[str, Any] = json.loads((checkpoint / "config.json").read_text(encoding="utf-8"))
        if config.get("architectures") != [ARCHITECTURE] or config.get("hidden_act", "gelu") != "gelu":
            raise NotWritten(f"the writers of other runtimes' files know {ARCHITECTURE} with gelu only")
        self._tensors: dict[str, np.ndarray] = {}
        for file in sorted(checkpoint.glob("*.safetensors")):
            self._tensors |= load_file(file)
        self._layers: int = config["num_hidden_layers"]
        self.heads: int = config["num_attention_heads"]
        self.width: int = config["hidden_size"]
        self.epsilon: float = config.get("layer_norm_eps", 1e-12)
        self.labels: int = self._tensors["classifier.bias"].shape[0]
        self.score_scale = 1 / math.sqrt(self.width / self.heads)

    def logits(self) -> Value:
        prefix = "bert.embeddings."
        positions = self._float(f"{prefix}position_embeddings.weight")
        positions = positions + self._float(f"{prefix}token_type_embeddings.weight")[0]
        embedded = self.embedding(self._float(f"{prefix}word_embeddings.weight"), positions)
        hidden = self._norm(embedded, f"{prefix}LayerNorm")
        for index in range(self._layers):
            hidden = self._layer(hidden, f"bert.encoder.layer.{index}")
        pooled = self.tanh(self._linear(self.first_rows(hidden), "bert.pooler.dense"))
        return self._linear(pooled, "classifier")

    def _layer(self, hidden: Value, name: str) -> Value:
        query, key, value = (
            self._linear(hidden, f"{name}.attention.self.{part}") for part in ("query", "key", "value")
        )
        attended = self._linear(self.attention(query, key, value), f"{name}.attention.output.dense")
        hidden = self._norm(self.add(attended, hidden), f"{name}.attention.output.LayerNorm")
        inner = self.gelu(self._linear(hidden, f"{name}.intermediate.dense"))
        inner = self._linear(inner, f"{name}.output.dense")
        return self._norm(self.add(inner, hidden), f"{name}.output.LayerNorm")

    def _linear(self, x: Value, name: str) -> Value:
        return self.linear(x, self._float(f"{name}.weight"), self._float(f"{name}.bias"))

    def _norm(self, x: Value, name: str) -> Value:
        gamma, beta = (
            self._float(f"{name}.{new if f'{name}.{new}' in self._tensors else old}")
            for new, old in (("weight", "gamma"), ("bias", "beta"))
        )
        return self.norm(x, gamma, beta)

    def _float(self, name: str) -> np.ndarray:
        return self._tensors[name].astype(np.float32)

    @abstractmethod
    def embedding(self, words: np.ndarray, positions: np.ndarray) -> Value:
        """Rows of words [vocabulary, width] by the ids that are the graph's input, and the first of positions."""

    @abstractmethod
    def linear(self, x: Value, weight: np.ndarray, bias: np.ndarray) -> Value:
        """weight [outputs, inputs]."""

    @abstractmethod
    def norm(self, x: Value, gamma: np.ndarray, beta: np.ndarray) -> Value: ...

    @abstractmethod
    def attention(self, query: Value, key: Value, value: Value) -> Value: ...

    @abstractmethod
    def gelu(self, x: Value) -> Value:
        """The exact one."""

    @abstractmethod
    def tanh(self, x: Value) -> Value: ...

    @abstractmethod
    def add(self, x: Value, y: Value) -> Value: ...

    @abstractmethod
    def first_rows(self, x: Value) -> Value:
        """Of each text."""
