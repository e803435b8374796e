# SPDX-License-Identifier: Apache-2.0
"""From a generated folder to a loadable extension of SQLite."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ..building.build import build_sqlite
from ..errors import EtchError
from ..files.one_file import check_place, write_file
from ..folders.manifest import check_one_arena, read_manifest
from ..tasks import verbs

VERBS = ("classify", "embed", "regress")


def make_extension(directory: Path, out: Path, echo: Callable[[str], None]) -> Path:
    """Builds the extension of a generated folder into the folder `out`; its path, NAME.so."""
    manifest = read_manifest(directory, "sqlite")
    check_one_arena(manifest, "sqlite")
    name, verb = manifest["name"], verbs()[manifest["task"]]
    if verb not in VERBS:
        message = f"extensions of SQLite have {', '.join(VERBS)}; this model's task is {verb}"
        raise EtchError("task-not-supported", "sqlite", message)
    if manifest["target"] != "host":
        message = f"{directory} is for {manifest['target']}, not for this machine: generate it without --target"
        raise EtchError("target-not-supported", "sqlite", message)
    path = out / f"{name}.so"
    check_place(path, "sqlite")
    write_file(path, build_sqlite(directory, echo).read_bytes(), "sqlite")
    echo(f"wrote {path}")
    echo(f"load it with: .load {path.with_suffix('')}")
    return path
