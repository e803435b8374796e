# SPDX-License-Identifier: Apache-2.0
"""--evaluate of the program over the stub model: tables in every spelling, columns, what labels are read as.

The stub answers with the number that a text begins with: here the truth is known without a model.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from classify_program import Program, build_stub
from stub_tables import NAMES, RED, accuracy, table


@pytest.fixture(scope="module")
def stub(stub_objects: Path) -> Program:
    return build_stub(stub_objects)


# --- csv and tsv ---------------------------------------------------------------------------------------------------


READABLE = {
    "plain": b"3,3 a\n4,4 b\n",
    "no line end at the end": b"3,3 a\n4,4 b",
    "CRLF": b"3,3 a\r\n4,4 b\r\n",
    "byte order mark": b"\xef\xbb\xbf3,3 a\n4,4 b\n",
    "quotes": b'"3","3 a"\n"4","4 b"\n',
    "quotes, CRLF, no end": b'"3","3 a"\r\n"4","4 b"',
    "commas and line ends in quotes": b'3,"3, a\n\nb\r\n"\n4,"4,"\n',
    "doubled quotes": b'3,"3 ""a"""\n4,"4 """""\n',
    "quotes in a bare field": b'3,3 "a" b"\n4,4 "\n',
    "empty lines": b"\n3,3 a\n\n\r\n4,4 b\n\n",
    "bytes of any kind": b"3,3 \0\xff\n4,4 \r \t\n",
    "backslashes": b'3,"3 \\"\n4,4 \\n\n',
    "a third column": b"3,3,x\n4,4,\n",
}


@pytest.mark.parametrize("content", READABLE.values(), ids=READABLE.keys())
def test_readable_csv(stub: Program, tmp_path: Path, content: bytes) -> None:
    outcome = stub.well("--evaluate", table(tmp_path, content), "--labels", "0")
    assert outcome.lines[0] == "accuracy: 100.00 %"
    assert outcome.lines[1].startswith("rows: 2, ")


def test_tsv_has_no_quoting(stub: Program, tmp_path: Path) -> None:
    path = table(tmp_path, b'3\t3 "a\tb"\r\n4\t4 ,""\t"\n', "rows.tsv")
    outcome = stub.well("--evaluate", path, "--labels", "0")
    assert outcome.lines[:2] == ["accuracy: 100.00 %", "rows: 2, mean tokens: 5.0, cut to 5 tokens: 0"]


MALFORMED = {
    "ragged": (b"1,a\n2,b,c\n", "line 2: 3 columns, the first row has 2"),
    "ragged after a long field": (b'1,"a\n\n\nb"\n2\n', "line 5: 1 columns, the first row has 2"),
    "ragged beyond the limit": (b"1,a\n1,a\n1\n", "line 3: 1 columns, the first row has 2"),
    "open quote": (b'1,a\n2,"b\n3,c\n', "line 2: a quote is opened and never closed"),
    "open quote at the end": (b'1,a\n2,"', "line 2: a quote is opened and never closed"),
    "text after a quote": (b'1,a\n2,"b\n"c\n', "line 3: text between a closing quote and the next comma"),
    "empty": (b"", "no rows"),
    "only a byte order mark": (b"\xef\xbb\xbf", "no rows"),
    "only empty lines": (b"\n\n", "no rows"),
    "unknown label": (b"1,a\n22,b\n23,c\n", "line 3: unknown label '23'; labels are read as numbers from 1 "),
    "unknown label, from 0": (b"0,a\n\n22,b\n", "line 3: unknown label '22'; labels are read as numbers from 0 "),
    "negative label": (b"0,a\n-1,b\n", "line 2: unknown label '-1'"),
    "unknown name": (b"zero,a\none,b\n", "line 2: unknown label 'one'; labels are read as names of the model's labels"),
    "hostile name": (b'zero,a\n"o\nn\x1be",b\n', "line 2: unknown label 'o\\nn\\x1be'; labels"),
    "a header": (b"label,text\n1,a\n", "line 1: unknown label 'label'; labels are read as numbers from 1 (no 0 occurs) "
                                       "(--header, if the first row names the columns)"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "message"), MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed_csv_is_named_with_its_line(stub: Program, tmp_path: Path, content: bytes, message: str) -> None:
    limit = ["--limit", "1"] if b"1,a\n1,a\n1\n" in content else []
    table(tmp_path, content)
    assert stub.refused(1, "--evaluate", "rows.csv", *limit, cwd=tmp_path).startswith(f"'rows.csv': {message}")


def test_a_header_alone_is_no_rows(stub: Program, tmp_path: Path) -> None:
    assert stub.refused(1, "--evaluate", table(tmp_path, b"label,text\n"), "--header").endswith("no rows")


# --- columns -------------------------------------------------------------------------------------------------------

NAMED = "id,text,more,label,2\n3,0 a,x,zero,4\n6,6 b,y,CAFé,0\n"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--label-column", "label", "--text-columns", "text"], "100.00"),
        (["--label-column", "4", "--text-columns", "2", "--header"], "100.00"),
        (["--label-column", "label", "--text-columns", "2"], "100.00"),  # a number, though a column is named 2
        (["--label-column", "label", "--text-columns", "5"], "0.00"),
        (["--label-column", "label", "--text-columns", "id,text"], "50.00"),
        (["--label-column", "label", "--text-columns", "text,id"], "100.00"),
        (["--label-column", "4", "--header"], "50.00"),  # the text begins with column 1
        (["--label-column=id", "--text-columns=text", "--labels=0"], "50.00"),
        (["--label-column=4", "--text-columns=id", "--labels=a,b,c,Zero,d,e,café" + "," * 15], "100.00"),
    ],
)
def test_columns_by_number_and_by_name(stub: Program, tmp_path: Path, options: list[str], expected: str) -> None:
    assert accuracy(stub.well("--evaluate", table(tmp_path, NAMED), *options).lines) == f"accuracy: {expected} %"


OBJECTS = '{"t": "6 \\u00e9\\ud83d\\ude00\\n", "id": 3, "y": "Caf\u00e9"}\n\n{"y": "zero","id":-1.5e3,"t":"0"}\r\n'


def test_rows_of_objects(stub: Program, tmp_path: Path) -> None:
    path = table(tmp_path, OBJECTS, "rows.jsonl")
    outcome = stub.well("--evaluate", path, "--label-column", "y", "--text-columns", "t")
    assert outcome.lines[:2] == ["accuracy: 100.00 %", "rows: 2, mean tokens: 3.5, cut to 5 tokens: 0"]
    outcome = stub.well("--evaluate", path, "--label-column", "3", "--text-columns", "2", "--limit", "1")
    assert accuracy(outcome.lines) == "accuracy: 0.00 %"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"a": 1, "b": 2}\n{"a": 1}\n', "line 2: there is no 'b', which the first object has"),
        ('{"a": 1, "b": 2}\n{"a": 1, "b": 2, "c": 3}', "line 2: there is a 'c', which the first object has not"),
        ('{"a": 1, "a": 2}\n', "line 1: 'a' is there twice"),
        ('{"a": true, "b": 2}', "line 1: 'a' is no string, number or array of them"),
        ('{"a": [[1]], "b": 2}', "line 1: 'a' is no string, number or array of them"),
        ('{"a": 1', "line 1: this is not a JSON object"),
        ('{"a": 1, "b": 01}', "line 1: this is not a JSON object"),
        ('{"a": "\\x", "b": 1}', "line 1: this is not a JSON object"),
        ('{"a": "\t", "b": 1}', "line 1: this is not a JSON object"),
        ('{"a": 1, "b": 1} x', "line 1: this is not a JSON object"),
        ('{"a": true, "b": 1-2}', "line 1: this is not a JSON object"),
        ("[1]", "line 1: this is not a JSON object"),
        ("\n{}", "line 2: this is not a JSON object"),
    ],
)
def test_objects_refused(stub: Program, tmp_path: Path, content: str, message: str) -> None:
    table(tmp_path, content, "rows.jsonl")
    assert stub.refused(1, "--evaluate", "rows.jsonl", cwd=tmp_path) == f"'rows.jsonl': {message}"


def test_a_name_that_is_there_twice_is_no_column(stub: Program, tmp_path: Path) -> None:
    path = table(tmp_path, '{"a": 1, "b": 2, "a": 3}', "rows.jsonl")
    assert stub.refused(1, "--evaluate", path, "--label-column", "a").endswith("line 1: 'a' is there twice")


def test_tables_refused_by_name(stub: Program) -> None:
    words = "--evaluate: 'rows.csv.gz' is compressed: `gunzip -k` it and name what that writes"
    assert stub.refused(2, "--evaluate", "rows.csv.gz") == words
    words = "--evaluate: expected a file named .csv, .tsv or .jsonl, got 'rows.txt'"
    assert stub.refused(2, "--evaluate", "rows.txt") == words


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--label-column", "0"], "--label-column: there is no column '0', the file has 5"),
        (["--label-column", "6"], "--label-column: there is no column '6', the file has 5"),
        (["--label-column", "Label"], "--label-column: no column is named 'Label' in line 1"),
        (["--label-column", ""], "--label-column: no column is named '' in line 1"),
        (["--text-columns", "text,"], "--text-columns: no column is named '' in line 1"),
        (["--text-columns", "2,9"], "--text-columns: there is no column '9', the file has 5"),
        (["--text-columns", "text,nothing"], "--text-columns: no column is named 'nothing' in line 1"),
        (["--text-columns", "1,2"], "--text-columns: column 1 is the label's"),
        (["--text-columns", "2,3,text"], "--text-columns: column 2 is named twice"),
        (["--label-column", "label", "--no-header"], "--no-header: column 'label' is not a number"),
        (["--header", "--label-column", "4", "--labels", "a,b"], "--labels: expected 0, 1, names or 22 names "),
        (["--header", "--label-column", "4", "--labels", "2"], "--labels: expected 0, 1, names or 22 names"),
    ],
)
def test_columns_that_are_not_there(stub: Program, tmp_path: Path, options: list[str], message: str) -> None:
    assert stub.refused(2, "--evaluate", table(tmp_path, NAMED), *options).startswith(message)


@pytest.mark.parametrize("option", ["--label-column", "--text-columns"])
def test_a_name_that_two_columns_have_is_refused(stub: Program, tmp_path: Path, option: str) -> None:
    path = table(tmp_path, "a,b,b,b\n0,1,2,3\n")
    assert stub.refused(2, "--evaluate", path, option, "b") == f"{option}: 3 columns are named 'b' in line 1"
    assert accuracy(stub.well("--evaluate", path, "--label-column", "a", "--labels=0").lines)


def test_more_than_a_thousand_columns_are_refused(stub: Program, tmp_path: Path) -> None:
    path = table(tmp_path, "0" + ",1" * 999 + "\n")
    assert accuracy(stub.well("--evaluate", path, "--labels=0").lines)
    path = table(tmp_path, "," * 50_000_000)
    message = f"{str(path)!r}: line 1: there are more than 1000 columns"
    assert stub.refused(1, "--evaluate", path) == message


def test_a_table_of_one_column_is_refused(stub: Program, tmp_path: Path) -> None:
    assert "one column only" in stub.refused(2, "--evaluate", table(tmp_path, "1;a\n2;b\n"))


# --- label values --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "options", "reading", "percent"),
    [
        ("1,0\n22,21\n", [], "numbers from 1 (no 0 occurs)", "100.00"),
        ("1,1\n0,0\n21,21\n", [], "numbers from 0 (a 0 occurs)", "100.00"),
        ("1,1\n1,1\n0,0\n", ["--limit", "2"], "numbers from 0 (a 0 occurs)", "100.00"),
        ("1,1\n2,1\n", ["--labels", "0"], "numbers from 0", "50.00"),
        ("1,1\n2,1\n", ["--labels", "1"], "numbers from 1", "50.00"),
        ("ZERO,0\nCAF\u00e9,6\n", [], "names of the model's labels", "100.00"),
        ("Case,7\ncase,8\nCASE,7\n", [], "names of the model's labels", "100.00"),  # exact first
        ("9,9\n", [], "names of the model's labels", "100.00"),
        ("22,21\n1,0\n", [], "numbers from 1 (no 0 occurs)", "100.00"),
        ("9,9\n", ["--labels=names"], "names of the model's labels", "100.00"),
        ("b,1\nC,2\n", ["--labels=a,b,c" + "," * 19], "the names given", "100.00"),
    ],
)
def test_label_values(
    stub: Program, tmp_path: Path, *, rows: str, options: list[str], reading: str, percent: str
) -> None:
    outcome = stub.well("--evaluate", table(tmp_path, rows), *options)
    assert outcome.err == f"classify-stub: labels read as {reading}\n"
    assert accuracy(outcome.lines) == f"accuracy: {percent} %"


def test_labels_that_can_be_read_two_ways_are_asked_for(stub: Program, tmp_path: Path) -> None:
    words = "--evaluate: the labels are numbers below 22, from 0 or from 1: say --labels 0 or 1"
    assert stub.refused(2, "--evaluate", table(tmp_path, "8,8\n1,0\n")) == words


def test_labels_of_any_bytes_are_found_by_name(stub: Program, tmp_path: Path) -> None:
    rows = [b'"%s",%d' % (name.replace(b'"', b'""'), i) for i, name in enumerate(NAMES)]
    outcome = stub.well("--evaluate", table(tmp_path, b"\r\n".join(rows)), "--labels", "names")
    assert accuracy(outcome.lines) == "accuracy: 100.00 %"


def test_many_labels_are_listed_and_not_drawn_as_a_matrix(stub: Program, tmp_path: Path) -> None:
    outcome = stub.well("--evaluate", table(tmp_path, "0,0\n0,4\n0,4\n0,4 b c d\n4,4\n"), "--labels", "0")
    assert outcome.lines[:2] == ["accuracy: 40.00 %", "rows: 5, mean tokens: 3.4, cut to 5 tokens: 1"]
    title = "confusion: true label, answer, count, per cent of the true label"
    listed = outcome.lines[outcome.lines.index(title) + 1 :]
    assert [line.split() for line in listed] == [
        ["zero", RED, "3", "75.00"],
        ["zero", "zero", "1", "25.00"],
        [RED, RED, "1", "100.00"],
    ]
    classes = {line[:16].strip(): line[16:].split() for line in outcome.lines[4:15]}
    assert classes["zero"] == ["100.00", "25.00", "40.00", "4"]
    assert classes[RED] == ["25.00", "100.00", "40.00", "1"]
    assert classes["café"] == ["-", "-", "-", "0"]
