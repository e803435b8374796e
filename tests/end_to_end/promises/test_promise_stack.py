# SPDX-License-Identifier: Apache-2.0
"""Painted stacks against the bound that the build computed, and the checker itself on small programs."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from archives import run
from classify_program import ROOT, build_folder, built_file, tool


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
    declared = set(re.findall(r"^[\w:]+ (\w+)\(", header, re.MULTILINE))
    assert declared == bounds().keys()
    assert {"classify", "classify_pair", "classify_tokens", "encode", "encode_pair", "self_test"} <= declared


@pytest.mark.parametrize("binding", ["now", "lazy"])
def test_painted_stack(binding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The budget is that of a program whose library functions are bound before: by its linker, or by who starts it."""
    limits = bounds()
    if binding == "lazy":
        monkeypatch.setenv("LD_BIND_NOW", "1")
    else:
        monkeypatch.delenv("LD_BIND_NOW", raising=False)
    done = run(built_file(f"promise-painted-stack-{binding}"))
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


CROSS = {"arm-none-eabi-g++": ("-mcpu=cortex-m3", "-mthumb", "-ffreestanding"), "aarch64-linux-gnu-g++": ()}

ARM_MODE = {"arm-none-eabi-g++": [("-fno-pic", "-marm", f"-mcpu={cpu}") for cpu in ("cortex-a7", "arm7tdmi")]}


@dataclass(frozen=True)
class Checker:
    folder: Path
    compiler: str = "g++"

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
            "-fno-stack-protector",
            "-ffunction-sections",
            "-fPIC",
            "-fcallgraph-info=su",
            *CROSS.get(self.compiler, ()),
            *flags,
        )
        done = run(tool(self.compiler), *options, "-c", path, "-o", program)
        if "-fcallgraph-info" in done.stderr:
            pytest.skip("g++ is not GCC")
        assert done.returncode == 0, done.stderr
        return run(checker, "program", str(budget), self.folder / "report", program, "--")

    def report(self) -> str:
        return (self.folder / "report").read_text()


@pytest.fixture(params=["g++", *CROSS])
def check(tmp_path: Path, request: pytest.FixtureRequest) -> Checker:
    return Checker(tmp_path, request.param)


@pytest.fixture
def check_host(tmp_path: Path) -> Checker:
    return Checker(tmp_path)


@pytest.fixture
def check_arm(tmp_path: Path) -> Checker:
    return Checker(tmp_path, "arm-none-eabi-g++")


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
    assert int(line.split()[0]) >= 3000, line


def test_the_checker_follows_pointers_that_code_makes(check: Checker) -> None:
    source = (
        FRAME
        + """
    using Function = void (*)() noexcept;
    Function make(bool which) noexcept;
    namespace { __attribute__((noinline)) void large() noexcept { frame<3000>(); } }
    Function make(bool which) noexcept { return which ? frame<16> : large; }
    void call(Function function) noexcept;
    void call(Function function) noexcept { function(); }
    """
    )
    for flags in [("-fPIC",), ("-fno-pic",), *ARM_MODE.get(check.compiler, [])]:
        assert check(source, flags=flags).returncode == 0
        line = next(line for line in check.report().splitlines() if "  call" in line)
        assert int(line.split()[0]) >= 3000, (flags, line)


def test_jump_tables_are_no_pointers(check: Checker) -> None:
    source = """
    void work(int i) noexcept;
    void call(void (*function)(int) noexcept, int i) noexcept {
        switch (i) {
            case 0: work(7); break;
            case 1: work(31); work(2); break;
            case 2: function(i); break;
            case 3: work(3); work(9); break;
            case 4: work(5); break;
            case 5: work(1); work(4); break;
        }
    }
    volatile int sink;
    __attribute__((noinline)) void work(int i) noexcept { sink = i; }
    using Function = void (*)(int) noexcept;
    Function which() noexcept { return work; }
    """
    for flags in [("-fno-pic",), *ARM_MODE.get(check.compiler, [])]:
        done = check(source, flags=flags)
        assert done.returncode == 0, (flags, done.stderr)


