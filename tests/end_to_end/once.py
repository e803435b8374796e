# SPDX-License-Identifier: Apache-2.0
"""Work that the workers of a test run share: who comes first does it, the others wait for it."""

from __future__ import annotations

import fcntl
import hashlib
from collections.abc import Callable
from pathlib import Path


def once(stamp: Path, key: str | bytes, make: Callable[[], object]) -> None:
    """Calls `make` unless that was done with this key before; `stamp` is the file that remembers it.

    What `make` raises is raised, and nothing remembered.
    """
    digest = hashlib.sha256(key.encode() if isinstance(key, str) else key).hexdigest()
    stamp.parent.mkdir(parents=True, exist_ok=True)
    with stamp.open("a+", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        if file.read() == digest:
            return
        file.truncate(0)
        make()
        file.write(digest)
