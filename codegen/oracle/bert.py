# SPDX-License-Identifier: Apache-2.0
"""What a checkpoint means: BertForSequenceClassification, or the encoder, pooling and normalization of a
sentence-transformers folder, in float64, read by Hugging Face's names.

An anchor: on purpose it shares nothing with the generator, neither loading nor front-end nor graph, only the activation
functions with the other oracle. It trusts its input: the folder has passed the generator's checks before.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .functions import F64Array, gelu, gelu_tanh, quick_gelu, silu


class Reference:
    """One checkpoint; takes 8 bytes of memory per parameter of the layers. With `kept_ids`, token id i is entry
    kept_ids[i] of the checkpoint's vocabulary."""

    def __init__(self, folder: str | os.PathLike[str], kept_ids: Sequence[int] | None = None) -> None:
        folder = Path(folder)
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        self._tensors = _read_weights(folder)
        self._heads: int = config["num_attention_heads"]
        self._layers: int = config["num_hidden_layers"]
        self._epsilon: float = config.get("layer_norm_eps", 1e-12)
        self._activation = ACTIVATIONS[config.get("hidden_act", "gelu")]
        self._entry_of = None if kept_ids is None else np.asarray(kept_ids, np.int64)
        self._prefix = "bert." if any(name.startswith("bert.") for name in self._tensors) else ""
        self._pooling, self._normalize = _read_modules(folder)
        self._float64: dict[str, F64Array] = {}

    def output(self, ids: Sequence[int], segments: Sequence[int]) -> F64Array:
        """Logits, values or the embedding of the token ids and segments of one text, special tokens included."""
        x = self._encode(ids, segments)
        if self._pooling is None:
            pooled = np.tanh(self._dense(x[:1], f"{self._prefix}pooler.dense"))
            return self._dense(pooled, "classifier")[0]
        pooled = POOLINGS[self._pooling](x)
        return pooled / max(float(np.sqrt((pooled**2).sum())), 1e-12) if self._normalize else pooled

    def _encode(self, ids: Sequence[int], segments: Sequence[int]) -> F64Array:
        entries = np.asarray(ids, np.int64) if self._entry_of is None else self._entry_of[np.asarray(ids, np.int64)]
        x = self._embed(entries, np.asarray(segments, np.int64))
        for i in range(self._layers):
            layer = f"{self._prefix}encoder.layer.{i}"
            attended = self._attend(x, f"{layer}.attention.self")
            x = self._norm(x + self._dense(attended, f"{layer}.attention.output.dense"), f"{layer}.attention.output")
            inner = self._activation(self._dense(x, f"{layer}.intermediate.dense"))
            x = self._norm(x + self._dense(inner, f"{layer}.output.dense"), f"{layer}.output")
        return x

    def _embed(self, ids: NDArray[np.int64], segments: NDArray[np.int64]) -> F64Array:
        def rows(name: str, which: NDArray[np.int64]) -> F64Array:
            return self._tensors[f"{self._prefix}embeddings.{name}_embeddings.weight"][which].astype(np.float64)

        sums = rows("word", ids) + rows("token_type", segments) + rows("position", np.arange(len(ids)))
        return self._norm(sums, f"{self._prefix}embeddings")

    def _attend(self, x: F64Array, name: str) -> F64Array:
        query, key, value = (
            self._dense(x, f"{name}.{part}").reshape(len(x), self._heads, -1).swapaxes(0, 1)
            for part in ("query", "key", "value")
        )
        scores = query @ key.swapaxes(1, 2) / math.sqrt(query.shape[-1])
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        return (weights @ value).swapaxes(0, 1).reshape(x.shape)

    def _dense(self, x: F64Array, name: str) -> F64Array:
        return x @ self._tensor(f"{name}.weight").T + self._tensor(f"{name}.bias")

    def _norm(self, x: F64Array, name: str) -> F64Array:
        centred = x - x.mean(axis=-1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + self._epsilon)
        gamma = self._tensor(f"{name}.LayerNorm.weight", f"{name}.LayerNorm.gamma")
        beta = self._tensor(f"{name}.LayerNorm.bias", f"{name}.LayerNorm.beta")
        return centred / deviation * gamma + beta

    def _tensor(self, name: str, legacy: str | None = None) -> F64Array:
        """A weight in float64, converted once; older checkpoints call a norm's weights gamma and beta."""
        if name not in self._float64:
            stored = legacy if legacy in self._tensors else name
            self._float64[name] = self._tensors[stored].astype(np.float64)
        return self._float64[name]


