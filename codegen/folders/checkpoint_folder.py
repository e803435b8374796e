# SPDX-License-Identifier: Apache-2.0
"""Checkpoint folders that etch itself writes, whole or not at all: `convert`, `fetch` and `merge`."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from .. import __version__
from ..files.rendered import Rendered
from ..load.files import CheckpointFolder
from ..load.other_files import is_other_file
from ..load.safetensors import MAX_FILE_BYTES
from ..load.sentence_files import MODULES_FILE
from .output import write_output

_CHUNK = 4 << 20
_WEIGHTS = re.compile(r"[\w.-]+\.safetensors(?:\.index\.json)?")


def is_weights(place: str) -> bool:
    """Whether the file holds weights, or says which does."""
    return _WEIGHTS.fullmatch(os.path.basename(place)) is not None


def copy_others(source: CheckpointFolder, to: Path, left_out: Callable[[str], bool]) -> None:
    """Copies what belongs to a checkpoint, also in the folders that modules.json names, but for what is `left_out` by
    its place in the folder. What is there by the same name is overwritten."""
    folders = [""]
    if source.has(MODULES_FILE):
        modules = source.read_json_list(MODULES_FILE)
        paths = [item.get("path") for item in modules if isinstance(item, dict)]
        folders += [path for path in paths if isinstance(path, str) and re.fullmatch(r"[A-Za-z0-9_][\w.-]*", path)]
    for folder in folders:
        for name in source.names(folder):
            place = f"{folder}/{name}" if folder else name
            belongs = is_other_file(name) or is_weights(name)
            if not belongs or left_out(place) or source.is_folder(place):
                continue
            (to / folder).mkdir(exist_ok=True)
            with source.open(place, MAX_FILE_BYTES) as (descriptor, _), (to / place).open("wb") as copy:
                while part := os.read(descriptor, _CHUNK):
                    copy.write(part)


def publish(folder: Path, out: Path, origin: Mapping[str, str | bool]) -> dict[str, str]:
    """Copies the files below `folder` to `out` with a manifest that says their `origin`; name -> SHA-256."""
    written: dict[str, str] = {}

    def manifest(hashes: dict[str, str]) -> bytes:
        written.update(hashes)
        return (json.dumps({"generator": __version__, **origin, "files": hashes}, indent=1) + "\n").encode("ascii")

    write_output(out, list(_files(folder)), manifest)
    return written


def _files(folder: Path) -> Iterator[Rendered]:
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        yield Rendered(path.relative_to(folder).as_posix(), _chunks(path))


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while part := file.read(_CHUNK):
            yield part
