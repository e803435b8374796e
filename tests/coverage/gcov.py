# SPDX-License-Identifier: Apache-2.0
"""Counts of the runtime from a build with --coverage, as GCC's gcov gives them for each compiled source."""

from __future__ import annotations

import json
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from report import File

_KERNEL_SET = re.compile(r"kernels/(\w+)/[^/]+\.gcno$")


def runtime_files(builds: Mapping[Path, str], root: Path, without: Iterable[str]) -> list[File]:
    """Every file of runtime/ that has code, without what was compiled for the kernel sets `without`.

    `builds` are folders with notes and counts, and the gcov of the compiler that made them.

    Of a template or an inline function all copies count as one: a branch is taken where any copy takes it. Only of what
    lies beside the kernels a set has copies of its own, so that what the sets share must be reached in each of them: of
    other headers' functions the linker keeps one copy, whoever calls it.
    """
    runs: defaultdict[Path, defaultdict[int, int]] = defaultdict(lambda: defaultdict(int))
    branches: defaultdict[Path, dict[tuple[int, str, int], list[int]]] = defaultdict(dict)
    runtime = root / "runtime"
    kernels = runtime / "src" / "kernels"
    for notes, gcov in sorted((notes, gcov) for build, gcov in builds.items() for notes in build.rglob("*.gcno")):
        found = _KERNEL_SET.search(str(notes))
        kernel_set = found[1] if found and found[1] != "scalar" else ""  # the scalar set shares functions with all
        if kernel_set in without or re.search(r"CMakeFiles/\d", str(notes)):
            continue
        for path, line in _lines_of(notes, gcov, runtime):
            number = line["line_number"]
            runs[path][number] += line["count"]
            counts = [one["count"] for one in line["branches"] if not one["throw"]]
            own = kernel_set if path.is_relative_to(kernels) else ""
            known = branches[path].setdefault((number, own, len(counts)), [0] * len(counts))
            known[:] = map(sum, zip(known, counts, strict=True))
    return [_file(path.relative_to(root), path, runs[path], branches[path]) for path in sorted(runs)]


def _lines_of(notes: Path, gcov: str, runtime: Path) -> Iterator[tuple[Path, dict]]:
    """Lines of sources below `runtime`, once for each function that has them."""
    command = [gcov, "--json-format", "--stdout", "--branch-probabilities", notes]
    done = subprocess.run(command, cwd=notes.parent, capture_output=True, text=True, check=True)
    described = json.loads(done.stdout)
    for file in described["files"]:
        path = (Path(described["current_working_directory"]) / file["file"]).resolve()
        if path.is_relative_to(runtime):
            yield from ((path, line) for line in file["lines"])


def _file(name: Path, path: Path, runs: dict[int, int], branches: dict[tuple[int, str, int], list[int]]) -> File:
    source = path.read_text().split("\n")
    texts = {line: source[line - 1].strip() for line in runs}
    by_line: defaultdict[int, list[int]] = defaultdict(list)
    for (line, _, _), counts in branches.items():
        if re.search(r"\w", texts[line]):  # a closing bracket's branches are the compiler's own
            by_line[line] += counts
    return File(str(name), texts, dict(runs), dict(by_line))
