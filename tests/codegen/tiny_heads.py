# SPDX-License-Identifier: Apache-2.0
"""Folders of heads on the one encoder of a tiny checkpoint, of every kind."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from tiny_checkpoint import (
    DEFAULT_VOCAB,
    bert_shapes,
    random_tensors,
    tokenizer_config,
    tokenizer_json,
    write_json,
    write_safetensors,
    write_tiny_checkpoint,
)

WIDTH, POSITIONS = 24, 32
TAGS = ("O", "B-animal", "I-animal", "B-place")
_SHAPE: dict[str, Any] = {
    "hidden": WIDTH,
    "layers": 2,
    "intermediate": 37,
    "max_positions": POSITIONS,
    "type_vocab": 2,
}
_HEAD = ("bert.pooler", "classifier")
_VOCABULARY = len(DEFAULT_VOCAB)
_PREDICTIONS = {
    "cls.predictions.bias": (_VOCABULARY,),
    "cls.predictions.transform.dense.weight": (WIDTH, WIDTH),
    "cls.predictions.transform.dense.bias": (WIDTH,),
    "cls.predictions.transform.LayerNorm.weight": (WIDTH,),
    "cls.predictions.transform.LayerNorm.bias": (WIDTH,),
}
_POOLER = {"bert.pooler.dense.weight": (WIDTH, WIDTH), "bert.pooler.dense.bias": (WIDTH,)}
_NEXT = {"cls.seq_relationship.weight": (2, WIDTH), "cls.seq_relationship.bias": (2,)}
_ANSWER = {"qa_outputs.weight": (2, WIDTH), "qa_outputs.bias": (2,)}


def _linear(outputs: int) -> dict[str, tuple[int, ...]]:
    return {"classifier.weight": (outputs, WIDTH), "classifier.bias": (outputs,)}


# By kind: the class, the head's tensors, and how many labels.
KINDS: dict[str, tuple[str, Mapping[str, tuple[int, ...]], int]] = {
    "single": ("BertForSequenceClassification", _POOLER | _linear(3), 3),
    "multi": ("BertForSequenceClassification", _POOLER | _linear(4), 4),
    "values": ("BertForSequenceClassification", _POOLER | _linear(2), 2),
    "tags": ("BertForTokenClassification", _linear(len(TAGS)), len(TAGS)),
    "masks": ("BertForMaskedLM", _PREDICTIONS, 2),
    "next": ("BertForNextSentencePrediction", _POOLER | _NEXT, 2),
    "answers": ("BertForQuestionAnswering", _ANSWER, 2),
    "choices": ("BertForMultipleChoice", _POOLER | _linear(1), 2),
    "both": ("BertForPreTraining", _POOLER | _PREDICTIONS | _NEXT, 2),
    "bare": ("BertModel", _POOLER, 2),
}
_PROBLEMS = {"multi": "multi_label_classification", "values": "regression"}


def write_encoder(folder: Path) -> Path:
    """An encoder alone."""
    return write_head(folder, "bare")


def write_head(folder: Path, kind: str, seed: int = 1) -> Path:
    """The folder of a head of this kind on the same encoder; its own weights are by `seed`."""
    name, shapes, labels = KINDS[kind]
    write_tiny_checkpoint(folder, heads=2, labels=labels, problem_type=_PROBLEMS.get(kind), **_SHAPE)
    path = folder / "config.json"
    config = json.loads(path.read_text()) | {"architectures": [name]}
    if kind == "tags":
        config |= {
            "id2label": {str(i): tag for i, tag in enumerate(TAGS)},
            "label2id": {tag: i for i, tag in enumerate(TAGS)},
        }
    write_json(path, config)
    whole = random_tensors(bert_shapes(labels=1, vocab_size=_VOCABULARY, **_SHAPE), seed=0)
    encoder = {name: values for name, values in whole.items() if not name.startswith(_HEAD)}
    own = random_tensors(shapes, seed + sum(map(ord, kind)))
    write_safetensors(folder / "model.safetensors", encoder | own)
    return folder


def write_gru(folder: Path, seed: int = 1) -> Path:
    """A GRU on that encoder."""
    write_encoder(folder / "encoder")
    width = 5
    shapes = {
        name: shape
        for end in ("l0", "l0_reverse")
        for name, shape in {
            f"gru.weight_ih_{end}": (3 * width, WIDTH),
            f"gru.weight_hh_{end}": (3 * width, width),
            f"gru.bias_ih_{end}": (3 * width,),
            f"gru.bias_hh_{end}": (3 * width,),
        }.items()
    } | {"linear.weight": (2, 2 * width), "linear.bias": (2,)}
    write_safetensors(folder / "head.safetensors", random_tensors(shapes, seed))
    settings = {"type": "gru", "labels": ["no", "yes"], "activation": "softmax", "hidden_size": width}
    write_json(folder / "head.json", settings | {"num_layers": 1, "bidirectional": True})
    return folder


def with_tensor(folder: Path, name: str, change: float = 1e-3) -> Path:
    """The folder with another first value of one of its tensors."""
    from tiny_checkpoint import read_raw_safetensors, write_raw_safetensors

    header, data = read_raw_safetensors(folder / "model.safetensors")
    begin = header[name]["data_offsets"][0]
    value = np.frombuffer(data, "<f4", 1, begin) + np.float32(change)
    write_raw_safetensors(folder / "model.safetensors", header, data[:begin] + value.tobytes() + data[begin + 4 :])
    return folder


def with_vocabulary(folder: Path, *, lowercase: bool) -> Path:
    """The folder with a tokenizer that leaves the case as it is, or not."""
    write_json(folder / "tokenizer.json", tokenizer_json(DEFAULT_VOCAB, lowercase=lowercase))
    write_json(folder / "tokenizer_config.json", tokenizer_config(lowercase=lowercase, max_length=POSITIONS))
    return folder
