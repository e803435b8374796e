# SPDX-License-Identifier: Apache-2.0
"""Refusals of this tool: the generator's exception with this tool's stage."""

from __future__ import annotations

from pathlib import Path

from codegen.errors import EtchError
from codegen.files.outside_files import NamedFile


def refused(code: str, message: str) -> EtchError:
    return EtchError(code, "report", message)


def text_of(path: Path) -> str:
    """The text of a file that a user names, or that lies beside one."""
    try:
        return NamedFile(path, "file", "report").read().decode("utf-8", "replace")
    except EtchError as error:
        raise refused("cannot-read", f"{path}: {error.message}") from error
