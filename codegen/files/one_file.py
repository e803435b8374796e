# SPDX-License-Identifier: Apache-2.0
"""A single file that a command writes, whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from ..errors import EtchError


def check_place(path: Path, stage: str) -> None:
    """Before the work begins: refuses a place where `write_file` would fail, as far as one can tell without writing."""
    above = next(folder for folder in path.absolute().parents if folder.exists())
    if path.is_dir():
        reason = "it is a folder"
    elif not above.is_dir():
        reason = "a file is where its folder would be"
    elif not os.access(above, os.W_OK | os.X_OK):
        reason = f"{above} is not writable"
    else:
        return
    raise EtchError("write-failed", stage, f"cannot write {path}: {reason}")


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
