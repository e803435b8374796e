# SPDX-License-Identifier: Apache-2.0
"""The folders of a TransformerEncoder and of a Transformer (README.md has their conventions): written from the module,
read back into it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from common.checkpoint import write_half, write_json
from safetensors.torch import load_file
from transformer import Shape, TransformerEncoder
from translator import Transformer, TranslatorShape

MODEL_TYPE, TRANSLATOR = "transformer_encoder", "transformer"


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
    values = _values(folder, MODEL_TYPE)
    shape = Shape(**{field.name: values[field.name] for field in dataclasses.fields(Shape)})
    labels = [values["id2label"][str(i)] for i in range(len(values["id2label"]))]
    model = TransformerEncoder(shape, len(labels))
    model.load_state_dict(load_file(folder / "model.safetensors"))
    return model.eval(), labels


def write_translator(folder: Path, model: Transformer, begin: int, end: int) -> None:
    """The same of a Transformer, with the tokens that its targets begin and end with."""
    tokens = {"decoder_start_token_id": begin, "eos_token_id": end}
    write_json(folder / "config.json", {"model_type": TRANSLATOR, **dataclasses.asdict(model.shape), **tokens})
    write_half(folder / "model.safetensors", model.state_dict())


def read_translator(folder: Path) -> tuple[Transformer, int, int]:
    """(the module in float32, for inference; what targets begin and end with)."""
    values = _values(folder, TRANSLATOR)
    model = Transformer(TranslatorShape(**{f.name: values[f.name] for f in dataclasses.fields(TranslatorShape)}))
    model.load_state_dict(load_file(folder / "model.safetensors"))
    return model.eval(), values["decoder_start_token_id"], values["eos_token_id"]


def _values(folder: Path, model_type: str) -> dict[str, Any]:
    values = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    if values["model_type"] != model_type:
        raise ValueError(f"model_type is {values['model_type']}, not {model_type}")
    return values
