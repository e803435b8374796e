# SPDX-License-Identifier: Apache-2.0
"""--evaluate of the default model's program, against the same figures computed here from --json."""

from __future__ import annotations

import csv
import os
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from classify_program import Outcome, Program, built, open_terminal, read_terminal
from evaluation_report import evaluated
from public_data import data_folder

ROWS: list[tuple[int, str, str]] = [
    (3, "Oil prices climb", "Storms close refineries, and \"the market\" worries about supply."),
    (3, "Bank cuts 900 jobs", "The lender said on Monday that branches\nin the north would go first."),
    (2, "Champions beaten", "A goal in extra time ended a run of 31 games without defeat."),
    (2, "", "The sprinter, 24, won gold in the 200 metres."),
    (4, "New telescope sees oldest galaxy", "Astronomers say it formed soon after the Big Bang."),
    (4, "Browser update fixes holes", "The software maker urges users to install the patch."),
    (1, "Ministers sign ceasefire", "Talks in Geneva ended months of fighting on the border."),
    (1, "Election called early", ""),
]  # fmt: skip


@pytest.fixture(scope="module")
def classify() -> Program:
    return built("classify")


@pytest.fixture(scope="module")
def labels(classify: Program) -> list[str]:
    found = re.search(r"labels: (.*)", classify.well("--help").out.decode())
    assert found
    names = found[1].split(", ")
    assert names == ["World", "Sports", "Business", "Sci/Tech"]
    return names


@pytest.fixture
def ag_news(tmp_path: Path) -> Path:
    """Rows of our own in the form of AG News's test.csv."""
    path = tmp_path / "test.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(ROWS)
    return path


def figures(truths: list[int], answers: list[int], labels: list[str]) -> tuple[dict[str, list[str]], list[list[int]]]:
    """Precision, recall, F1 and rows by label, and the confusion matrix, from first principles."""
    cells = Counter(zip(truths, answers, strict=True))
    matrix = [[cells[t, a] for a in range(len(labels))] for t in range(len(labels))]
    by_label = {}
    for i, label in enumerate(labels):
        true_positive = matrix[i][i]
        predicted = sum(row[i] for row in matrix)
        actual = sum(matrix[i])
        measures = [(true_positive, predicted), (true_positive, actual), (2 * true_positive, predicted + actual)]
        by_label[label] = [f"{100 * p / q:.2f}" if q else "-" for p, q in measures] + [str(actual)]
    return by_label, matrix


def check_report(outcome: Outcome, truths: list[int], answers: list[dict[str, Any]], labels: list[str]) -> None:
    lines = outcome.lines
    given = [labels.index(answer["label"]) for answer in answers]
    correct = sum(t == a for t, a in zip(truths, given, strict=True))
    mean = sum(answer["tokens"] for answer in answers) / len(answers)
    assert lines[0] == f"accuracy: {100 * correct / len(truths):.2f} %"
    found = re.fullmatch(r"rows: (\d+), mean tokens: ([\d.]+), cut to \d+ tokens: (\d+)", lines[1])
    assert found
    assert found[1] == str(len(truths))
    assert found[2] == f"{mean:.1f}"
    assert found[3] == str(sum(answer["truncated"] for answer in answers))

    by_label, matrix = figures(truths, given, labels)
    rows = {line[:16].strip(): line[16:].split() for line in lines[3 : 3 + 1 + len(labels)]}
    assert {label: rows[label] for label in labels} == by_label
    counts = lines.index("confusion matrix, counts (a row is a true label, a column an answer)")
    shares = lines.index("confusion matrix, per cent of the true label")
    for start in (counts, shares):
        assert lines[start + 1].split() == labels
    for i, label in enumerate(labels):
        assert lines[counts + 2 + i][:16].strip() == lines[shares + 2 + i][:16].strip() == label
        assert [int(n) for n in lines[counts + 2 + i][16:].split()] == matrix[i]
        total = sum(matrix[i])
        assert lines[shares + 2 + i][16:].split() == [f"{100 * n / total:.2f}" if total else "-" for n in matrix[i]]


def answers_of(classify: Program, texts: list[str]) -> list[dict[str, Any]]:
    """One run for each thousand texts: texts may hold line ends, so they go as arguments."""
    answers: list[dict[str, Any]] = []
    for i in range(0, len(texts), 1000):
        answers.extend(classify.well("--json", "--", *texts[i : i + 1000]).objects)
    return answers


def test_report(classify: Program, labels: list[str], ag_news: Path) -> None:
    outcome, found = evaluated(classify, ag_news)
    answers = answers_of(classify, [f"{title} {description}" for _, title, description in ROWS])
    check_report(outcome, [label - 1 for label, _, _ in ROWS], answers, labels)
    assert outcome.err == "classify: labels read as numbers from 1 (no 0 occurs)\n"  # no progress outside a terminal
    truths, given = [label - 1 for label, _, _ in ROWS], [labels.index(answer["label"]) for answer in answers]
    assert found["counts"] == figures(truths, given, labels)[1]
    table = {line[:16].strip(): line[16:].split() for line in outcome.lines[4 : 4 + len(labels)]}
    for of_label in found["per_label"]:
        shares = [of_label[key] for key in ("precision", "recall", "f1")]
        shown = ["-" if share is None else f"{100 * share:.2f}" for share in shares]
        assert table[of_label["label"]] == [*shown, str(of_label["rows"])]


