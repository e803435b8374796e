# SPDX-License-Identifier: Apache-2.0
"""A .csv or .tsv file of texts with a label or a score each, read as the programs' --evaluate reads it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .errors import EtchError

STAGE = "evaluate"
ENDINGS = (".csv", ".tsv")


@dataclass(frozen=True)
class Columns:
    """Numbers from 1, or names, which imply a header."""

    label: str = "1"
    texts: tuple[str, ...] | None = None  # every other column where None
    header: bool | None = None

    @property
    def has_header(self) -> bool:
        named = [column for column in (self.label, *(self.texts or ())) if not _is_number(column)]
        if named and self.header is False:
            raise EtchError("column-unknown", "arguments", f"--no-header: column '{named[0]}' is not a number")
        return bool(named) if self.header is None else self.header


@dataclass(frozen=True)
class Row:
    line: int  # of the file, from 1
    value: str  # of the label column
    texts: tuple[str, ...]

    @property
    def joined(self) -> str:
        return " ".join(self.texts)


def read_table(path: Path, columns: Columns) -> list[Row]:
    """All rows, at least one, all of the same number of columns."""
    if path.suffix not in ENDINGS:
        raise EtchError("table-kind", "arguments", f"expected a file named .csv or .tsv, got '{path.name}'")
    has_header = columns.has_header
    rows: list[Row] = []
    width = 0
    label, texts = 0, [0]
    for line, fields in split_rows(read_text(path), path):
        if width == 0:
            width = len(fields)
            label, texts = _places(columns, fields, line)
            if has_header:
                continue
        if len(fields) != width:
            raise refused(path, line, f"{len(fields)} columns, the first row has {width}")
        rows.append(Row(line, fields[label], tuple(fields[i] for i in texts)))
    if not rows:
        raise EtchError("table-empty", STAGE, "no rows", file=path.name)
    return rows


def read_text(path: Path) -> str:
    """A file's text, without a byte order mark."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise EtchError("table-unreadable", STAGE, error.strerror or str(error), file=path.name) from error
    except UnicodeDecodeError as error:
        message = f"not UTF-8: {error.reason} at byte {error.start}"
        raise EtchError("table-not-utf8", STAGE, message, file=path.name) from None


def split_rows(text: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Line and fields of each row; empty lines are no rows. Only .csv has quotes, doubled inside."""
    separator, has_quotes = (",", True) if path.suffix == ".csv" else ("\t", False)
    at, line = 0, 1
    while at < len(text):
        if size := _line_end(text, at):
            at, line = at + size, line + 1
            continue
        begin = line
        fields: list[str] = []
        while True:
            if has_quotes and text.startswith('"', at):
                field, at = _quoted(text, at, path, line)
                line += field.count("\n")
                if at < len(text) and text[at] != separator and not _line_end(text, at):
                    raise refused(path, line, "text between a closing quote and the next comma")
            else:
                end = _bare_end(text, at, separator)
                field, at = text[at:end], end
            fields.append(field)
            if not text.startswith(separator, at):
                break
            at += 1
        yield begin, fields
        size = _line_end(text, at)
        at, line = at + size, line + (size > 0)


def refused(path: Path, line: int, problem: str) -> EtchError:
    return EtchError("table-malformed", STAGE, f"line {line}: {problem}", file=path.name)


def _quoted(text: str, at: int, path: Path, line: int) -> tuple[str, int]:
    """The field that begins with the quote at `at`, and what follows its closing quote."""
    begin = at + 1
    while True:
        end = text.find('"', at + 1)
        if end < 0:
            raise refused(path, line, "a quote is opened and never closed")
        if not text.startswith('"', end + 1):
            return text[begin:end].replace('""', '"'), end + 1
        at = end + 1


def _bare_end(text: str, at: int, separator: str) -> int:
    line_feed = text.find("\n", at)
    end = len(text) if line_feed < 0 else line_feed - text.startswith("\r", line_feed - 1) * (line_feed > at)
    comma = text.find(separator, at, end)
    return end if comma < 0 else comma


def _line_end(text: str, at: int) -> int:
    return 1 if text.startswith("\n", at) else 2 if text.startswith("\r\n", at) else 0


def _is_number(column: str) -> bool:
    return column.isascii() and column.isdigit() and len(column) <= 18


def _places(columns: Columns, first: list[str], line: int) -> tuple[int, list[int]]:
    """Of the label and of the texts, from 0."""

    def place(option: str, column: str) -> int:
        if _is_number(column):
            if 1 <= int(column) <= len(first):
                return int(column) - 1
            message = f"{option}: there is no column {column}, the file has {len(first)}"
        elif column in first:
            return first.index(column)
        else:
            message = f"{option}: no column is named '{column}' in line {line}"
        raise EtchError("column-unknown", "arguments", message)

    label = place("--label-column", columns.label)
    if columns.texts is None:
        texts = [i for i in range(len(first)) if i != label]
    else:
        texts = [place("--text-columns", column) for column in columns.texts]
    if label in texts:
        raise EtchError("column-unknown", "arguments", f"--text-columns: column {label + 1} is the label's")
    if not texts:
        raise EtchError("column-unknown", "arguments", "the table has one column only, expected a label and a text")
    return label, texts
