# SPDX-License-Identifier: Apache-2.0
"""What makes an embedding of the rows, as sentence-transformers has it: the pooling that a file names, and the linears
of some models behind it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...load.sentence_files import MODULES_FILE
from ...load.shards import WEIGHTS_FILE
from .families.family import Family, Made, Opened
from .weights import write_weights

_PACKAGE = "sentence_transformers.models"
# `pooling_type`, by the names of sentence-transformers.
_NONE, _RANK = 0, 4
_POOLINGS = {1: "mean_tokens", 2: "cls_token", 3: "lasttoken"}
_IDENTITY = "torch.nn.modules.linear.Identity"


@dataclass(frozen=True)
class Pooling:
    """By the name of sentence-transformers, and the linears behind it, as the file calls them."""

    mode: str
    linears: tuple[str, ...]


def pooling_of(opened: Opened, family: Family) -> Pooling | None:
    """None where the file says nothing of it."""
    kind = opened.meta.count("pooling_type", _NONE, least=0)
    linears = tuple(filter(opened.has, family.linears))
    if kind == _NONE and linears:
        raise opened.file.refuse("unused-tensor", "a linear behind a pooling that the file does not name", linears[0])
    if kind == _NONE:
        return None
    if kind not in _POOLINGS:
        what = "a model that ranks, whose head is not read" if kind == _RANK else "which is not known"
        raise opened.meta.refuse("gguf-not-supported", f"pooling_type {kind}: {what}")
    return Pooling(_POOLINGS[kind], linears)


def write_modules(to: Path, pooling: Pooling, opened: Opened, width: int, positions: int) -> str:
    """Writes the files of all modules, behind a model of so many `positions` whose rows have this `width`; returns what
    they are."""
    modules = [("", "Transformer"), ("1_Pooling", "Pooling")]
    write_json(to / "sentence_bert_config.json", {"max_seq_length": positions, "do_lower_case": False})
    modes = {f"pooling_mode_{mode}": mode == pooling.mode for mode in _POOLINGS.values()}
    (to / "1_Pooling").mkdir()
    write_json(to / "1_Pooling" / "config.json", {"word_embedding_dimension": width, **modes})
    for tensor in pooling.linears:
        path = f"{len(modules)}_Dense"
        _write_linear(to / path, opened, tensor)
        modules.append((path, "Dense"))
    listed = [
        {"idx": i, "name": str(i), "path": path, "type": f"{_PACKAGE}.{kind}"} for i, (path, kind) in enumerate(modules)
    ]
    write_json(to / MODULES_FILE, listed)
    linears = f", {len(pooling.linears)} linears" if pooling.linears else ""
    return f"pooling {pooling.mode}{linears}; whether embeddings are normalized the file does not say: they are not"


def _write_linear(to: Path, opened: Opened, tensor: str) -> None:
    shape = opened.shape(tensor)
    if len(shape) != 2:
        raise opened.file.refuse("wrong-shape", f"expected [outputs, inputs], got {list(shape)}", tensor=tensor)
    outputs, inputs = shape
    sizes = {"in_features": inputs, "out_features": outputs}
    for end, size in (("in", inputs), ("out", outputs)):
        key = f"{tensor.partition('.')[0]}_feat_{end}"
        if opened.meta.count(key, size) != size:
            raise opened.meta.refuse("gguf-key", f"{key} is not what {tensor} has, {size}")
    to.mkdir()
    write_json(to / "config.json", {**sizes, "bias": False, "activation_function": _IDENTITY})
    write_weights(to / WEIGHTS_FILE, opened, {"linear.weight": Made(tensor)})


def write_json(path: Path, value: Any, indent: int | None = 1) -> None:
    """Writes a JSON file."""
    path.write_text(json.dumps(value, indent=indent, ensure_ascii=False) + "\n", encoding="utf-8")
