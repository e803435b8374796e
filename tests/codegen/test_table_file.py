# SPDX-License-Identifier: Apache-2.0
"""Tables of texts: the forms that the programs' --evaluate reads, and what it refuses."""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path

import pytest

from codegen.errors import EtchError
from codegen.table_file import Columns, read_table, split_rows


def rows_of(text: str, name: str = "a.csv") -> list[tuple[int, list[str]]]:
    return list(split_rows(text, Path(name)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("\n\r\n\n", []),
        ("a,b", [(1, ["a", "b"])]),
        ("a,b\n", [(1, ["a", "b"])]),
        ("a,\n,b\r\n", [(1, ["a", ""]), (2, ["", "b"])]),
        ("\na\n\nb\n", [(2, ["a"]), (4, ["b"])]),
        ('"a, ""b""\nc",d\ne,f', [(1, ['a, "b"\nc', "d"]), (3, ["e", "f"])]),
        ('""\n"",""', [(1, [""]), (2, ["", ""])]),
        ('a"b,c "d"', [(1, ['a"b', 'c "d"'])]),
        ("a\rb,c\r\r\nd,e", [(1, ["a\rb", "c\r"]), (2, ["d", "e"])]),
        ('"a"\r\n"b"', [(1, ["a"]), (2, ["b"])]),
    ],
)
def test_rows(text: str, expected: list[tuple[int, list[str]]]) -> None:
    assert rows_of(text) == expected


def test_rows_with_tabs_have_no_quotes() -> None:
    assert rows_of('"a\tb, c"\n', "a.tsv") == [(1, ['"a', 'b, c"'])]


def test_random_tables_as_pythons_csv_reads_them() -> None:
    source = random.Random(3)
    for _ in range(200):
        table = [["".join(source.choices('ab",\n é', k=source.randint(1, 6))) for _ in range(3)] for _ in range(5)]
        written = io.StringIO()
        csv.writer(written, lineterminator=source.choice(["\n", "\r\n"])).writerows(table)
        assert [fields for _, fields in rows_of(written.getvalue())] == table


def read(tmp_path: Path, text: str, columns: Columns, name: str = "a.csv") -> list[tuple[int, str, tuple[str, ...]]]:
    path = tmp_path / name
    path.write_bytes(text.encode())
    return [(row.line, row.value, row.texts) for row in read_table(path, columns)]


def test_columns(tmp_path: Path) -> None:
    text = "\ufeffclass,title,body\n3,t,b\n"
    assert read(tmp_path, text, Columns(header=True)) == [(2, "3", ("t", "b"))]
    assert read(tmp_path, text, Columns("class")) == [(2, "3", ("t", "b"))]
    assert read(tmp_path, text, Columns("2", ("3", "3"))) == [(1, "title", ("body", "body")), (2, "t", ("b", "b"))]
    assert read(tmp_path, text, Columns(texts=("body", "title"))) == [(2, "3", ("b", "t"))]


@pytest.mark.parametrize(
    ("code", "stage", "text", "columns", "message"),
    [
        ("table-empty", "evaluate", "\n\n", Columns(), "no rows"),
        ("table-empty", "evaluate", "a,b\n", Columns(header=True), "no rows"),
        ("table-malformed", "evaluate", "a,b\nc\n", Columns(), "line 2: 1 columns, the first row has 2"),
        ("table-malformed", "evaluate", 'a,b\n\n"c,d\n', Columns(), "line 3: a quote is opened and never closed"),
        ("table-malformed", "evaluate", 'a,"b\n"c', Columns(), "line 2: text between a closing quote"),
        ("column-unknown", "arguments", "a,b\n", Columns("3"), "there is no column 3"),
        ("column-unknown", "arguments", "a,b\n", Columns("0"), "there is no column 0"),
        ("column-unknown", "arguments", "a,b\n", Columns("c"), "no column is named 'c' in line 1"),
        ("column-unknown", "arguments", "a,b\n", Columns("a", header=False), "'a' is not a number"),
        ("column-unknown", "arguments", "a,b\n", Columns("1", ("2", "1")), "column 1 is the label's"),
        ("column-unknown", "arguments", "a\n", Columns(), "one column only"),
    ],
)
def test_refusals(tmp_path: Path, code: str, stage: str, text: str, columns: Columns, message: str) -> None:
    with pytest.raises(EtchError, match=message) as refused:
        read(tmp_path, text, columns)
    assert (refused.value.code, refused.value.stage) == (code, stage)


def test_files_refused(tmp_path: Path) -> None:
    for name, content, code in (("a.txt", b"a,b", "table-kind"), ("b.csv", b"\xff", "table-not-utf8")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(EtchError) as refused:
            read_table(tmp_path / name, Columns())
        assert refused.value.code == code
    with pytest.raises(EtchError) as refused:
        read_table(tmp_path / "none.csv", Columns())
    assert (refused.value.code, refused.value.file) == ("table-unreadable", "none.csv")
