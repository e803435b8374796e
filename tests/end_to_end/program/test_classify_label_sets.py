# SPDX-License-Identifier: Apache-2.0
"""The program of a model that gives a text any number of labels; the stub model's logits are the text's words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from classify_program import Program, build_stub
from evaluation_report import evaluated
from stub_tables import table

LABELS = ["zero", 'a"b\\c', "\x1b[31mred", "café"]  # as in stub_multi_label.hpp


@pytest.fixture(scope="module")
def stub(stub_objects: Path) -> Program:
    return build_stub(stub_objects, "-DSTUB_MULTI_LABEL", "-DSTUB_PAIRS")


@pytest.fixture(scope="module")
def one_label(stub_objects: Path) -> Program:
    return build_stub(stub_objects, "-DSTUB_MULTI_LABEL", "-DSTUB_ONE")


# --- output --------------------------------------------------------------------------------------------------------


def test_json_says_which_labels_are_given(stub: Program) -> None:
    given, none, edge = stub.well("--json", "--", "-1 3 0.5 -0.25", "-1 -1 -1 -2", "-0.001 -1 0 -1").objects
    assert list(given) == ["label", "probability", "labels", "probabilities", "logits", "tokens", "truncated"]
    assert given["logits"] == [-1, 3, 0.5, -0.25]
    assert given["probabilities"] == pytest.approx([0.25, 0.875, 2 / 3, 0.4])
    assert (given["label"], given["probability"]) == (LABELS[1], 0.875)
    assert given["labels"] == [LABELS[1], LABELS[2]]
    assert (none["label"], none["probability"], none["labels"]) == (LABELS[0], 0.25, [])
    assert edge["labels"] == [LABELS[2]]  # 0.5 is enough, 0.4995 is not


def test_plain_lines_have_every_label_best_first(stub: Program) -> None:
    assert stub.well("--", "-1 3 0.5 -0.25").lines == [
        'a"b\\c\t0.8750\t\\x1b[31mred\t0.6667\tcafé\t0.4000\tzero\t0.2500'
    ]
    assert stub.well("--top", "1", "--", "-1 3 0.5 -0.25", "2").lines == ['a"b\\c\t0.8750', "zero\t0.8333"]


def test_help_says_what_this_model_does(stub: Program, one_label: Program) -> None:
    text = stub.well("--help").out.decode()
    assert "usage: classify-stub " in text
    assert "separated by ;" in text
    assert '"labels" are those with a probability of 0.5 or more' in text
    assert text.endswith('model: stub, 5 tokens at most, labels: zero, a"b\\c, \\x1b[31mred, café\n')
    assert one_label.well("--help").lines[-1] == "model: stub, 5 tokens at most, labels: zero"


# --- evaluation ----------------------------------------------------------------------------------------------------

TRUTHS = [("zero; café", {0, 3}), ("", set()), ("café", {3}), ('zero;a"b\\c', {0, 1}), ("zero", {0}),
          ('a"b\\c;a"b\\c', {1}), (' zero ;a"b\\c', {0, 1}), ("ZERO", {0})]  # fmt: skip
SCORES = np.array([
    [1, -1, -1, 2], [-1, -1, -1, -1], [1, -1, -1, 1], [1, 1, -1, -1],
    [-1, -1, -1, -1], [-1, 1, -1, -1], [1, 1, -1, -1], [-1, -1, -1, 0],
])  # fmt: skip


def measures(truth: np.ndarray, answer: np.ndarray) -> list[tuple[int, int, int]]:
    """Right, given and true ones of each label."""
    return list(zip((truth & answer).sum(0), answer.sum(0), truth.sum(0), strict=True))


def percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.2f}" if whole else "-"


@pytest.mark.parametrize("limit", [8, 7, 3, 1])
def test_report(stub: Program, tmp_path: Path, limit: int) -> None:
    fields = [field.replace('"', '""') for field, _ in TRUTHS]
    rows = [f'"{field}",{" ".join(map(str, scores))}' for field, scores in zip(fields, SCORES, strict=True)]
    truth = np.array([[label in labels for label in range(4)] for _, labels in TRUTHS])[:limit]
    answer = (SCORES >= 0)[:limit]
    outcome = stub.well("--evaluate", table(tmp_path, "\n".join(rows)), "--limit", str(limit))
    assert outcome.err == "classify-stub: labels read as names of the model's labels, separated by ;\n"
    by_label = measures(truth, answer)
    f1s = [2 * right / (given + true) for right, given, true in by_label if given + true]
    right, given, true = np.sum(by_label, 0)
    assert outcome.lines[:4] == [
        f"exact match: {percent((truth == answer).all(1).sum(), limit)} %",
        f"micro F1: {percent(2 * right, given + true)} %",
        f"macro F1: {percent(sum(f1s), len(f1s))} %",
        f"rows: {limit}, mean tokens: 5.0, cut to 5 tokens: {limit}",
    ]
    for line, (right, given, true) in zip(outcome.lines[6:10], by_label, strict=True):
        expected = [percent(right, given), percent(right, true), percent(2 * right, given + true), str(true)]
        assert line[16:].split() == expected
    assert len(outcome.lines) == 11  # and the means


@pytest.mark.parametrize(
    ("rows", "options", "reading"),
    [
        ("0;3,1 -1 -1 1\n1,-1 1 -1 -1\n", [], "numbers from 0 (a 0 occurs), separated by ;"),
        ("0,1 -1 -1 -1\n1,-1 1 -1 -1\n", [], "numbers from 0 (a 0 occurs), separated by ;"),
        ("1;4,1 -1 -1 1\n2,-1 1 -1 -1\n", [], "numbers from 1 (no 0 occurs), separated by ;"),
        ("4;1;1,1 -1 -1 1\n2,-1 1 -1 -1\n", ["--labels", "1"], "numbers from 1, separated by ;"),
        ("a;d,1 -1 -1 1\nB,-1 1 -1 -1\n", ["--labels", "a,b,c,d"], "the names given, separated by ;"),
        (",-1 -1 -1 -1\n  ,-1 -1 -1 -1\n", [], "names of the model's labels, separated by ;"),
    ],
)
def test_readings_of_the_label_column(
    stub: Program, tmp_path: Path, rows: str, options: list[str], reading: str
) -> None:
    outcome, _ = evaluated(stub, table(tmp_path, rows), *options)
    assert outcome.err == f"classify-stub: labels read as {reading}\n"
    assert outcome.lines[0] == "exact match: 100.00 %"


def test_nothing_to_divide(stub: Program, tmp_path: Path) -> None:
    lines = stub.well("--evaluate", table(tmp_path, ",-1 -1 -1 -1\n")).lines
    assert lines[:3] == ["exact match: 100.00 %", "micro F1: -", "macro F1: -"]


@pytest.mark.parametrize("field", ["zero;", ";zero", "zero;;café", "zero, café", "zero;blue", "blue"])
def test_unknown_labels_are_named_with_their_line(stub: Program, tmp_path: Path, field: str) -> None:
    path = table(tmp_path, f'zero,1\n"{field}",2\n')
    [unknown] = [part for part in field.split(";") if part not in ("zero", "café")][:1]
    message = stub.refused(1, "--evaluate", path.name, cwd=tmp_path)
    reading = "labels are read as names of the model's labels, separated by ;"
    assert message == f"'rows.csv': line 2: unknown label '{unknown}'; {reading}"


def test_an_empty_part_is_no_label_even_of_that_name(stub: Program, tmp_path: Path) -> None:
    path = table(tmp_path, "a;,1\n")
    assert "unknown label ''; labels are read as the names given" in stub.refused(
        1, "--evaluate", path, "--labels", "a,b,,d"
    )


def test_a_model_of_one_label_reads_yes_and_no(one_label: Program, tmp_path: Path) -> None:
    outcome = one_label.well("--evaluate", table(tmp_path, "1,2\n0,-2\n1,-1\n0,-3\n"))
    assert outcome.err == "classify-stub: labels read as 0: without the label, 1: with it\n"
    assert outcome.lines[:2] == ["exact match: 75.00 %", "micro F1: 66.67 %"]
    outcome = one_label.well("--evaluate", table(tmp_path, "zero,2\n,-2\n"))
    assert outcome.lines[0] == "exact match: 100.00 %"
    # An explicit reading stands: label 1 of one is the label itself, 0 is none of them.
    assert one_label.well("--evaluate", table(tmp_path, "1,2\n1,1\n"), "--labels", "1").code == 0
    assert "unknown label '0'" in one_label.refused(1, "--evaluate", table(tmp_path, "0,2\n"), "--labels", "1")


def test_pairs(stub: Program, tmp_path: Path) -> None:
    [answer] = stub.well("--json", "--pair", "1", "-1 2").objects
    assert answer["labels"] == [LABELS[1], LABELS[2], LABELS[3]]
    path = table(tmp_path, "zero,x,1 -1 -1 -1\n")
    assert stub.well("--evaluate", path, "--pairs").lines[0] == "exact match: 100.00 %"
    assert stub.well("--evaluate", path, "--pairs", "--text-columns", "3,2").lines[0] == "exact match: 0.00 %"


def test_similarity_is_for_embeddings(stub: Program) -> None:
    assert stub.refused(2, "--similarity", "a", "b") == (
        "--similarity does not go with model 'stub', which classifies texts"
    )
