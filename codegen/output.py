# SPDX-License-Identifier: Apache-2.0
"""Writes a generated folder: beside its place first, renamed at the end, so that it is there whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath

from .errors import EtchError
from .interrupts import held_signals
from .manifest import MANIFEST
from .render.model import Rendered

BUILD_FOLDER = "build"  # made by --build, kept when the folder is generated again


def check_target(out: Path) -> None:
    """Refuses a target that holds anything that etch did not write, before the work begins."""
    with _alone_in(out.absolute().parent):  # or another run could exchange the folder between two looks at it
        if out.is_symlink() or (out.exists() and not out.is_dir()):
            raise _refuse("target-not-a-folder", f"{out} exists and is not a folder")
        if not out.exists():
            parent = out.absolute().parent
            if parent.exists() and not parent.is_dir():
                raise _refuse("target-not-a-folder", f"{parent} is not a folder")
            return
        if not os.access(out, os.R_OK | os.W_OK | os.X_OK):
            raise _refuse("target-not-writable", f"{out} is not writable")
        _check_entries(out, out)


def _check_entries(folder: Path, out: Path) -> None:
    """Refuses what lies in `folder` and etch did not write; messages name `out`."""
    known = {MANIFEST: None} | _written_before(folder)
    folders = {parent.as_posix() for name in known for parent in PurePosixPath(name).parents}
    entries = sorted(folder.iterdir())
    while entries:
        entry = entries.pop(0)
        name = entry.relative_to(folder).as_posix()
        if name == BUILD_FOLDER and entry.is_dir():
            continue
        if name in folders and entry.is_dir() and not entry.is_symlink():
            entries += sorted(entry.iterdir())
            continue
        if name not in known:
            raise _refuse(
                "target-holds-other-files", f"{out} holds '{name}', which etch did not write: choose another folder"
            )
        recorded = known[name]
        changed = entry.is_symlink() or not entry.is_file()
        if changed or (recorded is not None and _sha256(entry) != recorded):
            raise _refuse("target-changed", f"'{name}' in {out} was changed since it was generated: move it away first")


def write_output(out: Path, files: list[Rendered], manifest: Callable[[dict[str, str]], bytes]) -> None:
    """Writes `files` and the manifest of their SHA-256 to `out`, replacing what etch wrote there before. A file's name
    may begin with folders."""
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
    with held_signals() as acting:
        try:
            out.parent.mkdir(parents=True, exist_ok=True)
            fresh = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
        except OSError as error:
            raise _refuse("target-not-writable", f"cannot write beside {out}: {error.strerror}") from error
        try:
            with contextlib.ExitStack() as stack:
                with acting():
                    fresh.chmod(0o755)
                    hashes = {file.name: _write(fresh / file.name, file.content) for file in files}
                    _write(fresh / MANIFEST, [manifest(hashes)])
                    check_target(out)  # again: it may have changed while we worked
                    stack.enter_context(_alone_in(out.parent))
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
        _check_entries(old, out)  # once more: nobody finds it under this name
        if (old / BUILD_FOLDER).is_dir():
            (old / BUILD_FOLDER).rename(fresh / BUILD_FOLDER)
        fresh.rename(out)
    except BaseException:
        if (fresh / BUILD_FOLDER).is_dir():
            (fresh / BUILD_FOLDER).rename(old / BUILD_FOLDER)
        if out.exists():
            with contextlib.suppress(OSError):
                old.rmdir()  # empty where `out` never moved; else it holds the user's files, and stays
        else:
            old.rename(out)
        raise
    shutil.rmtree(old, ignore_errors=True)


@contextlib.contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Lets one run of etch at a time look at or exchange what lies in `folder`; without a file, so that none stays.

    Where there are no locks, on Windows and some network file systems, the renames still fail rather than overwrite.
    """
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(ImportError, OSError):
            import fcntl

            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            stack.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield


def _written_before(out: Path) -> dict[str, str]:
    """The files that the manifest in `out` lists; empty where there is none or it cannot be read."""
    try:
        files = json.loads((out / MANIFEST).read_bytes())["files"]
        return {str(name): str(sha256) for name, sha256 in files.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _write(path: Path, content: Iterable[bytes | memoryview]) -> str:
    """Writes a file to the disk and returns its SHA-256."""
    digest = hashlib.sha256()
    path.parent.mkdir(parents=True, exist_ok=True)
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
