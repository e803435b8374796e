# SPDX-License-Identifier: Apache-2.0
"""Rows of a csv or tsv file, plain or .gz, read as the programs' `--evaluate` reads them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from common.refusal import Refused
from settings import Columns

from codegen.errors import EtchError
from codegen.files.outside_files import COMPRESSED, NamedFile
from codegen.files.table_file import split_rows


@dataclass(frozen=True)
class Record:
    """One row: its texts, what its label column says, and its line for messages."""

    line: int
    texts: tuple[str, ...]
    label: str


@dataclass(frozen=True)
class Table:
    """A labelled file."""

    name: str
    digest: str  # SHA-256 of the file, unpacked
    label_name: str  # the label column's, or "" where the file has no header
    records: list[Record]


def read_table(path: Path, columns: Columns) -> Table:
    """Every row, in the file's order."""
    name = path.name
    try:
        raw = NamedFile(path, "table", "finetune").read()
    except EtchError as error:
        raise Refused(f"{name}: {error.message}") from None
    rows = _rows(path, raw)
    if not rows:
        raise Refused(f"{name}: no rows")
    width = len(rows[0][1])
    for line, fields in rows:
        if len(fields) != width:
            raise Refused(f"{name}: line {line}: {len(fields)} columns, the first row has {width}")
    label = _find(name, columns.label, rows[0][1])
    texts = [_find(name, column, rows[0][1]) for column in columns.texts]
    if label in texts or len(set(texts)) != len(texts):
        raise Refused(f"{name}: label and texts must be different columns")
    label_name = rows[0][1][label] if columns.header else ""
    records = [_record(name, line, fields, texts, label, columns.pairs) for line, fields in rows[columns.header :]]
    if not records:
        raise Refused(f"{name}: no rows below the header")
    return Table(name, hashlib.sha256(raw).hexdigest(), label_name, records)


def _rows(path: Path, raw: bytes) -> list[tuple[int, list[str]]]:
    name = path.name
    if not name.removesuffix(COMPRESSED).endswith((".csv", ".tsv")):
        raise Refused(f"{name}: expected a file named .csv, .tsv, .csv.gz or .tsv.gz")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise Refused(f"{name}: line {line}: not UTF-8") from None
    try:
        return list(split_rows(text, path))
    except EtchError as error:
        raise Refused(f"{name}: {error.message}") from None


def _find(name: str, column: str, first: list[str]) -> int:
    if column.isascii() and column.isdigit():
        if not 1 <= int(column) <= len(first):
            raise Refused(f"{name}: there is no column {column}, the file has {len(first)}")
        return int(column) - 1
    if first.count(column) != 1:
        problem = "two columns are" if column in first else "no column is"
        raise Refused(f"{name}: {problem} named '{column}'; line 1 names {', '.join(first)[:200]}")
    return first.index(column)


def _record(name: str, line: int, fields: list[str], texts: list[int], label: int, pairs: bool) -> Record:
    chosen = tuple(fields[i] for i in texts)
    for column, text in zip(texts, chosen, strict=True):
        if not text.strip():
            raise Refused(f"{name}: line {line}: column {column + 1} holds no text")
    return Record(line, chosen if pairs else (" ".join(chosen),), fields[label])
