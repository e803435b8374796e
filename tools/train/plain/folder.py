# SPDX-License-Identifier: Apache-2.0
"""The folder of a TransformerEncoder (README.md has its convention): written from the module, read back into it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from common.checkpoint import write_half, write_json
from safetensors.torch import load_file
from transformer import Shape, TransformerEncoder

MODEL_TYPE = "transformer_encoder"


def config(shape: Shape, labels: Sequence[str]) -> dict[str, Any]:
    """What config.json holds."""
    return {
        "model_type": MODEL_TYPE,
        **dataclasses.asdict(shape),
        "id2label": {str(i): name for i, name in enumerate(labels)},
        "label2id": {name: i for i, name in enumerate(labels)},
    }


def write_model(folder: Path, model: TransformerEncoder, labels: Sequence[str]) -> None:
    """config.json, and the weights in float16."""
    write_json(folder / "config.json", config(model.shape, labels))
    write_half(folder / "model.safetensors", model.state_dict())


def read_model(folder: Path) -> tuple[TransformerEncoder, list[str]]:
    """(the module in float32, for inference; its labels)."""
    values = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    if values["model_type"] != MODEL_TYPE:
        raise ValueError(f"model_type is {values['model_type']}, not {MODEL_TYPE}")
    shape = Shape(**{field.name: values[field.name] for field in dataclasses.fields(Shape)})
    labels = [values["id2label"][str(i)] for i in range(len(values["id2label"]))]
    model = TransformerEncoder(shape, len(labels))
    model.load_state_dict(load_file(folder / "model.safetensors"))
    return model.eval(), labels
