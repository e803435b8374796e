# SPDX-License-Identifier: Apache-2.0
"""Reads etch.json, which says what made a generated folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .errors import EtchError

MANIFEST = "etch.json"
_FIELDS = ("generator", "abi", "name", "task", "recipe", "target", "checkpoint_sha256", "max_tokens", "files")


def id_set(ids: tuple[int, ...]) -> str:
    """Ids as bits, from the lowest on, in hexadecimal digits."""
    bits = bytearray(max(ids) // 8 + 1)
    for i in ids:
        bits[i // 8] |= 1 << i % 8
    return f"{int.from_bytes(bits, 'little'):x}"


def ids_of(text: str) -> tuple[int, ...]:
    """The ids of `id_set`."""
    return tuple(i for i, bit in enumerate(reversed(f"{int(text, 16):b}")) if bit == "1")


def read_manifest(directory: Path, stage: str = "verify") -> dict[str, Any]:
    """The manifest of a generated folder; EtchError of `stage` where it is none."""
    path = directory / MANIFEST
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise EtchError(
            "not-generated", stage, f"{directory} is not a folder that etch generated", file=MANIFEST
        ) from error
    if not isinstance(content, dict) or any(field not in content for field in _FIELDS):
        raise EtchError("not-generated", stage, "fields are missing: generate the folder again", file=MANIFEST)
    return content
