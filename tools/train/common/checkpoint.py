# SPDX-License-Identifier: Apache-2.0
"""Writes the files of a checkpoint folder, and puts the folder in its place when all are there."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from common.refusal import Refused
from safetensors.torch import save_file


@contextlib.contextmanager
def replaced(folder: Path, terms: Path | None = None) -> Iterator[Path]:
    """A new folder beside `folder`, to fill; at the end it takes the place of the checkpoint that is there, and goes
    where anything fails. What is there and no checkpoint stays, as `folder`.old. `terms`, a file that says under which
    terms the weights are and may be that of `folder`, comes with it."""
    check_replaceable(folder)
    beside = folder.with_name(f".{folder.name}.{os.getpid()}")
    beside.mkdir(parents=True)
    try:
        if terms is not None:
            shutil.copyfile(terms, beside / "LICENSE")
        yield beside
        check_replaceable(folder)
        old = _old(folder)
        moved = folder.exists()
        if moved:
            folder.rename(old)
        beside.rename(folder)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise
    if moved and (old / "config.json").is_file() and (old / "model.safetensors").is_file():
        shutil.rmtree(old)


def check_replaceable(folder: Path) -> None:
    """Refuses a place beside which what is there could not stay. To be asked before a training, too."""
    old = _old(folder)
    if os.path.lexists(folder) and os.path.lexists(old):
        raise Refused(f"{old.name}: exists already, and is where what {folder.name} holds would go; move it away")


def _old(folder: Path) -> Path:
    return folder.with_name(folder.name + ".old")


def weights_digest(folder: Path) -> bytes:
    """Of what decides the outputs of a checkpoint for given ids: configuration and weights."""
    contents = ((folder / name).read_bytes() for name in ("config.json", "model.safetensors"))
    return hashlib.sha256(b"".join(hashlib.sha256(content).digest() for content in contents)).digest()


def digest(value: object) -> str:
    """Of plain values, by how Python writes them."""
    return hashlib.sha256(repr(value).encode("utf-8", "surrogatepass")).hexdigest()


def keep_state(path: Path, state: Mapping[str, Any]) -> None:
    """A file of torch.save, whole or not at all: whoever is stopped while it is written has the one before."""
    beside = path.with_name(path.name + ".new")
    torch.save(dict(state), beside)
    beside.replace(path)


def write_half(path: Path, weights: Mapping[str, torch.Tensor]) -> None:
    """A safetensors file in float16."""
    half = {name: value.half().contiguous() for name, value in weights.items()}
    save_file(half, path, metadata={"format": "pt"})
    path.chmod(0o644)  # its writer leaves 0600


def write_json(path: Path, value: object, *, sort_keys: bool = False) -> None:
    """One JSON file, a field a line."""
    path.write_text(json.dumps(value, ensure_ascii=False, indent=2, sort_keys=sort_keys) + "\n", encoding="utf-8")
