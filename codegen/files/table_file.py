# SPDX-License-Identifier: Apache-2.0
"""A .csv, .tsv or .jsonl file of texts with a label or a score each, read as the programs' --evaluate reads
it; here .gz, too."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import EtchError, printable
from .json_rows import split_objects
from .outside_files import COMPRESSED, NamedFile

STAGE = "evaluate"
ENDINGS = (".csv", ".tsv", ".jsonl")
Echo = Callable[[str], None]
MAX_COLUMNS = 1000
MAX_ROWS = 1_000_000
_SHOWN, _MOST_SHOWN = 40, 12  # characters of a name, columns
_ENDS = {separator: re.compile(f"[{separator}\n]") for separator in ",\t"}


@dataclass(frozen=True)
class Columns:
    """Numbers from 1, or names, which imply a header."""

    label: str | None = "1"  # None: rows have none
    texts: tuple[str, ...] | None = None  # every other column where None
    header: bool | None = None
    labels: str | None = None  # how the label column is read: 0, 1, names; tasks.columns finds it out where None

    @property
    def has_header(self) -> bool:
        given = (*(() if self.label is None else (self.label,)), *(self.texts or ()))
        named = [column for column in given if not _is_number(column)]
        if named and self.header is False:
            raise EtchError("column-unknown", "arguments", f"--no-header: column '{named[0]}' is not a number")
        return bool(named) if self.header is None else self.header


@dataclass(frozen=True)
class Row:
    line: int  # of the file, from 1
    value: str  # of the label column
    texts: tuple[str, ...]

    @property
    def pair(self) -> tuple[str, str]:
        first, second = self.texts
        return first, second

    @property
    def joined(self) -> str:
        return " ".join(self.texts)


def is_table(path: Path) -> bool:
    """By its name, in whatever case: read_table refuses capitals, as --evaluate of the programs does, and such a table
    must not be taken for lines of text."""
    return _kind(Path(path.name.lower())) in ENDINGS


def _kind(path: Path) -> str:
    return Path(path.stem).suffix if path.suffix == COMPRESSED else path.suffix


def read_table(path: Path, columns: Columns, echo: Echo = lambda _: None) -> list[Row]:
    """All rows, at least one, all of the same number of columns; `echo` is told which columns there are and which are
    used."""
    kind = _kind(path)
    if kind not in ENDINGS:
        raise EtchError("table-kind", "arguments", f"expected a file named .csv, .tsv or .jsonl, got '{path.name}'")
    if kind == ".jsonl" and columns.header is not None:
        message = f"--header and --no-header are not for {path.name}: its rows say the names"
        raise EtchError("column-unknown", "arguments", message)
    has_header = columns.has_header or kind == ".jsonl"
    rows: list[Row] = []
    width = 0
    label, texts = None, [0]
    text = NamedFile(path, "table", STAGE).text()
    for line, fields in split_objects(text, path) if kind == ".jsonl" else split_rows(text, path):
        if width == 0:
            width = len(fields)
            label, texts = _places(columns, fields, line, path)
            echo(_told(path, fields if has_header else None, width, label, texts))
            if has_header:
                continue
        if len(fields) != width:
            raise refused(path, line, f"{len(fields)} columns, the first row has {width}")
        if len(rows) == MAX_ROWS:
            raise refused(path, line, f"there are more than {MAX_ROWS} rows, the most that are read")
        rows.append(Row(line, "" if label is None else fields[label], tuple(fields[i] for i in texts)))
    if not rows:
        raise EtchError("table-empty", STAGE, "no rows", file=path.name)
    return rows


def split_rows(text: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Line and fields of each row; empty lines are no rows. Only .csv has quotes, doubled inside."""
    separator, has_quotes = (",", True) if _kind(path) == ".csv" else ("\t", False)
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
            if len(fields) > MAX_COLUMNS:
                raise refused(path, begin, f"there are more than {MAX_COLUMNS} columns, the most that are read")
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
    """Where the separator or the line end is that ends the field at `at`."""
    found = _ENDS[separator].search(text, at)
    if found is None:
        return len(text)
    end = found.start()
    return end - 1 if end > at and text[end] == "\n" and text[end - 1] == "\r" else end


def _line_end(text: str, at: int) -> int:
    return 1 if text.startswith("\n", at) else 2 if text.startswith("\r\n", at) else 0


def _is_number(column: str) -> bool:
    return column.isascii() and column.isdigit() and len(column) <= 18


def _named(first: Sequence[str]) -> str:
    """The columns of a row as a message lists them."""
    shown = [f"{i} '{printable(name, _SHOWN)}'" for i, name in enumerate(first[:_MOST_SHOWN], 1)]
    return ", ".join(shown) + (", …" if len(first) > _MOST_SHOWN else "")


def _told(path: Path, names: Sequence[str] | None, width: int, label: int | None, texts: Sequence[int]) -> str:
    def named(i: int) -> str:
        return f"{i + 1}" if names is None else f"{i + 1} '{printable(names[i], _SHOWN)}'"

    unused = [i for i in range(width) if i != label and i not in texts]
    parts = [] if label is None else [f"label {named(label)}"]
    parts.append("text " + ", ".join(named(i) for i in texts))
    parts += ["not used " + ", ".join(named(i) for i in unused[:_MOST_SHOWN])] if unused else []
    return f"table        {printable(path.name, 60)}: {'; '.join(parts)}"


def _places(columns: Columns, first: list[str], line: int, path: Path) -> tuple[int | None, list[int]]:
    """Of the label and of the texts, from 0."""

    def refuse(message: str) -> EtchError:
        return EtchError("column-unknown", "arguments", message, file=path.name)

    def place(option: str, column: str) -> int:
        if _is_number(column):
            if 1 <= int(column) <= len(first):
                return int(column) - 1
            raise refuse(f"{option}: there is no column {column}, the file has {len(first)}: {_named(first)}")
        if column not in first:
            raise refuse(f"{option}: no column is named '{column}' in line {line}, which has {_named(first)}")
        if first.count(column) > 1:
            raise EtchError(
                "column-twice",
                "arguments",
                f"{option}: {first.count(column)} columns are named '{column}' in line {line}",
                file=path.name,
            )
        return first.index(column)

    label = None if columns.label is None else place("--label-column", columns.label)
    if columns.texts is None:
        texts = [i for i in range(len(first)) if i != label]
    else:
        texts = [place("--text-columns", column) for column in columns.texts]
    if label is not None and label in texts:
        raise refuse(f"--text-columns: column {label + 1} is the label's")
    twice = next((column for i, column in enumerate(texts) if column in texts[:i]), None)
    if twice is not None:
        message = f"--text-columns: column {twice + 1} is named twice"
        raise EtchError("column-twice", "arguments", message, file=path.name)
    if not texts:
        message = "the table has one column only, expected a label and a text"
        raise refuse(f"{message}; columns are split by commas, in .tsv by tabs")
    return label, texts
