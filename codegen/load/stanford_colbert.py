# SPDX-License-Identifier: Apache-2.0
"""Folders of ColBERT's own code (`HF_ColBERT`: colbertv2.0, answerai-colbert-small), as sentence-transformers reads
them: the linear lies beside the encoder's weights, the settings of training in artifact.metadata."""

from __future__ import annotations

import string
from dataclasses import replace
from typing import Any

from .config import Config
from .dense import Dense
from .files import CheckpointFolder
from .max_tokens import SENTENCE_FILE
from .multi_vector import STANFORD, MultiVectorModules, names_stanford, sides_of
from .refusal import refusal, shown
from .safetensors import TensorFile
from .sentence_files import MODULES_FILE, SETTINGS_FILE
from .shards import INDEX_FILE, WEIGHTS_FILE, open_weights

FILE = "artifact.metadata"
_LINEAR = "linear.weight"
_MARKERS = {"query": ("query_token_id", "[unused0]"), "document": ("doc_token_id", "[unused1]")}
_QUERY_TOKENS = 32  # where nothing is said


def is_stanford_colbert(folder: CheckpointFolder) -> bool:
    """Whether config.json names the class, and no files of sentence-transformers say what else it is."""
    return names_stanford(folder) and not folder.has(MODULES_FILE)


def read_stanford_colbert(folder: CheckpointFolder, width: int) -> tuple[MultiVectorModules, tuple[str, ...]]:
    """(the modules, notes). `width` is the encoder's hidden size."""
    for file in (SETTINGS_FILE, SENTENCE_FILE):
        if folder.has(file):
            message = f"a folder of {STANFORD} without {MODULES_FILE} says in {FILE} what it is: remove this file"
            raise refusal("sentence-conflict", message, file=file)
    said = folder.read_json_if_present(FILE) or {}
    tokens = {role: _text(said.get(key) or usual, key) for role, (key, usual) in _MARKERS.items()}
    expansion = {
        "strategy": "fixed",
        "attend": bool(said.get("attend_to_mask_tokens")),
        "length": said.get("query_maxlen") or _QUERY_TOKENS,
    }
    lengths = {"document_length": said.get("doc_maxlen"), "query_expansion": expansion}
    document, query, _ = sides_of(lengths, expanded=True)
    found = MultiVectorModules(
        dense=_linear(folder, width),
        normalize=True,
        document=replace(document, prompt=f"{tokens['document']} "),
        query=replace(query, prompt=f"{tokens['query']} "),
        skipped_words=tuple(string.punctuation) if said.get("mask_punctuation", True) else (),
        skipped_in=("document",),
        expansion=None,
        registered=tuple(tokens.values()),
    )
    return found, () if folder.has(FILE) else (f"{FILE} is missing: the usual settings of ColBERT",)


def as_encoder(config: Config, tensors: TensorFile) -> Config:
    """What config.json says without the class, and the weights without the linear."""
    tensors.ignore(_LINEAR)
    return replace(config, values=config.values.changed("architectures", None), embeds=True)


def _linear(folder: CheckpointFolder, width: int) -> tuple[Dense, ...]:
    """None where there are no weights at all, which is refused with the encoder's."""
    if not folder.has(WEIGHTS_FILE) and not folder.has(INDEX_FILE):
        return ()
    tensors, _ = open_weights(folder)
    if _LINEAR not in tensors:
        raise refusal("missing-tensor", f"the class {STANFORD} has a tensor '{_LINEAR}'", tensor=_LINEAR)
    tensors.ignore(*(name for name in tensors.names if name != _LINEAR))
    _, shape = tensors.info(_LINEAR)
    if len(shape) != 2 or shape[1] != width:
        message = f"expected a matrix of {width} inputs, as wide as a row, got {list(shape)}"
        raise refusal("wrong-shape", message, tensor=_LINEAR)
    return (Dense(width, shape[0], bias=False, activation="none", tensors=tensors),)


def _text(value: Any, key: str) -> str:
    if not isinstance(value, str):
        raise refusal("config-type", f"'{key}' must be a text, got {shown(value)}", file=FILE)
    return value
