# SPDX-License-Identifier: Apache-2.0
"""Locks of folders, between processes; without a file, so that none stays. They end with the process, too."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

_kept: dict[tuple[int, int], int] = {}  # by device and inode: descriptors that are open until this process ends


@contextlib.contextmanager
def locked(folder: Path, *, wait: bool = False) -> Iterator[bool]:
    """Whether a folder is locked by this process alone, until the end.

    False where another one has it and this one does not wait, and where there are no locks: on Windows and some network
    file systems.
    """
    with contextlib.ExitStack() as stack:
        alone = False
        with contextlib.suppress(ImportError, OSError):
            import fcntl

            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            stack.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            alone = True
        yield alone


def keep(folder: Path) -> None:
    """No process has the folder alone while this one, or one that was forked from it, lives; several may keep it."""
    with contextlib.suppress(ImportError, OSError):
        import fcntl

        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        found = os.fstat(descriptor)
        if _kept.setdefault((found.st_dev, found.st_ino), descriptor) != descriptor:
            os.close(descriptor)
            return
        fcntl.flock(descriptor, fcntl.LOCK_SH)
