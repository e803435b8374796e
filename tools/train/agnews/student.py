# SPDX-License-Identifier: Apache-2.0
"""The student: its shape, its start from the teacher's embeddings, and its folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common.checkpoint import replaced, write_half, write_json
from common.start import start_embeddings
from rows import LABELS
from safetensors.torch import load_file
from transformers import BertConfig, BertForSequenceClassification

TERMS = Path(__file__).resolve().parent / "checkpoint" / "LICENSE"  # agnews_small's are the same


@dataclass(frozen=True)
class Shape:
    """What a student is made of."""

    vocabulary: int
    positions: int
    layers: int
    width: int
    heads: int
    inner: int
    activation: str

    def config(self) -> BertConfig:
        """The configuration of this shape, without dropout: masked tokens keep it from overfitting."""
        return BertConfig(
            vocab_size=self.vocabulary,
            hidden_size=self.width,
            num_hidden_layers=self.layers,
            num_attention_heads=self.heads,
            intermediate_size=self.inner,
            hidden_act=self.activation,
            max_position_embeddings=self.positions,
            type_vocab_size=2,
            layer_norm_eps=1e-12,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
            pad_token_id=0,
            id2label=dict(enumerate(LABELS)),
            label2id={name: i for i, name in enumerate(LABELS)},
            problem_type="single_label_classification",
            attn_implementation="eager",  # the fused form's bfloat16 backward pass takes half of a step on a CPU
        )


def from_teacher(shape: Shape, teacher_folder: Path, teacher_ids: list[int]) -> BertForSequenceClassification:
    """A new student whose embeddings are the teacher's on their strongest directions, as many as it is wide."""
    model = BertForSequenceClassification(shape.config())
    weights = load_file(teacher_folder / "model.safetensors")
    start_embeddings(model.bert.embeddings, weights, "bert.embeddings.", teacher_ids)
    return model


def save(
    model: BertForSequenceClassification,
    tokenizer: dict[str, Any],
    tokenizer_config: dict[str, Any],
    folder: Path,
) -> None:
    """Writes the folder beside its place, then puts it there."""
    settings = model.config.to_dict()
    settings["architectures"] = ["BertForSequenceClassification"]
    settings["dtype"] = "float16"
    settings["position_embedding_type"] = "absolute"
    settings.pop("_name_or_path", None)
    with replaced(folder, TERMS) as beside:
        write_half(beside / "model.safetensors", model.state_dict())
        write_json(beside / "config.json", settings, sort_keys=True)
        write_json(beside / "tokenizer.json", tokenizer)
        write_json(beside / "tokenizer_config.json", tokenizer_config, sort_keys=True)
