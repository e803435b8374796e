# SPDX-License-Identifier: Apache-2.0
"""The program over a model with everything unusual (stub_model), under sanitizers. Needs a compiler, no build.

The stub answers with the number that a text begins with: here the truth is known without a model.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from classify_program import Program, build_stub

# As in stub.hpp; the others have no name.
NAMES = [
    b"zero", b'a"b\\c', b"new\nline\ttab", b"nul\0nul", b"\x1b[31mred", b"bad \xff\xc3", b"caf\xc3\xa9",
    b"Case", b"case", b"9",
    b"\xed\xa0\x80|\xc0\xaf|\xe0\x9f\xbf|\xf4\x90\x80\x80|\xf0\x9f\x98|\xf0\x9f\x98\x80\xe2\x82",
    "\u202etxt.exe\u2066 \u200b\U000e0041 \u200d".encode(),
]  # fmt: skip
LABELS = [*(name.decode("utf-8", "replace") for name in NAMES), *[""] * 10]
RED = "\\x1b[31mred"


@pytest.fixture(scope="module")
def stub(stub_objects: Path) -> Program:
    return build_stub(stub_objects)


@pytest.fixture(scope="module")
def stub_of_pairs(stub_objects: Path) -> Program:
    return build_stub(stub_objects, "-DSTUB_PAIRS")


def table(folder: Path, content: bytes | str, name: str = "rows.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


# --- output of any bytes -------------------------------------------------------------------------------------------


def test_labels_of_any_bytes_are_valid_json(stub: Program) -> None:
    outcome = stub.well("--json", *(str(i) for i in range(len(LABELS))))
    assert [answer["label"] for answer in outcome.objects] == LABELS
    assert b"\x1b" not in outcome.out
    start = '{"label": "bad \ufffd\ufffd", "probability": 0.999999881, "logits": [-0.100000001, '
    assert outcome.lines[5].startswith(start)
    assert ", 1.00000001e-07, " in outcome.lines[5]


def test_labels_of_any_bytes_stay_on_one_printable_line(stub: Program) -> None:
    assert [line.split("\t")[0] for line in stub.well(*(str(i) for i in range(10))).lines] == [
        "zero", 'a"b\\c', "new\\nline\\ttab", "nul\\x00nul", RED, "bad \ufffd\ufffd", "café", "Case", "case", "9",
    ]  # fmt: skip
    assert stub.well("--top", "3", "4").lines == [f'{RED}\t1.0000\tzero\t0.0000\ta"b\\c\t0.0000']
    assert len(stub.well("--top", "99", "4").lines[0].split("\t")) == 2 * len(LABELS)
    assert "\x1b" not in stub.well("--help").out.decode()


def test_what_a_terminal_would_show_otherwise_is_escaped(stub: Program, tmp_path: Path) -> None:
    """Bidi controls, characters without width, tags; not the joiner, which words are written with."""
    shown = "\\u202etxt.exe\\u2066 \\u200b\\U000e0041 \u200d"
    assert stub.well("11").lines[0].split("\t")[0] == shown
    assert shown in stub.well("--help").out.decode()
    cells = stub.well("--evaluate", table(tmp_path, "11,11\n"), "--labels", "0").out.decode()
    assert shown[:10] in cells and "\u202e" not in cells
    json = '{"label": "\\u202etxt.exe\\u2066 \\u200b\\udb40\\udc41 \u200d", '
    assert stub.well("--json", "11").out.decode().startswith(json)
    assert stub.refused(2, "--file", "\u202eb") == "cannot open '\\u202eb': No such file or directory"


UTF16 = ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"]


@pytest.mark.parametrize("encoding", UTF16)
@pytest.mark.parametrize(
    "text", ["1,Oil prices climb\r\n2,the\n", "1,a\n", "1,\u6771\u4eac\u306e\n2,\ud55c\uad6d\uc5b4 b\n"]
)
def test_other_encodings_are_refused(stub: Program, tmp_path: Path, encoding: str, text: str) -> None:
    path = table(tmp_path, text.encode(encoding))
    words = "is UTF-16 or UTF-32: convert it to UTF-8"
    assert stub.refused(1, "--file", path) == f"{str(path)!r} {words}"
    assert stub.refused(1, "--evaluate", path, "--labels", "0") == f"{str(path)!r} {words}"
    assert stub.refused(1, stdin=path.read_bytes()) == f"standard input {words}"


@pytest.mark.parametrize(
    "text", [b"\0", b"a\0", b"a\0b\n", b"a\0\0b\n", b"a \0 b\n", b"caf\xe9 \0 b\n", "\u00e9".encode() * 3000, b"\xff"]
)
def test_zeros_alone_make_no_other_encoding(stub: Program, text: bytes) -> None:
    assert len(stub.well(stdin=text).lines) == 1


def test_lines_and_tables_without_end_are_refused(stub: Program, tmp_path: Path) -> None:
    """A line is read up to 16 MiB, a table up to 256; /dev/zero has neither end nor line."""
    most = 16 << 20
    assert stub.well(stdin=b"1\n" + b"x" * most + b"\n2").lines[2].startswith("new")
    message = f"line 2 is longer than {most} bytes"
    assert stub.refused(1, stdin=b"1\n" + b"x" * (most + (1 << 17))) == f"standard input: {message}"
    assert stub.refused(1, "--file", "/dev/zero") == f"'/dev/zero': line 1 is longer than {most} bytes"
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    words = "has more than 268435456 bytes, the most that is read"
    assert stub.refused(1, "--evaluate", tmp_path / "zero.csv") == f"{str(tmp_path / 'zero.csv')!r} {words}"


def test_pieces_of_any_bytes_are_valid_json(stub: Program) -> None:
    outcome = stub.well("--tokens", " ab  c")
    assert outcome.objects == [
        {"ids": [1, 3, 3, 2], "pieces": ["", '\ufffd"\0', '\ufffd"\0', ""],
         "offsets": [[0, 0], [1, 3], [5, 6], [0, 0]], "truncated": False}
    ]  # fmt: skip


def test_a_refused_text_is_named_and_ends_the_run(stub: Program) -> None:
    outcome = stub("--json", stdin=b"1\n2\nfail\n3\n")
    assert (outcome.code, len(outcome.lines)) == (1, 2)
    assert outcome.err.startswith("classify-stub: standard input: line 3: ")
    assert stub.refused(1, "fail").startswith("text 'fail': ")


def test_lines_of_every_length(stub: Program) -> None:
    """Around the size of a read (64 KB), so that a line lies in one, two or three of them."""
    sizes = [0, 1, 65534, 65535, 65536, 65537, 131071, 131072, 3, 200_000]
    content = b"\n".join(b"x" * size for size in sizes)
    ends = [json.loads(line)["offsets"][1][1] if size else 0
            for size, line in zip(sizes, stub.well("--tokens", stdin=content).lines, strict=True)]  # fmt: skip
    assert ends == sizes


# --- a model that cannot do everything -----------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [["--pair", "a", "b"], ["--pairs"], ["--pairs", "--evaluate", "rows.csv"]])
def test_pairs_are_refused_by_a_model_of_one_segment(stub: Program, arguments: list[str]) -> None:
    message = ": model 'stub' takes single texts only (its type_vocab_size is 1)"
    assert stub.refused(2, *arguments) == arguments[0] + message


def test_the_texts_of_a_pair_keep_their_order(stub_of_pairs: Program, tmp_path: Path) -> None:
    for outcome in (
        stub_of_pairs.well("--json", "--pair", "6", "7 b", "--pair", "0 a", "21"),
        stub_of_pairs.well("--json", "--pairs", stdin=b"6\t7 b\n0 a\t21"),
    ):
        assert [(answer["label"], answer["tokens"]) for answer in outcome.objects] == [("café", 7), ("zero", 21)]
    path = table(tmp_path, "6,7,6\n0,21,0\n")
    for columns, figures in (("3,2", ("100.00", "14.0")), ("2,3", ("0.00", "3.0"))):
        lines = stub_of_pairs.well("--evaluate", path, "--pairs", "--text-columns", columns, "--labels=0").lines
        assert lines[0] == f"accuracy: {figures[0]} %"
        assert lines[1].startswith(f"rows: 2, mean tokens: {figures[1]}, ")


def test_a_column_is_one_text(stub_of_pairs: Program, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("label,a,b\n6,6,6\n")
    for options in (("--pairs", "--text-columns", "2,2"), ("--text-columns", "b,a,b"), ("--text-columns", "3,b")):
        message = stub_of_pairs.refused(2, "--evaluate", path, *options)
        assert message in [f"--text-columns: column {number} is named twice" for number in (2, 3)]


def test_a_kernel_that_this_cpu_cannot_run_is_refused(stub: Program) -> None:
    assert stub.well("--kernel", "list").lines == ["fast", "scalar"]
    message = ": this CPU cannot run kernel 'other' (usable: fast, scalar)"
    assert stub.refused(2, "--kernel", "other", "x") == "--kernel" + message
    assert stub.refused(2, "x", kernel="other") == "ETCH_KERNEL" + message


def test_a_failed_self_test_says_what_failed(stub: Program) -> None:
    assert "golden" in stub.refused(1, "--self-test")


def test_a_small_model_has_its_own_lengths(stub: Program) -> None:
    assert [line.split()[0] for line in stub.well("--latency").lines[2:]] == ["5"]


# --- csv and tsv ---------------------------------------------------------------------------------------------------


def accuracy(outcome_lines: list[str]) -> str:
    [line] = [line for line in outcome_lines if line.startswith("accuracy: ")]
    return line


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
        ("[1]", "line 1: this is not a JSON object"),
        ("\n{}", "line 2: this is not a JSON object"),
    ],
)
def test_objects_refused(stub: Program, tmp_path: Path, content: str, message: str) -> None:
    table(tmp_path, content, "rows.jsonl")
    assert stub.refused(1, "--evaluate", "rows.jsonl", cwd=tmp_path) == f"'rows.jsonl': {message}"


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
    assert "one column only" in stub.refused(2, "--evaluate", table(tmp_path, "1\n2\n"))


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
