# SPDX-License-Identifier: Apache-2.0
"""The program over a model with everything unusual (stub_model), under sanitizers. Needs a compiler, no build.

The stub answers with the number that a text begins with: here the truth is known without a model.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from classify_program import Program, build_stub
from stub_tables import LABELS, RED, table


@pytest.fixture(scope="module")
def stub(stub_objects: Path) -> Program:
    return build_stub(stub_objects)


@pytest.fixture(scope="module")
def stub_of_pairs(stub_objects: Path) -> Program:
    return build_stub(stub_objects, "-DSTUB_PAIRS")


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


def test_a_byte_order_mark_is_no_text(stub: Program, tmp_path: Path) -> None:
    """At the start of a file, once: in front of the number the stub would not find it."""
    expected = stub.well("3", "4").out
    path = table(tmp_path, b"\xef\xbb\xbf3\n4\n")
    assert stub.well("--file", path).out == expected
    assert stub.well(stdin=path.read_bytes()).out == expected
    assert stub.well(stdin=b"\xef\xbb\xbf").out == b""
    assert stub.well(stdin=b"\xef\xbb\xbf\n").out == stub.well("").out
    assert stub.well(stdin=b"3\n\xef\xbb\xbf4\n").out != expected


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
         "offsets": [[0, 0], [1, 3], [5, 6], [0, 0]], "truncated": False, "cut_word": False}
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