def test_the_checker_adds_what_alignment_costs(check_host: Checker) -> None:
    source = FRAME + "void outer() noexcept; void outer() noexcept { alignas(64) volatile char x[64]; touch(x, 64); }"
    assert check_host(source).returncode == 0
    line = next(line for line in check_host.report().splitlines() if "  outer" in line)
    assert int(line.split()[0]) >= 64 + 64 + 128, line


def test_the_checker_counts_arithmetic_that_the_cpu_has_not(check_arm: Checker) -> None:
    assert check_arm("float f(float a, float b) noexcept { return a * b + 1.0f; }").returncode == 0
    assert re.search(r" f \d+ > __aeabi_f\w+ 96$", check_arm.report(), re.MULTILINE), check_arm.report()
    assert check_arm("int f(unsigned long long a) noexcept { return __builtin_popcountll(a) + 1; }").returncode == 0
    assert re.search(r" f \d+ > __popcountdi2 96$", check_arm.report(), re.MULTILINE), check_arm.report()


VECTORS = """
extern "C" void reset() noexcept;
extern "C" void tick() noexcept;
extern "C" void fault() noexcept;
extern char stack_top[];
struct Vectors { void* stack; void (*entries[5])() noexcept; };
extern const Vectors vectors;
__attribute__((section(".vectors"), used)) const Vectors vectors = {stack_top, {reset, fault, fault, nullptr, tick}};
void tick() noexcept { frame<100>(); }
void fault() noexcept { frame<200>(); }
using Function = void (*)() noexcept;
extern Function volatile chosen;
Function volatile chosen = frame<400>;
"""


def test_the_checker_adds_interrupts_to_the_whole_program(check_arm: Checker) -> None:
    """The hardware alone calls what the vector table names: a call through a pointer does not lead back to reset."""
    assert check_arm(FRAME + VECTORS + "void reset() noexcept { chosen(); }").returncode == 0
    line = check_arm.report().splitlines()[1]
    total, chain = re.fullmatch(r" *(\d+)  whole program: (.*)", line).groups()
    reset, *handlers = chain.split(" + interrupt 108 > ")
    assert reset.startswith("reset ")
    assert "frame 4" in reset
    assert sorted(handler.split()[0] for handler in handlers) == ["fault", "tick"]
    frames = sum(int(step.split()[1]) for part in (reset, *handlers) for step in part.split(" > "))
    assert int(total) == frames + 2 * 108
    done = check_arm(FRAME + VECTORS + "void reset() noexcept { chosen(); }", budget=int(total) - 1)
    assert done.returncode == 1
    assert "whole program: reset" in done.stderr
    assert "OVER BUDGET by 1\n" in done.stderr


def test_the_checker_follows_branches_of_assembly(check_arm: Checker) -> None:
    jump = 'extern "C" __attribute__((naked)) void reset() noexcept { asm volatile("b start"); }'
    start = 'extern "C" void start() noexcept { frame<700>(); }'
    assert check_arm(f"{FRAME} {start} {jump}").returncode == 0
    line = next(line for line in check_arm.report().splitlines() if "  reset" in line)
    assert re.search(r" reset 0 > start \d+ > frame 7\d\d", line), line


def test_the_checker_is_told_what_the_linker_script_defines(check_arm: Checker) -> None:
    source = "extern char begin[]; char* first() noexcept { return begin; } void call(void (*f)()) { f(); }"
    done = check_arm(source)
    assert "a pointer may lead to begin, which is in none of the objects" in done.stderr
    done = run(*done.args, "--", "begin")
    assert done.returncode == 0, done.stderr


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


def test_the_checker_wants_every_call_graph(check_host: Checker) -> None:
    assert check_host("void f() {}").returncode == 0
    (check_host.folder / "program.ci").unlink()
    done = run(checker_path(), "program", "100", check_host.folder / "report", check_host.folder / "program.o", "--")
    assert done.returncode == 1
    assert "cannot be read" in done.stderr
