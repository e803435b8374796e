# SPDX-License-Identifier: Apache-2.0
"""Builds and runs every test and adds the results up. Started by tools/test, which installs what is needed."""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from affected import CPP, Affected, affected, changed_paths
from sampling import seed_of_the_tree

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "test"
REPORTS = BUILD / "reports"
NOT_EVERYWHERE = {"test-cuda": "CUDA's headers were not found"}


@dataclass
class Results:
    """Counts, and a line for each test that failed or was skipped."""

    passed: int = 0
    failed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    def check(self, name: str, ok: bool) -> None:
        """One check that is not a test case of a framework."""
        if ok:
            self.passed += 1
        else:
            self.failed.append(name)

    def add_junit(self, path: Path) -> None:
        """The cases of a JUnit report, as pytest and GoogleTest write them."""
        for case in ET.parse(path).getroot().iter("testcase"):
            name = ".".join(filter(None, (case.get("classname"), case.get("name"))))
            skipped = case.find("skipped")
            if case.find("failure") is not None or case.find("error") is not None:
                self.failed.append(name)
            elif skipped is not None or case.get("status") == "notrun":
                self.skipped.append(f"{name}: {' '.join(reason_of(skipped).split())}")
            else:
                self.passed += 1


def reason_of(skipped: ET.Element | None) -> str:
    """Why a case was skipped. Of a whole file pytest writes where and why, as a tuple of Python."""
    message = None if skipped is None else skipped.get("message")
    if skipped is not None and message == "collection skipped":
        message = str(ast.literal_eval(skipped.text or "()")[-1]).removeprefix("Skipped: ")
    return message or "no reason given"


def run(title: str, command: list[str], **environment: str) -> bool:
    """Runs a step, its output shown; True where it succeeded."""
    print(f"\n==> {title}", flush=True)
    begin = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, env=os.environ | environment, check=False)
    print(f"    {time.monotonic() - begin:.0f} s", flush=True)
    return done.returncode == 0


def build(everything: bool) -> bool:
    """Configures and builds the preset `test`; for everything, programs under sanitizers and fuzz targets, too."""
    targets = ["all", *(["sanitized-promises", "fuzz-targets"] if everything else [])]
    command = ["cmake", "--build", "--preset", "test", "--parallel", str(os.cpu_count() or 1), "--target", *targets]
    python = f"-DETCH_PYTHON={sys.executable}"  # generates what some fuzz targets are made of
    return run("configuring", ["cmake", "--preset", "test", "--log-level=WARNING", python]) and run(
        "building", [*command, "--", "--quiet"]
    )


def run_cpp_tests(results: Results, selection: Affected | None) -> None:
    """Every GoogleTest program of the build, or those that a change affects; each processor has a part of its cases.
    One that is not there is said to be missing."""
    parts = os.cpu_count() or 1
    for name in CPP if selection is None else sorted(selection.programs):
        program = BUILD / "bin" / name
        if not program.is_file():
            if name in NOT_EVERYWHERE:
                results.skipped.append(f"{name}: not built: {NOT_EVERYWHERE[name]}")
            else:
                results.failed.append(f"{name}: not built")
            continue
        with ThreadPoolExecutor(parts) as pool:
            endings = list(pool.map(partial(run_cpp_part, program, parts), range(parts)))
        for part, ok in enumerate(endings):
            report = cpp_report(program, part)
            before = len(results.failed)
            if report.exists():
                results.add_junit(report)
                if ok or len(results.failed) > before:
                    continue
            results.failed.append(f"{program.name} ended abnormally")


def run_cpp_part(program: Path, parts: int, part: int) -> bool:
    """One of so many parts of a GoogleTest program's cases, reported in cpp_report(); True where it succeeded."""
    command = [str(program), "--gtest_brief=1", f"--gtest_output=xml:{cpp_report(program, part)}"]
    return run(
        f"{program.name}, part {part + 1} of {parts}",
        command,
        GTEST_TOTAL_SHARDS=str(parts),
        GTEST_SHARD_INDEX=str(part),
    )


