# SPDX-License-Identifier: Apache-2.0
"""Checkpoint folders that etch itself writes, whole or not at all: `convert` and `fetch`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from .. import __version__
from ..files.rendered import Rendered
from .output import write_output

_CHUNK = 4 << 20


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