def _read_modules(folder: Path) -> tuple[str | None, bool]:
    """The pooling of a sentence-transformers folder, None where there is none, and whether it normalizes."""
    if not (folder / "modules.json").exists():
        return None, False
    modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
    path = next(module["path"] for module in modules if module["type"].endswith("Pooling"))
    config = json.loads((folder / path / "config.json").read_text(encoding="utf-8"))
    named = config.get("pooling_mode", [])
    listed = named if isinstance(named, list) else [named]
    chosen = [name for name in POOLINGS if name in listed or config.get(_FLAGS[name])]
    return (*chosen, "mean")[0], any(module["type"].endswith("Normalize") for module in modules)


# By sentence-transformers' name; each from [tokens, width] to [width].
POOLINGS: dict[str, Callable[[F64Array], F64Array]] = {
    "cls": lambda x: x[0],
    "max": lambda x: x.max(axis=0),
    "mean": lambda x: x.mean(axis=0),
    "mean_sqrt_len_tokens": lambda x: x.sum(axis=0) / math.sqrt(len(x)),
}
_FLAGS = {
    "cls": "pooling_mode_cls_token",
    "max": "pooling_mode_max_tokens",
    "mean": "pooling_mode_mean_tokens",
    "mean_sqrt_len_tokens": "pooling_mode_mean_sqrt_len_tokens",
}


def _read_weights(folder: Path) -> dict[str, np.ndarray]:
    """The tensors of model.safetensors, or of the files that an index names instead."""
    index = folder / "model.safetensors.index.json"
    if not index.exists():
        return _read_safetensors(folder / "model.safetensors")
    tensors: dict[str, np.ndarray] = {}
    for name in set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()):
        tensors |= _read_safetensors(folder / name)
    return tensors


def _read_safetensors(path: Path) -> dict[str, np.ndarray]:
    """Name -> array, mapped into memory and read when used. 8 bytes header length, JSON header, data."""
    data = np.memmap(path, np.uint8, mode="r")
    begin = 8 + int.from_bytes(data[:8].tobytes(), "little")
    tensors = {}
    for name, entry in json.loads(data[8:begin].tobytes()).items():
        if name != "__metadata__" and entry["dtype"] in _DTYPES:
            first, last = (begin + offset for offset in entry["data_offsets"])
            values = data[first:last].view(_DTYPES[entry["dtype"]]).reshape(entry["shape"])
            if entry["dtype"] == "BF16":
                values = (values.astype("<u4") << 16).view("<f4")
            tensors[name] = values
    return tensors


_DTYPES: dict[str, np.dtype[Any]] = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "BF16": np.dtype("<u2")}


def _gelu_fast(x: F64Array) -> F64Array:
    """gelu_tanh with the constant as transformers writes it."""
    return 0.5 * x * (1 + np.tanh(0.7978845608 * x * (1 + 0.044715 * x * x)))


ACTIVATIONS: dict[str, Callable[[F64Array], F64Array]] = {
    "gelu": gelu,
    "gelu_new": gelu_tanh,
    "gelu_fast": _gelu_fast,
    "gelu_pytorch_tanh": gelu_tanh,
    "quick_gelu": quick_gelu,
    "relu": lambda x: np.maximum(x, 0),
    "silu": silu,
    "swish": silu,
    "tanh": np.tanh,
}
