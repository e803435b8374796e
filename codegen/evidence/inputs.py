# SPDX-License-Identifier: Apache-2.0
"""What the checks of a model read: names and SHA-256."""

from __future__ import annotations

import hashlib
from typing import Any

from ..files.digest import sha256_of
from ..files.outside_files import NamedFile
from ..folders.manifest import MANIFEST
from ..verification.verify import load_generated
from .request import Request
from .shown_commands import CHECKPOINT, STAGE, head_folder, named_files, shown_file


def digests_of_folders(request: Request, manifest: dict[str, Any]) -> dict[str, str]:
    """Of the model's manifest, and of every file of the checkpoint's folder and those of heads that loading them reads:
    no other one that lies there counts for the model. EtchError where the model is of another checkpoint."""
    loaded = load_generated(manifest, request.checkpoint, request.heads)
    folders = {CHECKPOINT.lower(): loaded}
    if request.heads:  # else they are of the same folder
        folders |= {f"head {head_folder(name)}": head for name, head in loaded.heads}
    found = {f"model/{MANIFEST}": sha256_of(request.directory / MANIFEST)}
    for place, checkpoint in folders.items():
        found |= {f"{place}/{name}": digest for name, digest in checkpoint.files.items()}
    return found


def digests_of_files(request: Request) -> dict[str, str]:
    """Of each file that the arguments name. EtchError where one cannot be read."""
    contents = {option: NamedFile(file, "texts", STAGE).read() for option, file in named_files(request).items()}
    return {shown_file(request, option): hashlib.sha256(content).hexdigest() for option, content in contents.items()}
