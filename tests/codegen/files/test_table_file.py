# SPDX-License-Identifier: Apache-2.0
"""Tables of texts: the forms that the programs' --evaluate reads, and what it refuses."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
from pathlib import Path

import pytest

from codegen.errors import EtchError
from codegen.files.table_file import Columns, read_table, split_rows
from codegen.files.texts import texts_of
from codegen.vocabulary.pruning import read_corpus


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
    assert read(tmp_path, text, Columns("2", ("3", "1"))) == [(1, "title", ("body", "class")), (2, "t", ("b", "3"))]
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
        (
            "column-unknown",
            "arguments",
            "a\n",
            Columns(),
            "one column only, expected a label and a text; columns are split by commas",
        ),
        ("column-twice", "arguments", "a,b,b\n1,2,3\n", Columns("a", ("b",)), "2 columns are named 'b' in line 1"),
        ("column-twice", "arguments", "a,a,b\n1,2,3\n", Columns("a"), "--label-column: 2 columns are named 'a'"),
        ("column-twice", "arguments", "a,b,c\n", Columns("1", ("3", "3")), "--text-columns: column 3 is named twice"),
        ("column-twice", "arguments", "a,b,c\n", Columns("a", ("b", "2")), "--text-columns: column 2 is named twice"),
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


def test_rows_of_objects(tmp_path: Path) -> None:
    text = '{"y": 1, "t": "a\\n\\u00e9", "u": 2.50}\n\n {"u": "", "y": ["p", 3], "t": "\\ud83d\\ude00\\ud800"}\r\n'
    assert read(tmp_path, text, Columns("y"), "a.jsonl") == [
        (1, "1", ("a\n\u00e9", "2.50")),
        (3, "p;3", ("\U0001f600\ufffd", "")),
    ]
    assert read(tmp_path, text, Columns("3", ("t",)), "a.jsonl")[0] == (1, "2.50", ("a\n\u00e9",))
    assert read(tmp_path, text, Columns(None, ("y",)), "a.jsonl")[0] == (1, "", ("1",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1, "b": 2}\n{"a": 1}\n', "line 2: there is no 'b', which the first object has"),
        ('{"a": 1, "b": 2}\n{"a": 1, "b": 2, "c": 3}', "line 2: there is a 'c', which the first object has not"),
        ('{"a": 1, "a": 2}\n', "line 1: 'a' is there twice"),
        ('{"a": NaN}', "line 1: NaN is not JSON"),
        ('{"a": true, "b": 2}', "line 1: 'a' is no string, number or array of them"),
        ('{"a": [[1]], "b": 2}', "line 1: 'a' is no string, number or array of them"),
        ('{"a": 1', "line 1: this is not a JSON object"),
        ("[1]", "line 1: this is not a JSON object with names"),
        ("{}", "line 1: this is not a JSON object with names"),
        ("[" * 100000, "line 1: this is not a JSON object"),
        (json.dumps({str(i): i for i in range(1001)}), "line 1: there are more than 1000 names"),
    ],
)
def test_objects_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(EtchError) as refused:
        read(tmp_path, text, Columns(), "a.jsonl")
    assert (refused.value.code, refused.value.file) == ("table-malformed", "a.jsonl")
    assert refused.value.message.startswith(message)


def test_objects_have_no_header(tmp_path: Path) -> None:
    with pytest.raises(EtchError, match="--header and --no-header are not for"):
        read(tmp_path, '{"a": 1, "b": 2}', Columns(header=True), "a.jsonl")


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl"])
def test_compressed_tables(tmp_path: Path, name: str) -> None:
    text = {"a.csv": "1,t\n", "a.tsv": "1\tt\n", "a.jsonl": '{"y": 1, "x": "t"}'}[name]
    path = tmp_path / f"{name}.gz"
    path.write_bytes(gzip.compress(text.encode()))
    assert [(row.value, row.texts) for row in read_table(path, Columns())] == [("1", ("t",))]
    for damaged in (path.read_bytes()[:-9], text.encode(), path.read_bytes()[:15] + b"\xff" * 40):
        path.write_bytes(damaged)
        with pytest.raises(EtchError) as refused:
            read_table(path, Columns())
        assert (refused.value.code, refused.value.file) == ("table-damaged", path.name)


def test_a_compressed_table_has_a_largest_size(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"1,a\n" * (65 << 20)))
    with pytest.raises(EtchError) as refused:
        read_table(path, Columns())
    assert refused.value.code == "table-too-large"


def test_what_is_used_is_told(tmp_path: Path) -> None:
    told: list[str] = []
    (tmp_path / "a.csv").write_text("y,t,u,id\n1,a,b,7\n")
    read_table(tmp_path / "a.csv", Columns("y", ("t", "u")), told.append)
    read_table(tmp_path / "a.csv", Columns("2"), told.append)
    assert told == [
        "table        a.csv: label 1 'y'; text 2 't', 3 'u'; not used 4 'id'",
        "table        a.csv: label 2; text 1, 3, 4",
    ]
    with pytest.raises(EtchError) as refused:
        read_table(tmp_path / "a.csv", Columns("label"))
    assert str(refused.value) == (
        "error[column-unknown] arguments: a.csv: --label-column: no column is named 'label' in line 1, which has "
        "1 'y', 2 't', 3 'u', 4 'id'"
    )


@pytest.mark.parametrize("name", ["J.CSV", "j.Tsv", "j.JSONL", "j.csv.GZ", "j.CSV.gz"])
def test_a_table_by_capitals_is_refused_and_not_read_as_lines(name: str, tmp_path: Path) -> None:
    """As --evaluate of the programs refuses it."""
    (tmp_path / name).write_bytes(b"0,a\n")
    for read in (read_corpus, lambda path, columns: list(texts_of(path, "calibration", columns))):
        with pytest.raises(EtchError) as error:
            read(tmp_path / name, Columns())
        assert error.value.code == "table-kind"
