# SPDX-License-Identifier: Apache-2.0
"""The model to train: a BertForSequenceClassification with the weights of the checkpoint."""

from __future__ import annotations

import torch
from base import Base
from common.refusal import Refused
from targets import Labels
from transformers import BertConfig, BertForSequenceClassification

from codegen.load.safetensors import TensorFile

HEAD = ("classifier.weight", "classifier.bias")
POOLER = ("bert.pooler.dense.weight", "bert.pooler.dense.bias")


def build_model(base: Base, labels: Labels) -> tuple[BertForSequenceClassification, tuple[str, ...]]:
    """(the model, the names of the tensors that start at random)."""
    config = _config(base, labels)
    model = BertForSequenceClassification(config).float()
    fresh = _fresh(base, labels)
    tensors = base.checkpoint.tensors
    state = model.state_dict()
    with torch.no_grad():
        for name, value in state.items():
            if name not in fresh:
                value.copy_(torch.from_numpy(_taken(tensors, name, tuple(value.shape))))
    return model, fresh


def _config(base: Base, labels: Labels) -> BertConfig:
    try:
        return BertConfig.from_dict(base.config_with(labels))
    except (TypeError, ValueError) as error:
        raise Refused(f"config.json: transformers refuses it: {error}") from None


def _fresh(base: Base, labels: Labels) -> tuple[str, ...]:
    """The classifier unless it has these very labels, and a pooler that the checkpoint does not have."""
    same = base.labels == labels.names and base.checkpoint.config.problem_type in (
        None,
        labels.settings["problem_type"],
    )
    pooled = any(name.endswith("pooler.dense.weight") for name in base.checkpoint.tensors.names)
    return (() if same and labels.task != "regression" else HEAD) + (() if pooled else POOLER)


def _taken(tensors: TensorFile, name: str, shape: tuple[int, ...]) -> object:
    """A tensor by today's name, the name without `bert.` of a bare encoder, or the older one of a norm."""
    bare = name.removeprefix("bert.")
    name = bare if bare in tensors or _legacy(bare) in tensors else name
    return tensors.take(name, shape, legacy=_legacy(name)).values.copy()


def _legacy(name: str) -> str | None:
    if "LayerNorm" not in name:
        return None
    return name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")


def freeze(model: BertForSequenceClassification, what: str) -> None:
    """Keeps the weights of `what`: the embedding tables, or everything below the pooler."""
    frozen = {
        "nothing": (),
        "embeddings": (model.bert.embeddings,),
        "encoder": (model.bert.embeddings, model.bert.encoder),
    }
    for module in frozen[what]:
        module.requires_grad_(False)
