# SPDX-License-Identifier: Apache-2.0
"""Files of texts, one a line or a row of a table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..errors import EtchError
from .outside_files import MAX_BYTES, NamedFile
from .table_file import Columns, Echo, is_table, read_table


def texts_of(path: Path, stage: str, columns: Columns, echo: Echo = lambda _: None) -> Iterator[bytes]:
    """The joined text columns of a table's rows, or the lines of any other file."""
    if is_table(path):
        return (row.joined.encode() for row in read_table(path, columns, echo))
    return lines_of(path, stage)


def lines_of(path: Path, stage: str, limit: int = MAX_BYTES) -> Iterator[bytes]:
    """Bytes as they are, read as they are asked for. EtchError of `stage` where there is no line."""
    line = None
    for line in NamedFile(path, "texts", stage, limit).lines():
        yield line
    if line is None:
        raise EtchError("no-texts", stage, "the file is empty", file=path.name)


def read_lines(path: Path, stage: str, limit: int = MAX_BYTES) -> list[bytes]:
    """The same, all at once."""
    return list(lines_of(path, stage, limit))
