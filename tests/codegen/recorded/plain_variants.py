# SPDX-License-Identifier: Apache-2.0
"""The encoder of the textbooks, by the module of tools/train/plain: each pooling, position, norm and activation."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import torch
from folder import config, read_model, write_model
from numpy.typing import NDArray
from outputs import Tokens, write_recorded
from random_weights import randomize
from tiny_checkpoint import write_json
from token_ids import NO_SEGMENTS, some_tokens
from transformer import Shape, TransformerEncoder
from vocabularies import vocabulary_size, write_tokenizer

FAMILY = "transformer_encoder"
SOURCE = f"TransformerEncoder of tools/train/plain/transformer.py, torch {torch.__version__.partition('+')[0]}"


def shape(hidden: int, heads: int, layers: int, intermediate: int, positions: int) -> dict[str, int]:
    """The sizes of a Shape."""
    return {
        "vocab_size": vocabulary_size(NO_SEGMENTS),
        "hidden_size": hidden,
        "num_heads": heads,
        "num_layers": layers,
        "intermediate_size": intermediate,
        "max_positions": positions,
    }


LEARNED = {"positions": "learned"}
PRE = {"norm": "pre"}
UNSCALED = {"scale_embedding": False}
NO_BIAS = {"bias": False}
VARIANTS: dict[str, Shape] = {
    "mean": Shape(**shape(20, 4, 2, 37, 20)),
    "max": Shape(**shape(24, 3, 1, 29, 16), **LEARNED, **PRE, **UNSCALED, activation="gelu", pooling="max"),
    "first": Shape(**shape(28, 4, 1, 33, 18), **PRE, **UNSCALED, **NO_BIAS, activation="silu", pooling="first"),
    "last": Shape(**shape(22, 2, 2, 31, 15), **LEARNED, **NO_BIAS, activation="gelu_pytorch_tanh", pooling="last"),
    "ten_wide": Shape(**shape(10, 2, 3, 17, 12), **PRE, layer_norm_eps=1e-6, pooling="last"),
    "odd_width": Shape(**shape(21, 3, 1, 13, 14), **UNSCALED, activation="quick_gelu", pooling="max"),
    "learned_scaled": Shape(**shape(20, 5, 1, 41, 24), **LEARNED, **PRE, **NO_BIAS, pooling="mean"),
    "one_head": Shape(**shape(20, 1, 1, 20, 10), **LEARNED, **UNSCALED, layer_norm_eps=1e-3, pooling="first"),
}
TASKS = {
    "max": {"problem_type": "multi_label_classification"},
    "learned_scaled": {"problem_type": "regression"},
}


def record(folder: Path, name: str, seed: int) -> None:
    """Writes the folder of one variant."""
    labels = [f"label {i}" for i in range(2 + seed % 3)]
    model = TransformerEncoder(VARIANTS[name], len(labels))
    randomize(model, seed)
    write_model(folder, model, labels)
    write_json(folder / "config.json", config(model.shape, labels) | TASKS.get(name, {}))
    limit = model.shape.max_positions
    write_tokenizer(folder, NO_SEGMENTS, limit)
    single, _ = read_model(folder)
    double = copy.deepcopy(single).double()

    def run(module: TransformerEncoder, text: Tokens) -> NDArray[np.floating]:
        ids = torch.tensor([text.ids])
        with torch.inference_mode():
            return module(ids, torch.ones_like(ids).bool())[0].numpy()

    texts = some_tokens(seed, limit, NO_SEGMENTS)
    write_recorded(folder, SOURCE, texts, lambda text: run(single, text), lambda text: run(double, text))
