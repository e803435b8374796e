# SPDX-License-Identifier: Apache-2.0
"""A GGUF file -> the files of a checkpoint folder."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from ...files.safetensors_file import DTYPES
from ...load.folder import CONFIG_FILE
from ...load.refusal import shown
from ...load.shards import WEIGHTS_FILE
from .families import bert, gemma, gpt2, llama_shape, phi3
from .families.family import Family, Opened
from .file import open_gguf
from .metadata import Metadata
from .tokenizers.tokenizer import TokenizerFiles, read_tokenizer
from .weights import write_weights

FAMILIES: dict[str, Family] = {
    **llama_shape.FAMILIES,
    **gemma.FAMILIES,
    **phi3.FAMILIES,
    **gpt2.FAMILIES,
    **bert.FAMILIES,
}
_LICENCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,60}")
# `pooling_type`: rows to one embedding, by the names of sentence-transformers.
_NONE, _RANK = 0, 4
_POOLINGS = {1: "mean_tokens", 2: "cls_token", 3: "lasttoken"}


def write_folder(path: Path, to: Path, dtype: str = "float32") -> list[str]:
    """Writes the files of the model in the file at `path` into the folder `to`, quantized matrices as `dtype`, one of
    `DTYPES`; returns what was done."""
    with open_gguf(path) as file:
        meta = Metadata(file)
        _check_whole(meta)
        if meta.architecture not in FAMILIES:
            message = f"architecture {shown(meta.architecture)} is not read (read: {', '.join(sorted(FAMILIES))})"
            raise file.refuse("gguf-architecture", message)
        family, opened = FAMILIES[meta.architecture], Opened(file, meta)
        config = family.config(opened)
        pooling = _pooling(meta)
        tensors = family.tensors(opened)
        positions = meta.count("context_length", config.get("n_positions"))
        tokenizer = read_tokenizer(meta, config["vocab_size"], positions)
        meta.check_all_read()
        _write(to / "tokenizer.json", tokenizer.tokenizer, indent=None)
        _write(to / "tokenizer_config.json", tokenizer.config)
        ids = _special_ids(tokenizer)
        _write(
            to / CONFIG_FILE,
            {
                "architectures": list(family.architectures),
                "model_type": family.model_type,
                **config,
                **(ids if family.writes else {"pad_token_id": ids.get("pad_token_id", 0)}),
                "dtype": dtype,
            },
        )
        if family.writes:
            _write(to / "generation_config.json", ids)
        if pooling is not None:
            _write_modules(to, pooling, config, positions)
        _write_terms(to, meta)
        told = [f"read         {shown(path.name)}: {meta.architecture}, as {family.model_type}"]
        told += [f"note         {note}" for note in tokenizer.notes]
        if pooling is not None:
            told.append(
                f"note         pooling {pooling}; whether embeddings are normalized the file does not say: they are not"
            )
        return [*told, write_weights(to / WEIGHTS_FILE, opened, tensors, DTYPES[dtype])]


def _check_whole(meta: Metadata) -> None:
    if meta.count("split.count", 1, least=0) > 1:
        message = "it is one of several files: make them one with llama.cpp's llama-gguf-split --merge"
        raise meta.refuse("gguf-not-supported", message)
    kind = meta.text("general.type", "model")
    if kind != "model":
        raise meta.refuse("gguf-not-supported", f"general.type {shown(kind)}: it is no model")


def _pooling(meta: Metadata) -> str | None:
    """What makes an embedding of the rows; None where the file says nothing of it."""
    kind = meta.count("pooling_type", _NONE, least=0)
    if kind == _NONE:
        return None
    if kind not in _POOLINGS:
        what = "a model that ranks, whose head is not read" if kind == _RANK else "which is not known"
        raise meta.refuse("gguf-not-supported", f"pooling_type {kind}: {what}")
    return _POOLINGS[kind]


def _special_ids(tokenizer: TokenizerFiles) -> dict[str, Any]:
    tokens = tokenizer.tokens
    ends = tokens.ends
    found: dict[str, Any] = {
        "bos_token_id": tokens.special("bos"),
        "eos_token_id": ends[0] if len(ends) == 1 else ends,
        "pad_token_id": tokens.special("padding"),
    }
    return {key: value for key, value in found.items() if value not in (None, [])}


def _write_modules(to: Path, pooling: str, config: dict[str, Any], positions: int) -> None:
    """As sentence-transformers has them."""
    package = "sentence_transformers.models"
    modules = [("", "Transformer"), ("1_Pooling", "Pooling")]
    listed = [
        {"idx": i, "name": str(i), "path": path, "type": f"{package}.{kind}"} for i, (path, kind) in enumerate(modules)
    ]
    _write(to / "modules.json", listed)
    _write(to / "sentence_bert_config.json", {"max_seq_length": positions, "do_lower_case": False})
    (to / "1_Pooling").mkdir()
    modes = {f"pooling_mode_{mode}": mode == pooling for mode in _POOLINGS.values()}
    _write(to / "1_Pooling" / "config.json", {"word_embedding_dimension": config["hidden_size"], **modes})


def _write_terms(to: Path, meta: Metadata) -> None:
    """The licence that the file names, as a model card says it."""
    licence = meta.text("general.license", "")
    if _LICENCE.fullmatch(licence):
        (to / "README.md").write_text(f"---\nlicense: {licence}\n---\n", encoding="utf-8")


def _write(path: Path, value: object, indent: int | None = 1) -> None:
    path.write_text(json.dumps(value, indent=indent, ensure_ascii=False) + "\n", encoding="utf-8")