def test_confusion_matrix_alone(classify: Program, labels: list[str], ag_news: Path) -> None:
    answers = answers_of(classify, [f"{title} {description}" for _, title, description in ROWS])
    truths, given = [label - 1 for label, _, _ in ROWS], [labels.index(answer["label"]) for answer in answers]
    _, matrix = figures(truths, given, labels)
    shares = [[100 * n / sum(row) for n in row] for row in matrix]
    right = sum(t == g for t, g in zip(truths, given, strict=True)) / len(truths)

    lines = classify.well("--evaluate", ag_news, "--confusion").lines
    assert lines[:2] == classify.well("--evaluate", ag_news).lines[:2]
    assert lines[4].split() == labels and len(lines) == 5 + len(labels)
    for line, counts, part in zip(lines[5:], matrix, shares, strict=True):
        cells = [(str(n), f"{p:.2f}") for n, p in zip(counts, part, strict=True)]
        assert re.findall(r" (\d+) +\(([\d.]+)\)", line[16:]) == cells

    [found] = classify.well("--evaluate", ag_news, "--confusion", "--json").objects
    assert found == {
        "accuracy": pytest.approx(right),
        "rows": len(ROWS),
        "labels": labels,
        "counts": matrix,
        "per_cent": [pytest.approx(row) for row in shares],
    }
    assert classify.refused(2, "--confusion", "a") == "--confusion only goes with --evaluate"


def test_progress_is_shown_on_a_terminal_and_removed(classify: Program, ag_news: Path) -> None:
    controller, terminal = open_terminal()
    done = subprocess.run(
        [classify.path, "--evaluate", ag_news], stdout=subprocess.PIPE, stderr=terminal, timeout=60, check=True
    )
    os.close(terminal)
    shown = read_terminal(controller)
    os.close(controller)
    assert f"\r1 of {len(ROWS)} rows" in shown
    assert shown.endswith("\r\x1b[K")
    assert done.stdout == classify.well("--evaluate", ag_news).out


def test_report_of_chosen_columns(classify: Program, labels: list[str], tmp_path: Path) -> None:
    path = tmp_path / "named.tsv"
    rows = [(description.replace("\n", " "), title, labels[label - 1].upper()) for label, title, description in ROWS]
    path.write_text(
        "\n".join("\t".join(row) for row in [("description", "title", "topic"), *rows]), encoding="utf-8", newline=""
    )
    options: list[str | Path] = ["--evaluate", path, "--label-column", "topic"]
    truths = [label - 1 for label, _, _ in ROWS]
    check_report(
        classify.well(*options, "--text-columns", "title,description"),
        truths,
        answers_of(classify, [f"{title} {description}" for description, title, _ in rows]),
        labels,
    )
    titles = answers_of(classify, [title for _, title, _ in rows])
    check_report(classify.well(*options, "--text-columns", "2"), truths, titles, labels)
    check_report(
        classify.well("--evaluate", path, "--header", "--label-column", "3", "--limit", "3"),
        truths[:3],
        answers_of(classify, [f"{description} {title}" for description, title, _ in rows[:3]]),
        labels,
    )


def test_report_with_special_tokens_as_plain_text(classify: Program, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("0,a [SEP] b\n", encoding="utf-8")
    [tokens] = classify.well("--tokens", "--plain-text", "a [SEP] b").objects
    recognized = classify.well("--evaluate", path).lines[1]
    assert f"mean tokens: {len(tokens['ids'])}.0," in classify.well("--evaluate", path, "--plain-text").lines[1]
    assert f"mean tokens: {len(tokens['ids'])}.0," not in recognized


def test_report_of_pairs(classify: Program, labels: list[str], ag_news: Path) -> None:
    if classify("--pair", "a", "b").code != 0:
        assert "takes single texts only" in classify.refused(2, "--evaluate", ag_news, "--pairs")
        return
    arguments = [part for _, title, description in ROWS for part in ("--pair", title, description)]
    truths = [label - 1 for label, _, _ in ROWS]
    expected = classify.well("--json", *arguments).objects
    check_report(classify.well("--evaluate", ag_news, "--pairs"), truths, expected, labels)
    check_report(classify.well("--evaluate", ag_news, "--pairs", "--text-columns", "2,3"), truths, expected, labels)
    assert "--pairs needs two text columns, there are 1" in classify.refused(
        2, "--evaluate", ag_news, "--pairs", "--text-columns", "3"
    )


def test_the_official_rows_need_no_options(classify: Program, labels: list[str]) -> None:
    path = data_folder() / "ag_news" / "test.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[:1000]
    outcome = classify.well("--evaluate", path, "--limit", "1000")
    answers = answers_of(classify, [f"{title} {description}" for _, title, description in rows])
    check_report(outcome, [int(label) - 1 for label, _, _ in rows], answers, labels)
