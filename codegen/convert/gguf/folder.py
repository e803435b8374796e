# SPDX-License-Identifier: Apache-2.0
"""A GGUF file -> the files of a checkpoint folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ...load.folder import CONFIG_FILE
from ...load.refusal import shown
from ...load.shards import WEIGHTS_FILE
from ..dtypes import DTYPES
from .families import bert, gemma, gpt2, llama_shape, phi3
from .families.family import Config, Family, Opened
from .file import open_gguf
from .metadata import Metadata
from .modules import pooling_of, write_json, write_modules
from .tokenizers.tokenizer import MODEL, TokenizerFiles, read_tokenizer
from .weights import write_weights

FAMILIES: dict[str, Family] = {
    **llama_shape.FAMILIES,
    **gemma.FAMILIES,
    **phi3.FAMILIES,
    **gpt2.FAMILIES,
    **bert.FAMILIES,
}
_LICENCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,60}")


def write_folder(path: Path, to: Path, dtype: str = "float32") -> list[str]:
    """Writes the files of the model in the file at `path` into the folder `to`, quantized matrices as `dtype`, one of
    `DTYPES`; returns what was done."""
    with open_gguf(path) as file:
        meta = Metadata(file)
        _check_whole(meta)
        if meta.architecture not in FAMILIES:
            message = f"architecture {shown(meta.architecture)} is not read (read: {', '.join(sorted(FAMILIES))})"
            raise file.refuse("gguf-architecture", message)
        family, opened = _family(meta), Opened(file, meta)
        config = family.config(opened)
        tensors = family.tensors(opened)
        positions = meta.count("context_length", config.get("n_positions"))
        tokenizer = read_tokenizer(meta, family.tokenizers, config["vocab_size"], positions)
        notes = [*tokenizer.notes]
        if pooling := pooling_of(opened, family):
            notes.append(write_modules(to, pooling, opened, config["hidden_size"], positions))
        meta.check_all_read()
        write_json(to / "tokenizer.json", tokenizer.tokenizer, indent=None)
        write_json(to / "tokenizer_config.json", tokenizer.config)
        write_json(to / CONFIG_FILE, _configuration(family, config, tokenizer, dtype))
        if family.writes:
            write_json(to / "generation_config.json", _special_ids(tokenizer))
        _write_terms(to, meta)
        told = f"read         {shown(path.name)}: {meta.architecture}, as {family.model_type}"
        weights = write_weights(to / WEIGHTS_FILE, opened, tensors, DTYPES[dtype])
        return [told, weights, *(f"note         {note}" for note in notes)]


def _family(meta: Metadata) -> Family:
    found = FAMILIES[meta.architecture]
    return bert.XLM_ROBERTA if found is FAMILIES["bert"] and meta.text(MODEL) == "t5" else found


def _configuration(family: Family, config: Config, tokenizer: TokenizerFiles, dtype: str) -> Config:
    ids = _special_ids(tokenizer)
    said = ids if family.writes else {"pad_token_id": ids.get("pad_token_id", 0)}
    named = {"architectures": list(family.architectures), "model_type": family.model_type}
    return {**named, **config, **said, "dtype": dtype}


def _check_whole(meta: Metadata) -> None:
    if meta.count("split.count", 1, least=0) > 1:
        message = "it is one of several files: make them one with llama.cpp's llama-gguf-split --merge"
        raise meta.refuse("gguf-not-supported", message)
    kind = meta.text("general.type", "model")
    if kind != "model":
        raise meta.refuse("gguf-not-supported", f"general.type {shown(kind)}: it is no model")


def _special_ids(tokenizer: TokenizerFiles) -> dict[str, Any]:
    tokens = tokenizer.tokens
    ends = tokens.ends
    found: dict[str, Any] = {
        "bos_token_id": tokens.special("bos"),
        "eos_token_id": ends[0] if len(ends) == 1 else ends,
        "pad_token_id": tokens.special("padding"),
    }
    return {key: value for key, value in found.items() if value not in (None, [])}


def _write_terms(to: Path, meta: Metadata) -> None:
    """The licence that the file names, as a model card says it."""
    licence = meta.text("general.license", "")
    if _LICENCE.fullmatch(licence):
        (to / "README.md").write_text(f"---\nlicense: {licence}\n---\n", encoding="utf-8")
