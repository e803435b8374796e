# SPDX-License-Identifier: Apache-2.0
"""Where compiled runtimes are kept for later builds; runtime/cmake/runtime_cache.cmake says what an entry is.

`ETCH_CACHE` names the folder, or is `off`; without it `etch` in `$XDG_CACHE_HOME` or `~/.cache`. Nobody else may write
there: what lies in it is linked into programs.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import time
from collections.abc import Callable
from pathlib import Path

VARIABLE = "ETCH_CACHE"
OFF = "off"
_MAX_AGE = 60 * 24 * 3600  # seconds since an entry was used last
_USABLE = re.compile(r"[\w/.,+@=:~ -]+")  # in the lists of CMake


def runtime_cache(echo: Callable[[str], None]) -> Path | None:
    """The folder, made where it is missing, without entries that nothing uses any more. None where the user wants none,
    or where it is not fit, which `echo` is told: a build goes on without."""
    wanted = _folder()
    if wanted is None:
        return None
    try:
        wanted.mkdir(mode=0o700, parents=True, exist_ok=True)
        unfit = _unfit(wanted)
        if unfit is None:
            _drop_old(wanted)
    except OSError as error:
        unfit = error.strerror or type(error).__name__
    if unfit is not None:
        echo(f"the runtime is compiled anew: {wanted}: {unfit} ({VARIABLE} names another folder)")
        return None
    return wanted


def _folder() -> Path | None:
    said = os.environ.get(VARIABLE, "")
    if said:
        return None if said == OFF else Path(said).absolute() / "runtime"
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not base.is_absolute():  # such a one is to be ignored, says the XDG specification
        try:
            base = Path.home() / ".cache"
        except RuntimeError:  # no home
            return None
    return base / "etch" / "runtime"


def _unfit(folder: Path) -> str | None:
    """Why a folder that exists cannot be used."""
    if not _USABLE.fullmatch(str(folder)):
        return "CMake has other uses for characters of this path"
    found = folder.stat()
    if found.st_uid != os.geteuid():
        return "it belongs to another user"
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "others may write there"
    if not os.access(folder, os.W_OK | os.X_OK):
        return "it cannot be written"
    return None


def _drop_old(folder: Path) -> None:
    """Removes entries whose lock, touched by each build that uses it, is old."""
    for lock in folder.glob("*.lock"):
        if lock.stat().st_mtime < time.time() - _MAX_AGE:
            for path in folder.glob(f"{lock.stem}*"):
                if path != lock:
                    shutil.rmtree(path, ignore_errors=True)
            lock.unlink(missing_ok=True)
