# SPDX-License-Identifier: Apache-2.0
"""Writes a small sentence-transformers folder over a BertModel, as versions 1 to 5 of that library write it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tiny_checkpoint import read_raw_safetensors, write_json, write_raw_safetensors, write_tiny_checkpoint

# What etch calls a pooling -> the key of 1_Pooling/config.json.
POOLINGS = {
    "cls": "pooling_mode_cls_token",
    "mean": "pooling_mode_mean_tokens",
    "max": "pooling_mode_max_tokens",
    "mean_sqrt": "pooling_mode_mean_sqrt_len_tokens",
}


def write_tiny_sentence_model(
    folder: Path,
    *,
    pooling: str = "mean",
    normalize: bool = True,
    prefix: str = "",
    pooler: bool = True,
    settings: dict[str, Any] | None = None,
    **shape: Any,
) -> None:
    """The encoder of `write_tiny_checkpoint(folder, **shape)` with its modules; `prefix` of the tensors' names,
    `settings` of config_sentence_transformers.json."""
    write_tiny_checkpoint(folder, **shape)
    config = json.loads((folder / "config.json").read_text())
    config["architectures"] = ["BertModel"]
    for key in ("id2label", "label2id"):
        del config[key]
    write_json(folder / "config.json", config)
    _keep_the_encoder(folder / "model.safetensors", prefix, pooler)
    kinds = ["Transformer", "Pooling", *(["Normalize"] if normalize else [])]
    modules = [
        {"idx": i, "name": str(i), "path": f"{i}_{kind}" if i else "", "type": f"sentence_transformers.models.{kind}"}
        for i, kind in enumerate(kinds)
    ]
    write_json(folder / "modules.json", modules)
    if settings is not None:
        write_json(folder / "config_sentence_transformers.json", settings)
    (folder / "1_Pooling").mkdir(exist_ok=True)
    modes = {key: name == pooling for name, key in POOLINGS.items()}
    write_json(folder / "1_Pooling/config.json", {"word_embedding_dimension": config["hidden_size"], **modes})


def _keep_the_encoder(path: Path, prefix: str, pooler: bool) -> None:
    header, data = read_raw_safetensors(path)
    kept: dict[str, Any] = {"__metadata__": header.pop("__metadata__")}
    blobs, at = [], 0
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        if name.startswith("classifier") or (name.startswith("bert.pooler") and not pooler):
            continue
        kept[prefix + name.removeprefix("bert.")] = entry | {"data_offsets": [at, at + last - first]}
        blobs.append(data[first:last])
        at += last - first
    write_raw_safetensors(path, kept, b"".join(blobs))
