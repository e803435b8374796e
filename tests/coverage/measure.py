# SPDX-License-Identifier: Apache-2.0
"""Measures which lines and branches of runtime/ and codegen/ the tests reach. Started by tools/test --coverage.

With the name of an area (counted_areas.py) only what belongs to it, by its own tests.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import counted_boards
from counted_areas import AREAS, WHOLE, Area
from gcov import runtime_files
from report import File, Totals, codegen_files, of_this_machine, problems_of, read_reasons, table, unreached

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
BUILD = ROOT / "build" / "coverage"
BOARDS = ROOT / "build" / "coverage-boards"
REASONS = HERE / "unreached.txt"
PARTS = os.cpu_count() or 1  # that run side by side: the counts of processes add up
LEAST_LINES = 1.0
LEAST_BRANCHES = 0.95


def passes(title: str, command: list[str | Path], **environment: str) -> bool:
    """Runs a step with its output shown."""
    print(f"\n==> {title}", flush=True)
    return subprocess.run(command, cwd=ROOT, env=os.environ | environment, check=False).returncode == 0


def run(title: str, command: list[str | Path]) -> None:
    """Runs a step without which there is nothing to count."""
    if not passes(title, command):
        sys.exit(f"coverage: failed: {title}")


def passes_in_parts(program: Path) -> bool:
    """Runs a GoogleTest program, a part of its cases on each processor."""

    def passes_part(part: int) -> bool:
        environment = {"GTEST_TOTAL_SHARDS": str(PARTS), "GTEST_SHARD_INDEX": str(part)}
        return passes(f"{program.name}, part {part + 1} of {PARTS}", [program, "--gtest_brief=1"], **environment)

    with ThreadPoolExecutor(PARTS) as pool:
        return all(list(pool.map(passes_part, range(PARTS))))


def every_cpp_test() -> tuple[str, ...]:
    """The GoogleTest programs of the configured build."""
    listed = subprocess.run(
        ["cmake", "--build", BUILD, "--target", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    words = {word.rstrip(":") for word in listed.split()}
    return tuple(sorted(word for word in words if word.startswith("test-") and "." not in word))


def build(area: Area) -> list[Path]:
    """Builds what counts and forgets earlier counts; returns the GoogleTest programs."""
    # Of models that tests generated before. What no test asks for any more would count as never reached.
    shutil.rmtree(BUILD / "tokenizers", ignore_errors=True)
    run("configuring", ["cmake", "--preset", "coverage", "--log-level=WARNING"])
    tests = area.cpp_tests or every_cpp_test()
    # One by one: make builds what two targets need once for each of them where it is given both, at the same time, and
    # gcov reads no counts of an object that was compiled again after its program was linked.
    for target in (*tests, *area.programs):
        command = ["cmake", "--build", "--preset", "coverage", "--parallel", str(PARTS), "--target", target]
        run(f"building {target}", command)
    for counts in BUILD.rglob("*.gcda"):
        counts.unlink()
    return [BUILD / "bin" / name for name in tests]


def run_tests(area: Area, cpp_tests: list[Path], data: Path, programs: Path) -> list[str]:
    """The C++ tests, the generator's, and the end-to-end tests that run counting programs; gives those that fail.

    Notes and counts of the models that tests generate stay below `programs`.
    """
    failed = [program.name for program in cpp_tests if not passes_in_parts(program)]
    quick = ["-m", "pytest", "-q", "-m", "not sweep", "-n", str(PARTS), "--dist", "loadfile"]
    counted = ["-m", "coverage", "run", f"--rcfile={HERE / 'coveragerc'}", f"--data-file={data}"]
    counted += [*quick, *(f"tests/codegen/{name}" for name in area.codegen)]
    models = [*quick, f"--basetemp={programs}"]
    parts = [("pytest", counted, area.end_to_end), ("pytest: models", models, area.models)]
    for title, options, names in (part for part in parts if part[2]):
        command = [sys.executable, *options, *(f"tests/end_to_end/{name}" for name in names)]
        if not passes(title, command, ETCH_BUILD=str(BUILD)):
            failed.append(title)
    return failed


def unmeasured_kernels() -> dict[str, str]:
    """Folders of kernel sets that cannot run here, and why."""
    found = {}
    for folder in sorted((ROOT / "runtime" / "src" / "kernels").iterdir()):
        if not any(folder.glob("*.cpp")):
            continue  # what several sets share
        asked = subprocess.run(
            [BUILD / "bin" / "classify", "--kernel", folder.name], input="", capture_output=True, text=True, check=False
        )
        if "cannot run" in asked.stderr:
            found[folder.name] = "this CPU lacks the instructions"
        elif not any((BUILD / "runtime").rglob(f"kernels/{folder.name}/*.gcno")):
            found[folder.name] = f"not built for {platform.machine()}"
    return found


def count_on_boards(work: Path, kernels: dict[str, str]) -> list[str]:
    """Counts the sets that boards have, and takes them off those that cannot be measured; gives those that fail."""
    missing = counted_boards.missing_tool()
    failed = []
    for measured in counted_boards.SETS:
        if missing is not None:
            kernels[measured.name] = f"{missing} is not installed"
            continue
        print(f"\n==> kernel set {measured.name} on {measured.board}", flush=True)
        if not counted_boards.count(measured, work / measured.board):
            failed.append(f"kernel set {measured.name} on {measured.board}")
        kernels.pop(measured.name, None)
    return failed


def codegen_counts(data: Path, work: Path) -> list[File]:
    """What coverage.py saw, the generator's own processes and those that tests started together."""
    coverage = [sys.executable, "-m", "coverage"]
    run("coverage.py", [*coverage, "combine", "-q", f"--data-file={data}", work])
    run("coverage.py", [*coverage, "json", "-q", f"--data-file={data}", "-o", work / "codegen.json"])
    return codegen_files(json.loads((work / "codegen.json").read_text()))


