# SPDX-License-Identifier: Apache-2.0
"""Weights in one file, or in several with an index: model.safetensors.index.json says which tensor lies in which file.

Index and files must say the same. `transformers` takes whatever the files named in the index hold; a tensor that only
one side knows means that files of two checkpoints were mixed.
"""

from __future__ import annotations

import re
from typing import Any

from .files import CheckpointFolder
from .refusal import refusal, shown
from .safetensors import MAX_FILE_BYTES, Entry, TensorFile, read_entries

WEIGHTS_FILE = "model.safetensors"
INDEX_FILE = "model.safetensors.index.json"
MAX_SHARDS = 1000
_SHARD = re.compile(r"model-\d{5}-of-\d{5}\.safetensors")


def open_weights(folder: CheckpointFolder) -> tuple[TensorFile, tuple[str, ...]]:
    """(the tensors, notes). The folder must have one of the two files."""
    if not folder.has(INDEX_FILE):
        return TensorFile.open_in(folder, WEIGHTS_FILE), ()
    if folder.has(WEIGHTS_FILE):
        raise refusal(
            "weights-twice",
            f"the folder has {WEIGHTS_FILE} as well, and transformers reads only that: remove one of the two",
            file=INDEX_FILE,
        )
    index = folder.read_json(INDEX_FILE)
    places = _read_places(index)
    files = sorted(set(places.values()))
    if len(files) > MAX_SHARDS:
        raise refusal("shard-index", f"{len(files)} files, at most {MAX_SHARDS} are read", file=INDEX_FILE)
    _check_no_others(folder, files)
    entries: dict[str, Entry] = {}
    for file in files:
        if not folder.has(file):
            raise refusal("shard-missing", f"{INDEX_FILE} names this file, it is not in the folder", file=file)
        entries |= _checked(read_entries(folder, file), places, file)
    missing = next((name for name in places if name not in entries), None)
    if missing is not None:
        raise refusal(
            "shard-conflict",
            f"{INDEX_FILE} says that this file holds the tensor, it does not",
            file=places[missing],
            tensor=missing,
        )
    total = sum(entry.end - entry.begin for entry in entries.values())
    if total > MAX_FILE_BYTES:
        raise refusal(
            "file-too-large", f"the files hold {total} bytes, at most {MAX_FILE_BYTES} are read", file=INDEX_FILE
        )
    return TensorFile(entries, INDEX_FILE), _notes(index, total)


def _read_places(index: dict[str, Any]) -> dict[str, str]:
    """Tensor -> file."""
    if not set(index) <= {"metadata", "weight_map"} or not isinstance(index.get("metadata", {}), dict):
        raise refusal("shard-index", "expected an object with weight_map and perhaps metadata", file=INDEX_FILE)
    places = index.get("weight_map")
    if not isinstance(places, dict) or not places:
        raise refusal("shard-index", f"weight_map must map tensors to files, got {shown(places)}", file=INDEX_FILE)
    for name, file in places.items():
        if not isinstance(file, str) or not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,200}\.safetensors", file):
            raise refusal(
                "shard-path",
                f"{shown(file)} is not the plain name of a safetensors file in this folder",
                file=INDEX_FILE,
                tensor=name,
            )
    return places


def _check_no_others(folder: CheckpointFolder, files: list[str]) -> None:
    others = [name for name in folder.names() if _SHARD.fullmatch(name) and name not in files]
    if others:
        raise refusal(
            "shard-not-listed", f"{INDEX_FILE} does not name this file: of another checkpoint?", file=others[0]
        )


def _checked(entries: dict[str, Entry], places: dict[str, str], file: str) -> dict[str, Entry]:
    """The entries of a shard, if the index puts each of them there; so none can be in two."""
    for name in entries:
        if places.get(name) != file:
            where = f"puts it into {shown(places[name])}" if name in places else "does not name it"
            raise refusal("shard-conflict", f"the file holds this tensor, {INDEX_FILE} {where}", file=file, tensor=name)
    return entries


def _notes(index: dict[str, Any], total: int) -> tuple[str, ...]:
    """`total_size` is for progress bars; transformers does not hold it against the files either."""
    claimed = index.get("metadata", {}).get("total_size", total)
    return (
        () if claimed == total else (f"{INDEX_FILE} claims {shown(claimed)} bytes, the files hold {total}: not used",)
    )
