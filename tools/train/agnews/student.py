# SPDX-License-Identifier: Apache-2.0
"""The student: its shape, its start from the teacher's embeddings, and its folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from rows import LABELS
from safetensors.torch import load_file, save_file
from transformers import BertConfig, BertForSequenceClassification

VOCABULARY = 9_000
MAX_POSITIONS = 256


def config() -> BertConfig:
    """3 layers of width 192: 1.33 M weights in the layers, 1.78 M in the embeddings."""
    return BertConfig(
        vocab_size=VOCABULARY,
        hidden_size=192,
        num_hidden_layers=3,
        num_attention_heads=3,
        intermediate_size=768,
        hidden_act="gelu",
        max_position_embeddings=MAX_POSITIONS,
        type_vocab_size=2,
        layer_norm_eps=1e-12,
        hidden_dropout_prob=0.0,  # masked tokens keep it from overfitting
        attention_probs_dropout_prob=0.0,
        pad_token_id=0,
        id2label=dict(enumerate(LABELS)),
        label2id={name: i for i, name in enumerate(LABELS)},
        problem_type="single_label_classification",
    )


def from_teacher(teacher_folder: Path, teacher_ids: list[int]) -> BertForSequenceClassification:
    """A new student whose embeddings are the teacher's on their 192 strongest directions."""
    model = BertForSequenceClassification(config())
    weights = load_file(teacher_folder / "model.safetensors")
    prefix = "bert.embeddings."
    words = weights[f"{prefix}word_embeddings.weight"].float()[teacher_ids]
    directions = torch.linalg.svd(words, full_matrices=False).Vh[: model.config.hidden_size].T
    embeddings = model.bert.embeddings
    positions = weights[f"{prefix}position_embeddings.weight"].float()[:MAX_POSITIONS]
    segments = weights[f"{prefix}token_type_embeddings.weight"].float()
    with torch.no_grad():
        embeddings.word_embeddings.weight.copy_(words @ directions)
        embeddings.position_embeddings.weight.copy_(positions @ directions)
        embeddings.token_type_embeddings.weight.copy_(segments @ directions)
    return model


def save(
    model: BertForSequenceClassification,
    tokenizer: dict[str, Any],
    tokenizer_config: dict[str, Any],
    folder: Path,
) -> None:
    """Writes the folder beside its place, then puts it there."""
    beside = folder.with_name(folder.name + ".new")
    beside.mkdir(parents=True)
    half = {name: value.half().contiguous() for name, value in model.state_dict().items()}
    save_file(half, beside / "model.safetensors", metadata={"format": "pt"})
    (beside / "model.safetensors").chmod(0o644)
    settings = model.config.to_dict()
    settings["architectures"] = ["BertForSequenceClassification"]
    settings["dtype"] = "float16"
    settings["position_embedding_type"] = "absolute"
    settings.pop("_name_or_path", None)
    for name, content in (
        ("config", settings),
        ("tokenizer", tokenizer),
        ("tokenizer_config", tokenizer_config),
    ):
        text = json.dumps(content, ensure_ascii=False, indent=2, sort_keys=name != "tokenizer")
        (beside / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    old = folder.with_name(folder.name + ".old")
    if folder.exists():
        folder.rename(old)
    beside.rename(folder)
    if old.exists():
        for file in old.iterdir():
            file.unlink()
        old.rmdir()