def main() -> int:
    """Exit code 0 where the runtime is reached as far as it must be and every exception has its reason."""
    area = AREAS[sys.argv[1]] if len(sys.argv) > 1 else WHOLE
    work = BUILD / "reached"
    for folder in (work, BOARDS):
        shutil.rmtree(folder, ignore_errors=True)
    tests = build(area)
    work.mkdir(parents=True)
    data = work / "codegen.coverage"
    kernels = unmeasured_kernels() if area.kernels else {}
    failed = count_on_boards(BOARDS, kernels) if area.kernels else []
    failed += run_tests(area, tests, data, work / "programs")
    reasons = read_reasons(REASONS.read_text())
    counted = runtime_files({BUILD: "gcov", BOARDS: counted_boards.GCOV}, ROOT, kernels)
    runtime = [of_this_machine(file, reasons) for file in counted if file.path.startswith(area.sources)]
    codegen = [file for file in codegen_counts(data, work) if file.path.startswith(area.sources)]

    print("\n" + table(codegen) + "\n\n" + table(runtime) + "\n")
    for name, why in kernels.items():
        print(f"not measured: kernel set {name}: {why}")
    print("\n".join(unreached(codegen) + unreached(runtime)))
    problems = [f"{name} fails" for name in failed]
    problems += problems_of(runtime, reasons)
    total = Totals.of(runtime)
    where = area.sources[0]
    if total.line_share < LEAST_LINES:
        problems.append(f"lines of {where}: {100 * total.line_share:.2f} %, at least {100 * LEAST_LINES:.0f} wanted")
    if total.branch_share < LEAST_BRANCHES:
        problems.append(
            f"branches of {where}: {100 * total.branch_share:.2f} %, at least {100 * LEAST_BRANCHES:.0f} wanted"
        )
    for problem in problems:
        print(f"FAILED: {problem}")
    print(f"{len(problems)} problems" if problems else "everything is reached or has its reason")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