def cpp_report(program: Path, part: int) -> Path:
    """Where GoogleTest reports a part of its cases."""
    return REPORTS / f"{program.name}-{part + 1}.xml"


def run_python_tests(results: Results, everything: bool, selection: Affected | None) -> None:
    """Every pytest case, or those that a change affects; sweeps and other long ones only with --all."""
    if selection is not None and not selection.files:
        return
    report = REPORTS / "pytest.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-ra", f"--junitxml={report}", "--durations=20"]
    command += ["-n", str(os.cpu_count() or 1), "--dist", "loadfile", "--no-loadscope-reorder"]
    if not everything:
        command += ["-m", "not sweep"]
    if selection is not None:
        command += sorted(selection.files)
    # Bytecode is kept, in the build's folder: reading its sources is a third of the generator's start.
    bytecode = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(BUILD / "bytecode")}
    ok = run("pytest", command, ETCH_BUILD=str(BUILD), **bytecode)
    if report.exists():
        before = len(results.failed)
        results.add_junit(report)
        if ok or len(results.failed) > before:
            return
    results.check("pytest ended abnormally", ok)


def run_style_checks(results: Results) -> None:
    """Formatters, linters and types."""
    ruff = [sys.executable, "-m", "ruff"]
    results.check("ruff check", run("ruff check", [*ruff, "check", "-q", "."]))
    results.check("ruff format", run("ruff format", [*ruff, "format", "-q", "--check", "."]))
    mypy = [sys.executable, "-m", "mypy", "--no-error-summary", f"--cache-dir={BUILD / 'mypy'}"]
    results.check("mypy", run("mypy", mypy))
    if shutil.which("clang-format") is None:
        results.skipped.append("clang-format: not installed")
        return
    sources = [
        str(path)
        for folder in ("runtime", "tools", "tests", "firmware-demo")
        for pattern in ("*.cpp", "*.hpp", "*.inl", "*.c", "*.h", "*.cu", "*.cuh")
        for path in sorted((ROOT / folder).rglob(pattern))
    ]
    results.check("clang-format", run("clang-format", ["clang-format", "--dry-run", "-Werror", *sources]))


def chosen() -> Affected:
    """What the changes of this checkout can affect, shown."""
    changed = changed_paths()
    selection = affected(changed)
    print(f"{len(changed)} changed files")
    for path in selection.unknown:
        print(f"    {path} can affect everything")
    print(f"    {len(selection.programs)} programs of C++ tests, {len(selection.files)} files of Python tests")
    return selection


def main() -> int:
    """Exit code 0 where nothing failed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--changed", action="store_true")
    parser.add_argument("--sample", type=int, nargs="?", const=seed_of_the_tree())
    arguments = parser.parse_args()
    sample = ""
    if arguments.sample is not None:
        os.environ["ETCH_SAMPLE"] = str(arguments.sample)
        sample = f"; of the largest sweeps what --sample {arguments.sample} chooses"
    selection = chosen() if arguments.changed else None
    results = Results()
    begin = time.monotonic()
    needs_build = selection is None or selection.needs_build
    if not needs_build or build(arguments.all):
        results.passed += needs_build
        shutil.rmtree(REPORTS, ignore_errors=True)
        REPORTS.mkdir(parents=True)
        run_style_checks(results)
        run_cpp_tests(results, selection)
        run_python_tests(results, arguments.all, selection)
    else:
        results.failed.append("the build")
    print()
    for line in results.skipped:
        print(f"skipped: {line}")
    for line in results.failed:
        print(f"FAILED: {line}")
    print(f"{time.monotonic() - begin:.0f} s{sample}")
    print(f"{results.passed} passed, {len(results.failed)} failed, {len(results.skipped)} skipped", flush=True)
    return 1 if results.failed else 0


if __name__ == "__main__":
    sys.exit(main())
