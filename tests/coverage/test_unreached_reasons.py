# SPDX-License-Identifier: Apache-2.0
"""The check of the coverage report can fail: on a branch without a reason, and on a reason without a branch."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from gcov import runtime_files
from report import File, Totals, of_this_machine, problems_of, read_reasons, unreached

PATH = "runtime/src/ops/linear.cpp"  # reasons must name files that exist
LINE = "if (first | second) return;"
ENTRY = f"# a comment\n{PATH}\n    {LINE}\n    2: cannot happen: never\n"


def file(*branches: int, runs: int = 5) -> File:
    return File(PATH, {7: LINE}, {7: runs}, {7: list(branches)})


def test_a_reason_for_what_is_not_taken() -> None:
    (reason,) = read_reasons(ENTRY)
    assert (reason.path, reason.text, reason.count, reason.why) == (PATH, LINE, "2", "cannot happen: never")
    assert problems_of([file(0, 4, 0)], [reason]) == []


@pytest.mark.parametrize(
    ("branches", "entries", "said"),
    [
        ((0, 4), "", "no reason"),
        ((0, 4, 4), ENTRY, "a reason for 2"),
        ((0, 0, 0), ENTRY, "a reason for 2"),
        ((3, 4, 4), ENTRY, "stale"),
        ((0, 4, 0), ENTRY.replace(": cannot happen: never", ": "), "empty"),
        ((0, 4, 0), ENTRY + "\n" + ENTRY, "two reasons"),
        ((0, 4, 0), ENTRY + "\n" + ENTRY.replace("linear", "none"), "no such file"),
        ((0, 4, 0), ENTRY.replace("second", "third"), "no reason"),
    ],
)
def test_problems(branches: tuple[int, ...], entries: str, said: str) -> None:
    problems = problems_of([file(*branches)], read_reasons(entries))
    assert any(said in problem for problem in problems), problems


def test_what_depends_on_the_cpu_may_be_taken_or_not() -> None:
    reasons = read_reasons(ENTRY.replace("2:", "varies:"))
    assert problems_of([file(0, 4)], reasons) == problems_of([file(3, 4)], reasons) == []


def test_lines_that_only_another_cpu_runs() -> None:
    reasons = read_reasons(ENTRY.replace("2:", "varies:"))
    never = of_this_machine(file(0, 0, runs=0), reasons)
    assert Totals.of([never]).lines == 0
    assert unreached([never]) == problems_of([never], reasons) == []
    assert of_this_machine(file(0, 4), reasons) == file(0, 4)
    assert of_this_machine(file(0, 0, runs=0), read_reasons(ENTRY)) == file(0, 0, runs=0)


def test_files_that_are_not_measured_here_have_no_stale_reasons() -> None:
    assert problems_of([], read_reasons(ENTRY)) == []


def test_totals_and_what_is_listed() -> None:
    one = file(0, 2, 0, 0)
    assert Totals.of([one, file(1, runs=0)]) == Totals(lines=2, lines_reached=1, branches=5, branches_reached=2)
    assert unreached([one]) == [f"{PATH}:7: 3 of 4 branches not taken: {LINE}"]
    assert unreached([file(0, 0, runs=0)]) == [f"{PATH}:7: not reached: {LINE}"]


@pytest.mark.skipif(shutil.which("g++") is None or shutil.which("gcov") is None, reason="needs GCC and its gcov")
def test_copies_of_a_template_count_as_one(tmp_path: Path) -> None:
    source = tmp_path / "runtime" / "one.cpp"
    source.parent.mkdir()
    source.write_text(
        "template <class T> int sign(T x) {\n    if (x < 0) return -1;\n    return 1;\n}\n"
        "int never() {\n    return 2;\n}\n"
        "int main(int count, char**) {\n    return count > 5 ? never() : sign(-count) + sign(1.0 * count);\n}\n"
    )
    subprocess.run(["g++", "-O0", "--coverage", source, "-o", tmp_path / "one"], cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "one"], cwd=tmp_path, check=True)
    (one,) = runtime_files({tmp_path: "gcov"}, tmp_path, [])
    assert one.path == "runtime/one.cpp"
    assert one.branches[2] == [1, 1]  # each copy takes one way
    assert one.unreached_branches() == {9: 1}
    assert one.unreached_lines() == [5, 6]
