# SPDX-License-Identifier: Apache-2.0
"""A single file that a command writes, whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from ..errors import EtchError


def check_place(path: Path, stage: str) -> None:
    """Before the work begins: refuses a place where `write_file` would fail. A file is made there and removed, for
    permissions do not tell it of each place: not of /proc, nor of a full disk."""
    above = nearest_folder(path)
    if path.is_dir():
        reason = "it is a folder"
    elif not above.is_dir():
        reason = "a file is where its folder would be"
    else:
        try:
            with tempfile.NamedTemporaryFile(dir=above, prefix=f".{path.name}."):
                return
        except OSError as error:
            reason = f"no file can be made in {above}: {error.strerror}"
    raise EtchError("write-failed", stage, f"cannot write {path}: {reason}")


def nearest_folder(path: Path) -> Path:
    """Of those that it is in, the nearest that is there; or a file, or a link that leads nowhere, in its place."""
    return next(folder for folder in path.absolute().parents if os.path.lexists(folder))


def write_file(path: Path, content: bytes, stage: str) -> None:
    """Replaces what is there; folders on the way are made. EtchError of `stage` where that fails."""
    place: str | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            place = file.name
            file.write(content)
        os.chmod(place, 0o644)
        os.replace(place, path)
        place = None
    except OSError as error:
        reason = "a file is where its folder would be" if isinstance(error, FileExistsError) else error.strerror
        raise EtchError("write-failed", stage, f"cannot write {path}: {reason}") from error
    finally:
        if place is not None:
            Path(place).unlink(missing_ok=True)
