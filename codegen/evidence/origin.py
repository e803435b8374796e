# SPDX-License-Identifier: Apache-2.0
"""What a model was made of and by: what its page and its bill of materials say alike."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import __version__
from ..folders.manifest import TERMS_SUFFIX

PACKAGES = ("numpy", "tokenizers", "jinja2")  # that decide bytes


@dataclass(frozen=True)
class Origin:
    """As the generated folder and this machine have it."""

    manifest: Mapping[str, Any]  # etch.json
    inputs: Mapping[str, str]  # files and folders, with their digests
    versions: Mapping[str, str]  # of what makes the bytes
    licence: str | None  # of the checkpoint, where it says one


def origin_of(directory: Path, manifest: Mapping[str, Any], inputs: Mapping[str, str]) -> Origin:
    """Of a generated folder."""
    versions = {"etch": __version__, "Python": platform.python_version()}
    versions |= {name: importlib.metadata.version(name) for name in PACKAGES}
    terms = directory / f"{manifest['name']}{TERMS_SUFFIX}"
    licence = terms.read_text(encoding="utf-8") if terms.name in manifest["files"] else None
    return Origin(manifest, inputs, versions, licence)
