# SPDX-License-Identifier: Apache-2.0
"""Painted stacks against the bound that the build computed, and the checker itself on small programs."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from archives import ROOT, build_folder, built, run, tool


def bounds() -> dict[str, int]:
    """Of each public function, from the report that the build left."""
    report = build_folder() / "models" / "agnews" / "agnews.stack.txt"
    if not report.is_file():
        pytest.skip("the build did not check the stack: not GCC, or not a plain build")
    lines = report.read_text().splitlines()
    assert re.fullmatch(r"stack of agnews, budget \d+ bytes", lines[0])
    found = [re.match(r" *(\d+)  agnews::(\w+) ", line) for line in lines[1:]]
    return {match[2]: int(match[1]) for match in found if match}


def test_the_report_has_every_public_function() -> None:
    header = (ROOT / "generated" / "agnews" / "agnews.hpp").read_text()
    declared = set(re.findall(r"^(?:Status|std::string_view) (\w+)\(", header, re.MULTILINE))
    assert declared == bounds().keys()
    assert {"classify", "classify_pair", "classify_tokens", "encode", "encode_pair", "self_test"} <= declared


def test_painted_stack() -> None:
    limits = bounds()
    done = run(built("promise-painted-stack"))
    assert done.returncode == 0, done.stderr
    first, *lines = done.stdout.splitlines()
    budget = int(first.removeprefix("budget "))
    measured = [(kernel, function, int(depth)) for kernel, function, depth in map(str.split, lines)]
    assert {kernel for kernel, _, _ in measured} >= {"scalar"}
    for kernel, function, depth in measured:
        print(f"{kernel} {function}: painted {depth}, computed {limits[function]}, budget {budget} bytes")
        assert 256 < depth <= limits[function] <= budget, (kernel, function)


def checker_path() -> Path:
    path = build_folder() / "tools" / "stack" / "etch-stack"
    if not path.is_file():
        pytest.skip("the build has no etch-stack: not GCC, or not a plain build")
    return path


@dataclass(frozen=True)
class Checker:
    folder: Path

    def __call__(
        self, source: str, budget: int = 4096, flags: tuple[str, ...] = ()
    ) -> subprocess.CompletedProcess[str]:
        """Compiles a program and bounds its functions."""
        checker = checker_path()
        path = self.folder / "program.cpp"
        path.write_text(source)
        program = path.with_suffix(".o")
        options = (
            "-std=c++17",
            "-O2",
            "-fno-exceptions",
            "-ffunction-sections",
            "-fPIC",
            "-fcallgraph-info=su",
            *flags,
        )
        done = run(tool("g++"), *options, "-c", path, "-o", program)
        if "-fcallgraph-info" in done.stderr:
            pytest.skip("g++ is not GCC")
        assert done.returncode == 0, done.stderr
        return run(checker, "program", str(budget), self.folder / "report", program, "--")

    def report(self) -> str:
        return (self.folder / "report").read_text()


@pytest.fixture
def check(tmp_path: Path) -> Checker:
    return Checker(tmp_path)


FRAME = """
void touch(volatile char* p, int n) noexcept;
void touch(volatile char* p, int n) noexcept { for (int i = 0; i < n; ++i) p[i] = 1; }
template <int N> __attribute__((noinline)) void frame() noexcept { volatile char bytes[N]; touch(bytes, N); }
"""


def test_the_checker_adds_frames(check: Checker) -> None:
    source = (
        FRAME
        + "__attribute__((noinline)) void outer() noexcept { frame<1000>(); volatile char x[500]; touch(x, 500); }"
    )
    assert check(source).returncode == 0
    line = next(line for line in check.report().splitlines() if "  outer" in line)
    assert 1500 <= int(line.split()[0]) <= 1800, line
    done = check(source, budget=1499)
    assert done.returncode == 1
    assert "OVER BUDGET" in done.stderr


def test_the_checker_follows_tables_of_pointers(check: Checker) -> None:
    source = (
        FRAME
        + """
    struct Table { void (*first)() noexcept; void (*second)() noexcept; };
    extern const Table kTable;
    const Table kTable = {frame<16>, frame<3000>};
    void call(const Table& table) noexcept;
    void call(const Table& table) noexcept { table.first(); }
    """
    )
    assert check(source).returncode == 0
    line = next(line for line in check.report().splitlines() if "  call" in line)
    assert int(line.split()[0]) > 3000, line


def test_the_checker_follows_pointers_that_code_makes(check: Checker) -> None:
    source = (
        FRAME
        + """
    using Function = void (*)() noexcept;
    Function make(bool which) noexcept;
    Function make(bool which) noexcept { return which ? frame<16> : frame<3000>; }
    void call(Function function) noexcept;
    void call(Function function) noexcept { function(); }
    """
    )
    for flags in (("-fPIC",), ("-fno-pic",)):
        assert check(source, flags=flags).returncode == 0
        line = next(line for line in check.report().splitlines() if "  call" in line)
        assert int(line.split()[0]) > 3000, (flags, line)


def test_the_checker_adds_what_alignment_costs(check: Checker) -> None:
    source = FRAME + "void outer() noexcept; void outer() noexcept { alignas(64) volatile char x[64]; touch(x, 64); }"
    assert check(source).returncode == 0
    line = next(line for line in check.report().splitlines() if "  outer" in line)
    assert int(line.split()[0]) >= 64 + 64 + 128, line


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("int f(int n); int f(int n) { return n < 2 ? n : f(n - 1) * f(n - 2) + 1; }", "recursion: f > f"),
        (
            "int g(int); __attribute__((noinline)) int f(int n) { return n ? g(n - 1) + 1 : 0; }"
            "__attribute__((noinline)) int g(int n) { return n ? f(n - 1) * 3 : 1; }",
            "recursion: ",
        ),
        ("void take(char*); void f(int n) { char x[n]; take(x); }", "a stack frame of dynamic size: f"),
        ("void take(char*); void f() { char x[9]; take(x); }", "a callee is in none of the objects: f > take"),
        ('extern "C" void* malloc(unsigned long); void* f() { return malloc(3); }', "f > malloc"),
        (
            'extern "C" void* malloc(unsigned long); using F = void* (*)(unsigned long); F f() { return malloc; }'
            "void* g(F h) { return h(3); }",
            "a pointer may lead to malloc",
        ),
        ("void f(void (*g)()); void f(void (*g)()) { g(); } void h() { f(h); }", "recursion: "),
    ],
)
def test_the_checker_refuses_what_has_no_bound(check: Checker, source: str, message: str) -> None:
    done = check(source)
    assert done.returncode == 1, done.stdout
    assert message in done.stderr


def test_the_checker_wants_every_call_graph(check: Checker) -> None:
    assert check("void f() {}").returncode == 0
    (check.folder / "program.ci").unlink()
    done = run(checker_path(), "program", "100", check.folder / "report", check.folder / "program.o", "--")
    assert done.returncode == 1
    assert "cannot be read" in done.stderr
