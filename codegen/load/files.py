# SPDX-License-Identifier: Apache-2.0
"""The files of a checkpoint folder: opened safely, and remembered for the digest.

A symbolic link may point inside the folder, or, as in a Hugging Face cache, from `models--*/snapshots/<revision>/` to
`models--*/blobs/`. Any other link that leaves the folder is refused: a folder from a stranger must not be able to pull
other files of this machine into the generated sources.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from ..files.outside_files import Refuse, open_member
from ..process.command_line import etch_command
from .gguf_files import gguf_names, gguf_refusal
from .hub_name import HubName
from .json_file import parse_json, parse_json_list
from .refusal import refusal, shown

MAX_TEXT_BYTES = 64 << 20
_ANY_SIZE = 1 << 62
_CHUNK = 4 << 20
# What `git clone` leaves in the place of a large file where Git LFS is not installed; such a file is a few lines long.
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_MAX_POINTER_BYTES = 1024
_LONGEST_PATH = 300  # in a message


def _no_folder(path: str) -> Exception:
    if gguf_names([path]) and os.path.isfile(path.replace("\0", "")):
        return gguf_refusal(Path(path).absolute())
    hub = HubName.parse(path)
    if hub is not None:
        command = etch_command("fetch", str(hub))
        return refusal("not-a-folder", f"'{hub}' is not a folder here; of the Hugging Face Hub: {command}")
    what = "is not a folder" if os.path.lexists(path.replace("\0", "")) else "does not exist"
    message = f"{shown(path, _LONGEST_PATH)} {what}; a checkpoint is a folder with config.json"
    return refusal("not-a-folder", message)


def _refuse_pointer(descriptor: int, size: int, refuse: Refuse) -> None:
    if size > _MAX_POINTER_BYTES:
        return
    begin = os.read(descriptor, len(_LFS_POINTER))
    os.lseek(descriptor, 0, os.SEEK_SET)
    if begin == _LFS_POINTER:
        raise refuse("lfs-pointer", "this is Git LFS' pointer to the file, not the file: git lfs pull gets it")


class CheckpointFolder:
    """One folder; every file that was opened through it counts for `digest`."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        try:
            root = os.path.realpath(os.fspath(path))
            is_folder = os.path.isdir(root)
        except (ValueError, TypeError):  # an embedded NUL
            is_folder = False
        if not is_folder:
            raise _no_folder(os.fspath(path))
        self._root = Path(root)
        self._used: set[str] = set()
        self._hashed: dict[str, tuple[int, str]] = {}  # size and SHA-256: a file of weights takes its time
        self._whole: tuple[CheckpointFolder, str] | None = None  # that it is a part of, and its name there
        self._hidden = False

    @property
    def path(self) -> Path:
        """Where it is, without links."""
        return self._root

    @property
    def shown_path(self) -> str:
        """`path` for a message."""
        return shown(str(self._root), _LONGEST_PATH)

    def names(self, inside: str = "") -> list[str]:
        """The names in the folder, or in one `inside` of it, sorted."""
        if self._hidden:
            return []
        try:
            return sorted(os.listdir(self._root / inside))
        except OSError as error:
            raise refusal("folder-unreadable", f"the folder cannot be listed: {error.strerror}") from None

    def has(self, name: str) -> bool:
        """Whether there is such an entry, be it a dangling link."""
        return not self._hidden and os.path.lexists(self._root / name)

    def has_file(self, name: str) -> bool:
        """Whether there is a file of this name, or a link, of which reading it says whether it is one."""
        path = self._root / name
        return not self._hidden and (path.is_file() or path.is_symlink())

    def is_folder(self, name: str) -> bool:
        """Whether the entry is a folder in here, not a link."""
        return (self._root / name).is_dir() and not (self._root / name).is_symlink()

    def within(self, name: str) -> CheckpointFolder:
        """A folder in here, no link, whose files count for this one's digest."""
        if not self.is_folder(name):
            raise refusal("not-a-folder", "it is not a folder", file=name)
        part = CheckpointFolder(self._root / name)
        part._whole = self, name
        return part

    def without_files(self) -> CheckpointFolder:
        """As if there were nothing in it."""
        other = CheckpointFolder(self._root)
        other._hidden = True
        return other

    @contextlib.contextmanager
    def open(self, name: str, limit: int) -> Iterator[tuple[int, int]]:
        """A descriptor to read `name` with, and its size; closed at the end."""
        refuse = partial(refusal, file=name)
        with open_member(self._resolve(name), limit, refuse) as opened:
            _refuse_pointer(*opened, refuse)
            self._used.add(name)
            if self._whole is not None:
                whole, inside = self._whole
                whole._used.add(f"{inside}/{name}")
            yield opened

    def read(self, name: str, limit: int = MAX_TEXT_BYTES) -> bytes:
        """The bytes of a small file."""
        with self.open(name, limit) as (descriptor, size), os.fdopen(os.dup(descriptor), "rb") as file:
            return file.read(size)

    def read_begin(self, name: str, most: int) -> bytes:
        """The first bytes of a file of any size."""
        with self.open(name, _ANY_SIZE) as (descriptor, _), os.fdopen(os.dup(descriptor), "rb") as file:
            return file.read(most)

    def read_json(self, name: str, *, endless: bool = False) -> dict[str, Any]:
        """The object in a JSON file, as `parse_json` reads it."""
        return parse_json(self.read(name), name, endless=endless)

    def read_json_if_present(self, name: str) -> dict[str, Any] | None:
        """As `read_json`, or None where the folder has no such file."""
        return self.read_json(name) if self.has(name) else None

    def read_json_list(self, name: str) -> list[Any]:
        """The list in a JSON file."""
        return parse_json_list(self.read(name), name)

    def digest(self) -> str:
        """SHA-256 (hex) over name, size and SHA-256 of every file opened so far, by name."""
        lines = (f"{name} {size} {content}\n" for name, (size, content) in self._contents().items())
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    def digests(self) -> dict[str, str]:
        """SHA-256 (hex) of every file opened so far, by name."""
        return {name: content for name, (_, content) in self._contents().items()}

    def _contents(self) -> dict[str, tuple[int, str]]:
        """Size and SHA-256 of every file opened so far, by name."""
        for name in self._used - self._hashed.keys():
            content = hashlib.sha256()
            with self.open(name, _ANY_SIZE) as (descriptor, size):
                while chunk := os.read(descriptor, _CHUNK):
                    content.update(chunk)
            self._hashed[name] = size, content.hexdigest()
        return dict(sorted(self._hashed.items()))

    def _resolve(self, name: str) -> Path:
        target = Path(os.path.realpath(self._root / name))
        if target == self._root / name or self._root in target.parents:
            return target
        snapshots, cache = self._root.parent, self._root.parent.parent
        in_cache = snapshots.name == "snapshots" and cache.name.startswith("models--")
        if in_cache and target.parent == cache / "blobs":
            return target
        raise refusal(
            "symlink-escapes",
            "this link leaves the checkpoint folder; if it is yours, copy the folder with: cp -rL",
            file=name,
        )
