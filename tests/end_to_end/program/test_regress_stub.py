# SPDX-License-Identifier: Apache-2.0
"""The program of a model that gives values, over the stub model, whose values are the text's words."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from classify_program import Program, build_stub
from correlations import pearson, spearman
from evaluation_report import evaluated
from stub_tables import table


@pytest.fixture(scope="module")
def one(stub_objects: Path) -> Program:
    return build_stub(stub_objects, "-DSTUB_REGRESSION", "-DSTUB_ONE", "-DSTUB_PAIRS")


@pytest.fixture(scope="module")
def two(stub_objects: Path) -> Program:
    return build_stub(stub_objects, "-DSTUB_REGRESSION")


# --- output --------------------------------------------------------------------------------------------------------


def test_plain_lines_give_the_floats_back(two: Program) -> None:
    lines = two.well("0.1 -2", "3", "16777215.5 0.03125").lines
    assert lines == ["0.100000001 -2", "3 0", "16777216 0.03125"]
    for line, values in zip(lines, ([0.1, -2], [3, 0], [16777215.5, 0.03125]), strict=True):
        read = np.array([float(word) for word in line.split(" ")], np.float32)
        assert read.tolist() == np.array(values, np.float32).tolist()


def test_json_lines(two: Program, one: Program) -> None:
    assert two.well("--json", "0.1 -2", "a b c d").objects == [
        {"values": [0.100000001, -2], "tokens": 4, "truncated": False},
        {"values": [0, 0], "tokens": 5, "truncated": True},
    ]
    assert list(two.well("--json", "1").objects[0]) == ["values", "tokens", "truncated"]
    assert one.well("--json", "--pair", "1", "2.5").objects == [{"values": [2.5], "tokens": 3, "truncated": False}]
    assert one.well("--pairs", stdin=b"1\t2.5\n7\t-1\n").lines == ["2.5", "-1"]


def test_texts_come_as_in_classify(two: Program, tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    path.write_text("1 2\n3\n\n")
    assert two.well("--file", path).lines == two.well(stdin=path.read_bytes()).lines == ["1 2", "3 0", "0 0"]
    assert two.well("--tokens", "1 2").objects[0]["ids"] == [1, 3, 3, 2]
    assert two.refused(1, "fail").startswith("text 'fail': ")


def test_help_and_version(two: Program) -> None:
    text = two.well("--help").out.decode()
    assert text.startswith("usage: regress-stub ")
    assert text.endswith("model: stub, 5 tokens at most, values: café, \\x1b[31mred\n")
    assert "Pearson" in text
    for option in ("--top", "--labels", "--similarity"):
        assert option not in text
    assert two.well("--version").lines[1] == "model: stub"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--top", "2", "text"], "--top does not go with model 'stub', which gives values"),
        (["--labels", "0", "--evaluate", "rows.csv"], "--labels does not go with model 'stub', which gives values"),
        (["--similarity", "a", "b"], "--similarity does not go with model 'stub', which gives values"),
        (["--pair", "a", "b"], "--pair: model 'stub' takes single texts only (its type_vocab_size is 1)"),
        (["--json", "--tokens", "a"], "--json and --tokens cannot be used together"),
    ],
)
def test_wrong_use(two: Program, arguments: list[str], message: str) -> None:
    assert two.refused(2, *arguments) == message


# --- evaluation ----------------------------------------------------------------------------------------------------


def figures(lines: list[str]) -> list[float]:
    names = ["Pearson", "Spearman", "mean squared error"]
    assert [line.split(": ")[0] for line in lines] == names
    return [float(line.split(": ")[1]) for line in lines]


def test_report(one: Program, tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    truths = np.round(random.normal(3, 2, 60), 1)  # with ties
    answers = np.round(truths + random.normal(0, 1, 60), 1)
    rows = "".join(f"{truth},{answer} word\n" for truth, answer in zip(truths, answers, strict=True))
    outcome, _ = evaluated(one, table(tmp_path, rows))
    given = answers.astype(np.float32).astype(np.float64)
    expected = [pearson(truths, given), spearman(truths, given), float(np.mean((truths - given) ** 2))]
    assert figures(outcome.lines[:3]) == pytest.approx(expected, abs=6e-6)
    assert outcome.lines[3:] == ["rows: 60, mean tokens: 4.0, cut to 5 tokens: 0"]
    assert outcome.err == ""
    first = figures(one.well("--evaluate", table(tmp_path, rows), "--limit", "7").lines[:3])
    assert first[1] == pytest.approx(spearman(truths[:7], given[:7]), abs=6e-6)


def test_several_values(two: Program, tmp_path: Path) -> None:
    rows = "1;0.5,1 2\n2; -1 ,2 1\n4;1e1,4 3\n"
    lines = two.well("--evaluate", table(tmp_path, rows)).lines
    (found,) = two.well("--evaluate", table(tmp_path, rows), "--json").objects
    assert [value["label"] for value in found["values"]] == ["café", "\x1b[31mred"]
    assert [found["values"][0][key] for key in ("pearson", "spearman", "mean_squared_error")] == [1, 1, 0]
    assert found["rows"] == 3
    assert lines[0] == "café"
    assert figures(lines[1:4]) == [1, 1, 0]
    assert lines[4] == "\\x1b[31mred"
    truths, answers = np.array([0.5, -1, 10]), np.array([2.0, 1, 3])
    expected = [pearson(truths, answers), 1, np.mean((truths - answers) ** 2)]
    assert figures(lines[5:8]) == pytest.approx(expected, abs=6e-5)
    assert re.match(r"rows: 3, ", lines[8])


def test_columns_and_pairs(one: Program, tmp_path: Path) -> None:
    path = table(tmp_path, "first\tsecond\tscore\n3\t1\t1\n2\t2\t2\n1\t3\t3.0\n", "rows.tsv")
    options = ["--evaluate", path, "--label-column", "score"]
    assert figures(one.well(*options, "--pairs").lines[:3]) == [1, 1, 0]
    assert figures(one.well(*options, "--text-columns", "first").lines[:3])[:2] == [-1, -1]


@pytest.mark.parametrize(
    "rows",
    ["2,1\n", "2,1\n2,5\n", "2,7\n3,7\n", "0.1,1\n0.1,2\n0.1,3\n"],
    ids=["one row", "equal scores", "equal answers", "equal scores with a rounded mean"],
)
def test_correlation_of_what_does_not_vary_is_undefined(one: Program, tmp_path: Path, rows: str) -> None:
    lines = one.well("--evaluate", table(tmp_path, rows)).lines
    assert lines[:2] == ["Pearson: -", "Spearman: -"]
    assert lines[2].startswith("mean squared error: ")


MALFORMED = {
    "no number": ("1,1\nhigh,2\n", "line 2: expected a number, got 'high'"),
    "empty": ("1,1\n,2\n", "line 2: expected 1 value, separated by ;, got ''"),
    "two": ("1,1\n1;2,2\n", "line 2: expected 1 value, separated by ;, got '1;2'"),
    "infinite": ("1,1\ninf,2\n", "line 2: expected a number, got 'inf'"),
    "not a number": ("1,1\nnan,2\n", "line 2: expected a number, got 'nan'"),
    "too large": ("1,1\n1e999,2\n", "line 2: expected a number, got '1e999'"),
    "with a unit": ("1,1\n3 stars,2\n", "line 2: expected a number, got '3 stars'"),
    "decimal comma": ('1,1\n"2,5",2\n', "line 2: expected a number, got '2,5'"),
    "hexadecimal": ("1,1\n0x10,2\n", "line 2: expected a number, got '0x10'"),
    "a header": ("score,text\n1,1\n", "line 1: expected a number, got 'score' "
                                      "(--header, if the first row names the columns)"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "message"), MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed_values_are_named_with_their_line(one: Program, tmp_path: Path, content: str, message: str) -> None:
    table(tmp_path, content)
    assert one.refused(1, "--evaluate", "rows.csv", cwd=tmp_path) == f"'rows.csv': {message}"
