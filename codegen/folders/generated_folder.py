# SPDX-License-Identifier: Apache-2.0
"""A generated folder as it is found. It may come from somewhere else: only the files that its manifest names are read,
they are plain files in the folder itself, no links, and they hold what the manifest says.

That shows that nothing was changed by accident and that no other file of this machine is read or written. Who wrote the
folder it does not show: its sources are compiled, and `verify` runs what comes of them.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import EtchError
from ..files.outside_files import open_member, read_member
from .manifest import CMAKE_FILE, read_manifest

MAX_FILE_BYTES = 8 << 30
_MAX_CMAKE_BYTES = 1 << 16
_CHUNK = 1 << 20
# One call with plain words. runtime/cmake/model.cmake asks for the same before it takes a folder into a build.
_CMAKE = re.compile(rb"# [A-Za-z0-9_.:, ]+\netch_generated_model\([A-Za-z0-9_. \n]+\)\n")


def check_folder(directory: Path, stage: str) -> dict[str, Any]:
    """The manifest of a folder that is as etch wrote it; EtchError of `stage` where it is not."""
    manifest = read_manifest(directory, stage)
    for file, sha256 in manifest["files"].items():
        for _ in Pieces(directory, file, sha256, stage):
            pass
    if CMAKE_FILE in manifest["files"]:
        content = read_member(directory / CMAKE_FILE, _MAX_CMAKE_BYTES, _Refuse(directory, CMAKE_FILE, stage))
        if _CMAKE.fullmatch(content) is None:
            raise EtchError("model-changed", stage, f"'{CMAKE_FILE}' is not what etch generates")
    return manifest


@dataclass(frozen=True)
class Pieces:
    """The content of a file in a folder, read when it is asked for; EtchError at its end where it is not what the
    manifest says."""

    directory: Path
    file: str
    sha256: str
    stage: str

    def __iter__(self) -> Iterator[bytes]:
        digest = hashlib.sha256()
        refuse = _Refuse(self.directory, self.file, self.stage)
        with open_member(self.directory / self.file, MAX_FILE_BYTES, refuse) as (descriptor, _):
            while piece := os.read(descriptor, _CHUNK):
                digest.update(piece)
                yield piece
        if digest.hexdigest() != self.sha256:
            message = f"'{self.file}' is not what etch generated: generate the folder again"
            raise EtchError("model-changed", self.stage, message)


class _Refuse:
    """Refusals of one file."""

    def __init__(self, directory: Path, file: str, stage: str) -> None:
        self._path, self._stage = directory / file, stage

    def __call__(self, code: str, message: str) -> EtchError:
        code = "file-missing" if code == "file-unreadable" else code
        return EtchError(code, self._stage, f"cannot read {self._path}: {message}")
