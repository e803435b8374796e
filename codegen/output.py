# SPDX-License-Identifier: Apache-2.0
"""Writes a generated folder: beside its place first, renamed at the end, so that it is there whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from .errors import EtchError
from .manifest import MANIFEST
from .render.model import Rendered

BUILD_FOLDER = "build"  # made by --build, kept when the folder is generated again


def check_target(out: Path) -> None:
    """Refuses a target that holds anything that etch did not write, before the work begins."""
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise _refuse("target-not-a-folder", f"{out} exists and is not a folder")
    if not out.exists():
        parent = out.absolute().parent
        if parent.exists() and not parent.is_dir():
            raise _refuse("target-not-a-folder", f"{parent} is not a folder")
        return
    known = {MANIFEST: None} | _written_before(out)
    for entry in sorted(out.iterdir()):
        if entry.name == BUILD_FOLDER and entry.is_dir():
            continue
        if entry.name not in known:
            raise _refuse(
                "target-holds-other-files",
                f"{out} holds '{entry.name}', which etch did not write: choose another folder",
            )
        recorded = known[entry.name]
        changed = entry.is_symlink() or not entry.is_file()
        if changed or (recorded is not None and _sha256(entry) != recorded):
            raise _refuse(
                "target-changed", f"'{entry.name}' in {out} was changed since it was generated: move it away first"
            )


def write_output(out: Path, files: list[Rendered], manifest: Callable[[dict[str, str]], bytes]) -> None:
    """Writes `files` and the manifest of their SHA-256 to `out`, replacing what etch wrote there before."""
    out = out.absolute()
    made = [parent for parent in out.parents if not parent.exists()]  # deepest first
    try:
        _write_beside(out, files, manifest)
    except BaseException:
        with contextlib.suppress(OSError):
            for parent in made:
                parent.rmdir()
        raise


def _write_beside(out: Path, files: list[Rendered], manifest: Callable[[dict[str, str]], bytes]) -> None:
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    except OSError as error:
        raise _refuse("target-not-writable", f"cannot write beside {out}: {error.strerror}") from error
    try:
        fresh.chmod(0o755)
        hashes = {file.name: _write(fresh / file.name, file.content) for file in files}
        _write(fresh / MANIFEST, [manifest(hashes)])
        check_target(out)  # again: it may have changed while we worked
        _swap(fresh, out)
    except OSError as error:
        raise _refuse("write-failed", f"cannot write {out}: {error.strerror}") from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _swap(fresh: Path, out: Path) -> None:
    """Puts `fresh` in the place of `out`; on failure `out` is as it was."""
    if not out.exists():
        fresh.rename(out)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{out.name}.old.", dir=out.parent))
    try:
        out.rename(old)
        if (old / BUILD_FOLDER).is_dir():
            (old / BUILD_FOLDER).rename(fresh / BUILD_FOLDER)
        fresh.rename(out)
    except BaseException:
        if (fresh / BUILD_FOLDER).is_dir():
            (fresh / BUILD_FOLDER).rename(old / BUILD_FOLDER)
        if out.exists():
            shutil.rmtree(old, ignore_errors=True)
        else:
            old.rename(out)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _written_before(out: Path) -> dict[str, str]:
    """The files that the manifest in `out` lists; empty where there is none or it cannot be read."""
    try:
        files = json.loads((out / MANIFEST).read_bytes())["files"]
        return {str(name): str(sha256) for name, sha256 in files.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _write(path: Path, content: list[bytes]) -> str:
    """Writes a file to the disk and returns its SHA-256."""
    digest = hashlib.sha256()
    with path.open("xb") as file:
        for part in content:
            file.write(part)
            digest.update(part)
        file.flush()
        os.fsync(file.fileno())
    return digest.hexdigest()


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while part := file.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


def _refuse(code: str, message: str) -> EtchError:
    return EtchError(code, "render", message)
