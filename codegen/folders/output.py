# SPDX-License-Identifier: Apache-2.0
"""Writes a generated folder: beside its place first, renamed at the end, so that it is there whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath

from ..errors import EtchError
from ..files.digest import sha256_of
from ..files.folder_lock import locked
from ..files.one_file import nearest_folder
from ..files.outside_files import read_member
from ..files.rendered import Rendered
from ..load.json_file import parse_json
from ..process.interrupts import held_signals
from .manifest import MANIFEST, MAX_BYTES

BUILD_FOLDER = "build"  # made by --build, kept when the folder is generated again
# In a temporary folder until it is whole: what tells it from a folder of somebody else.
_MARK = ".etch-unfinished"
_MARK_TEXT = b"Made by etch, which was stopped before it had written all. It may be removed.\n"


def prepare_target(out: Path, echo: Callable[[str], None]) -> None:
    """Tidies up after runs that were killed, then `check_target`, and tries whether a folder can be made there."""
    for line in remove_leftovers(out):
        echo(line)
    check_target(out)
    _try_beside(out)


def check_target(out: Path) -> None:
    """Refuses a target that holds anything that etch did not write, before the work begins."""
    with _alone_in(out.absolute().parent):  # or another run could exchange the folder between two looks at it
        if out.is_symlink():
            raise _refuse("target-not-a-folder", f"{out} is a link: name the folder itself")
        if out.exists() and not out.is_dir():
            raise _refuse("target-not-a-folder", f"{out} exists and is not a folder")
        if not out.exists():
            above = nearest_folder(out)
            if not above.is_dir():
                raise _refuse("target-not-a-folder", f"{above} is not a folder")
            if not os.access(above, os.W_OK | os.X_OK):
                raise _refuse("target-not-writable", f"{above} is not writable")
            return
        if not os.access(out, os.R_OK | os.W_OK | os.X_OK):
            raise _refuse("target-not-writable", f"{out} is not writable")
        _check_entries(out, out)


def _try_beside(out: Path) -> None:
    """Refuses a place where no folder can be made although its permissions say so, as in /proc or on a full disk: one
    is made where `write_output` makes its own, and removed."""
    above = nearest_folder(out)
    with _alone_in(above), held_signals():  # no other run takes it for one that was left
        try:
            _temporary_beside(out, above).rmdir()
        except OSError as error:
            raise _refuse("target-not-writable", f"no folder can be made in {above}: {error.strerror}") from error


def _temporary_beside(out: Path, folder: Path) -> Path:
    """Makes the folder that is to become `out`."""
    return Path(tempfile.mkdtemp(prefix=f".{out.name}.etch.", dir=folder))


def remove_leftovers(out: Path) -> list[str]:
    """Removes what runs for `out` that were killed have left beside it; says what was done.

    That are temporary folders with names and content of ours that no living run has locked. A folder that was moved
    away and not replaced is put back. Where there are no locks nothing is done, for the run may be alive.
    """
    out = out.absolute()
    said: list[str] = []
    if not out.parent.is_dir():
        return said
    with _alone_in(out.parent) as alone:
        names = re.compile(rf"\.{re.escape(out.name)}(\.old)?\.etch\.[a-z0-9_]{{8}}")
        found = [path for path in out.parent.iterdir() if names.fullmatch(path.name)] if alone else []
        for path in sorted(found, reverse=True):  # what was moved away first: a build is put back into it
            with contextlib.suppress(OSError), locked(path) as free:
                if not free or path.is_symlink() or not _is_ours(path):
                    continue
                moved_away = ".old.etch." in path.name and not (path / _MARK).exists() and any(path.iterdir())
                if moved_away and not os.path.lexists(out):
                    path.rename(out)
                    said.append(f"put back {out}, which a run that was stopped had moved away")
                else:
                    if (path / BUILD_FOLDER).is_dir() and out.is_dir() and not os.path.lexists(out / BUILD_FOLDER):
                        (path / BUILD_FOLDER).rename(out / BUILD_FOLDER)
                    _remove(path)
                    said.append(f"removed {path}, which a run that was stopped had left")
    return said


def _is_ours(folder: Path) -> bool:
    """Whether a folder of such a name is empty, marked, or holds what its manifest says."""
    if not any(folder.iterdir()):
        return True
    mark = folder / _MARK
    if not mark.is_symlink() and mark.is_file() and mark.stat().st_size <= len(_MARK_TEXT):
        return _MARK_TEXT.startswith(mark.read_bytes())  # the disk may have been full
    if not (folder / MANIFEST).is_file():
        return False
    try:
        _check_entries(folder, folder)
    except EtchError:
        return False
    return True


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
        if changed or (recorded is not None and sha256_of(entry) != recorded):
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
    with held_signals() as acting, contextlib.ExitStack() as lock:
        try:
            out.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.ExitStack() as alone:
                with acting():
                    alone.enter_context(_alone_in(out.parent))
                fresh = _temporary_beside(out, out.parent)
                lock.enter_context(locked(fresh))  # before anybody takes it for one that was left
        except OSError as error:
            raise _refuse("target-not-writable", f"cannot write beside {out}: {error.strerror}") from error
        try:
            with contextlib.ExitStack() as stack:
                with acting():
                    fresh.chmod(0o755)
                    (fresh / _MARK).write_bytes(_MARK_TEXT)
                    hashes = {file.name: _write(fresh / file.name, file.content) for file in files}
                    _write(fresh / MANIFEST, [manifest(hashes)])
                    check_target(out)  # again: it may have changed while we worked
                    stack.enter_context(_alone_in(out.parent))
                (fresh / _MARK).unlink()
                _swap(fresh, out)
        except OSError as error:
            raise _refuse("write-failed", f"cannot write {out}: {error.strerror}") from error
        finally:
            _remove(fresh)


def _swap(fresh: Path, out: Path) -> None:
    """Puts `fresh` in the place of `out`; on failure `out` is as it was."""
    if not out.exists():
        fresh.rename(out)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{out.name}.old.etch.", dir=out.parent))
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
    _remove(old)


def _remove(folder: Path) -> None:
    """Removes a temporary folder as far as it goes, its mark last: killed on the way it is still known for ours."""
    with contextlib.suppress(OSError):
        (folder / _MARK).write_bytes(_MARK_TEXT)
    with contextlib.suppress(OSError):
        for entry in folder.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            elif entry.name != _MARK:
                entry.unlink()
        (folder / _MARK).unlink(missing_ok=True)
        folder.rmdir()


@contextlib.contextmanager
def _alone_in(folder: Path) -> Iterator[bool]:
    """Lets one run of etch at a time look at or exchange what lies in `folder`; without a file, so that none stays.

    False where there are no locks, on Windows and some network file systems: the renames still fail rather than
    overwrite.
    """
    with locked(folder, wait=True) as alone:
        yield alone


def _written_before(out: Path) -> dict[str, str]:
    """The files that the manifest in `out` lists; empty where there is none or it cannot be read."""
    try:
        raw = read_member(out / MANIFEST, MAX_BYTES, _refuse)
        files = parse_json(raw, MANIFEST)["files"]
        return {str(name): str(sha256) for name, sha256 in files.items()}
    except (EtchError, KeyError, AttributeError):
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


def _refuse(code: str, message: str) -> EtchError:
    return EtchError(code, "render", message)
