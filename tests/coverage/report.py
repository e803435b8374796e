# SPDX-License-Identifier: Apache-2.0
"""What the counts say: a table by file, what no test reaches, and whether each of these has its reason."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

VARIES = "varies"  # in place of a number of branches: it depends on the CPU, also whether the line runs


@dataclass
class File:
    """Counts of one source file by line. `texts` are the lines that have code, without indentation."""

    path: str
    texts: dict[int, str] = field(default_factory=dict)
    runs: dict[int, int] = field(default_factory=dict)
    branches: dict[int, list[int]] = field(default_factory=dict)

    def unreached_lines(self) -> list[int]:
        return sorted(line for line, count in self.runs.items() if count == 0)

    def unreached_branches(self) -> dict[int, int]:
        """How many branches of a line were never taken, where any."""
        missing = {line: counts.count(0) for line, counts in self.branches.items()}
        return {line: count for line, count in sorted(missing.items()) if count}


@dataclass(frozen=True)
class Totals:
    lines: int
    lines_reached: int
    branches: int
    branches_reached: int

    @classmethod
    def of(cls, files: Iterable[File]) -> Totals:
        files = list(files)
        lines = [count for file in files for count in file.runs.values()]
        branches = [count for file in files for counts in file.branches.values() for count in counts]
        return cls(len(lines), sum(map(bool, lines)), len(branches), sum(map(bool, branches)))

    @property
    def line_share(self) -> float:
        return self.lines_reached / max(self.lines, 1)

    @property
    def branch_share(self) -> float:
        return self.branches_reached / max(self.branches, 1)


@dataclass(frozen=True)
class Reason:
    """An entry of unreached.txt: so many branches (VARIES: depending on the CPU) of the lines with this text."""

    path: str
    text: str
    count: str
    why: str


def codegen_files(counts: dict, root: Path = Path()) -> list[File]:
    """From coverage.py's JSON."""
    files = []
    for path, entry in counts["files"].items():
        source = (root / path).read_text().split("\n")
        runs = dict.fromkeys(entry["executed_lines"], 1) | dict.fromkeys(entry["missing_lines"], 0)
        branches: defaultdict[int, list[int]] = defaultdict(list)
        for taken, pairs in ((1, entry["executed_branches"]), (0, entry["missing_branches"])):
            for begin, _ in pairs:
                branches[begin].append(taken)
        texts = {line: source[line - 1].strip() for line in runs}
        files.append(File(path, texts, runs, dict(branches)))
    return files


def unreached(files: list[File]) -> list[str]:
    """A line for each line that never ran, and for each that ran without taking all of its branches."""
    found = []
    for file in files:
        found += [f"{file.path}:{line}: not reached: {file.texts[line]}" for line in file.unreached_lines()]
        found += [
            f"{file.path}:{line}: {count} of {len(file.branches[line])} branches not taken: {file.texts[line]}"
            for line, count in file.unreached_branches().items()
            if file.runs[line]
        ]
    return found


def table(files: list[File]) -> str:
    """One row a file, with totals below."""
    width = max(len(file.path) for file in files)
    rows = [f"{'file':<{width}}  {'lines':>11} {'':>6}  {'branches':>11} {'':>6}"]
    for name, part in [*((file.path, [file]) for file in files), ("total", files)]:
        total = Totals.of(part)
        lines, branches = f"{total.lines_reached}/{total.lines}", f"{total.branches_reached}/{total.branches}"
        branch_share = f"{100 * total.branch_share:5.1f}%" if total.branches else ""
        row = f"{name:<{width}}  {lines:>11} {100 * total.line_share:5.1f}%  {branches:>11} {branch_share:>6}"
        rows.append(row.rstrip())
    return "\n".join(rows)


def read_reasons(text: str) -> list[Reason]:
    """Paragraphs of three lines: the file, the line of code, `COUNT: the reason`. Lines with `#` are comments."""
    reasons = []
    kept = "\n".join(line for line in text.split("\n") if not line.startswith("#"))
    for paragraph in kept.strip().split("\n\n"):
        if not paragraph.strip():
            continue
        path, code, last = (line.strip() for line in paragraph.strip().split("\n"))
        count, _, why = last.partition(": ")
        reasons.append(Reason(path, code, count, why))
    return reasons


def of_this_machine(file: File, reasons: list[Reason]) -> File:
    """The file without lines that did not run here, and that another CPU runs as their reasons say."""
    others = {reason.text for reason in reasons if reason.path == file.path and reason.count == VARIES}
    left_out = {line for line in file.unreached_lines() if file.texts[line] in others}
    runs = {line: count for line, count in file.runs.items() if line not in left_out}
    branches = {line: counts for line, counts in file.branches.items() if line not in left_out}
    return File(file.path, file.texts, runs, branches)


def problems_of(files: list[File], reasons: list[Reason]) -> list[str]:
    """Untaken branches without a reason, and reasons for what the tests do reach."""
    untaken: defaultdict[tuple[str, str], int] = defaultdict(int)
    for file in files:
        for line, count in file.unreached_branches().items():
            untaken[file.path, file.texts[line]] += count
    known = {(reason.path, reason.text): reason for reason in reasons}
    problems = [f"{path}: `{text}` has two reasons" for path, text in _twice(reasons)]
    for (path, text), count in untaken.items():
        reason = known.get((path, text))
        if reason is None or reason.count not in (str(count), VARIES):
            said = "no reason" if reason is None else f"a reason for {reason.count}"
            problems.append(f"{path}: `{text}`: {count} branches not taken, {said}")
    measured = {file.path for file in files}
    for reason in reasons:
        is_stale = (reason.path, reason.text) not in untaken and reason.count != VARIES
        if not reason.why or (is_stale and reason.path in measured):
            problems.append(f"{reason.path}: `{reason.text}`: the reason is {'stale' if reason.why else 'empty'}")
        if not (Path(__file__).resolve().parents[2] / reason.path).is_file():
            problems.append(f"{reason.path}: no such file, but a reason")
    return problems


def _twice(reasons: list[Reason]) -> set[tuple[str, str]]:
    places = [(reason.path, reason.text) for reason in reasons]
    return {place for place in places if places.count(place) > 1}
