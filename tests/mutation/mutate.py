# SPDX-License-Identifier: Apache-2.0
"""Breaks parts of the generator and of the runtime in small ways and counts how many of these the tests notice.

Works on a copy of the tree. Started by tools/mutate, which installs what is needed.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import replay
from areas import AREAS, PYTEST, Area, Suite
from operators import Mutant, mutants_of

from codegen.process.children import run_with_children
from tools.support.options import OptionParser

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "mutation"
TREE = WORK / "tree"
BUILD = WORK / "build"
RECORDED = WORK / "recorded"
COPIED = (
    "CMakeLists.txt",
    "CMakePresets.json",
    "pyproject.toml",
    "codegen",
    "firmware-demo",
    "generated",
    "runtime",
    "tests",
    "tools",
)
VERDICTS = Path(__file__).resolve().parent / "survivors.txt"
LEAST_KILLED = 0.85

TESTS_FAILED = 1  # pytest's exit code for no other reason


def run(command: tuple[str, ...] | list[str], seconds: float, built: Path = BUILD) -> bool:
    """True where it ended well and in time."""
    return exit_code(command, seconds, built) == 0


def exit_code(command: tuple[str, ...] | list[str], seconds: float, built: Path = BUILD) -> int | None:
    """None where it takes longer. Its output is dropped, its children end with it. Tests find programs in `built`."""
    first = BUILD / command[0]
    full = [str(first) if first.is_file() else command[0], *command[1:]]
    environment = os.environ | {"ETCH_BUILD": str(built), "ETCH_SEED": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        return run_with_children(full, seconds, cwd=TREE, env=environment, **silent).returncode
    except subprocess.TimeoutExpired:
        return None


def prepare() -> None:
    """A fresh copy of the tree, configured; the build folder is kept."""
    for folder in (TREE, RECORDED):
        shutil.rmtree(folder, ignore_errors=True)
    for name in COPIED:
        target = TREE / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target, ignore=shutil.ignore_patterns("__pycache__", "build"))
        else:
            shutil.copy2(ROOT / name, target)
    share_nothing(TREE / "runtime" / "src" / "kernels")
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    # Compiling with emulated instructions takes long: only where the CPU has not the set's own.
    emulated = "OFF" if "avx512_vnni" in Path("/proc/cpuinfo").read_text() else "ON"
    options = ["-DCMAKE_BUILD_TYPE=Release", "-DETCH_BUILD_TESTS=ON", f"-DETCH_EMULATED_KERNELS={emulated}"]
    # -O1 behind the -O2 of the targets: compiling takes most of the time.
    rule = "<CMAKE_CXX_COMPILER> <DEFINES> <INCLUDES> <FLAGS> -O1 -o <OBJECT> -c <SOURCE>"
    # It makes larger frames than headers promise: -O0, which the others overrule, tells stack.cmake not to check them.
    options += [f"-DCMAKE_CXX_COMPILE_OBJECT={rule}", "-DCMAKE_CXX_FLAGS=-O0", "--log-level=WARNING"]
    if not run(["cmake", "-S", str(TREE), "-B", str(BUILD), *generator, *options], 600):
        sys.exit("mutate: the copy cannot be configured")


def share_nothing(kernels: Path) -> None:
    """Gives each kernel set its own copy of what the sets share, so that a mutant breaks, and rebuilds, one of them."""
    shared = kernels / "vector"
    for source in kernels.glob("*/*.cpp"):
        text = source.read_text()
        if '"../vector/' in text:
            shutil.copytree(shared, source.parent / "vector")
            source.write_text(text.replace('"../vector/', '"vector/'))


def name_in_tree(path: str) -> tuple[str, str]:
    """The name of a file before share_nothing(), and in whose copy it is."""
    found = re.fullmatch(r"(.*/kernels/)(\w+)/(vector/.*)", path)
    return (found[1] + found[3], f" in {found[2]}") if found else (path, "")


def build(target: str | None) -> bool:
    """Builds one target of the copy; nothing for none."""
    return target is None or run(["cmake", "--build", str(BUILD), "--parallel", "1", "--target", target], 900)


def record(program: str) -> Path:
    """A folder of a build whose one program writes down its calls in bin/calls."""
    shutil.rmtree(RECORDED, ignore_errors=True)
    replay.recorder(RECORDED / "bin", BUILD / "bin" / program)
    return RECORDED


class Objects:
    """The compiled code of the runtime, and of the tests and models that its headers are in, as it is now, without what
    strip takes away."""

    def __init__(self) -> None:
        self._known = {path: (path.stat().st_mtime_ns, self._digest(path)) for path in self._files()}

    def unchanged(self) -> bool:
        """Whether every object made since has the same code."""
        return all(
            path.stat().st_mtime_ns == self._known[path][0] or self._digest(path) == self._known[path][1]
            for path in self._files()
        )

    def _files(self) -> list[Path]:
        return sorted(path for part in ("runtime", "tests") for path in (BUILD / part).rglob("*.o"))

    def _digest(self, path: Path) -> str:
        stripped = WORK / "stripped.o"
        subprocess.run(["strip", "-o", stripped, path], check=True)
        return hashlib.sha256(stripped.read_bytes()).hexdigest()


class Session:
    """One area, built and run once as it is; judge() then makes one change, and undoes it."""

    def __init__(self, area: Area) -> None:
        self._suites = []
        for suite in area.suites:
            if not build(suite.target):
                sys.exit(f"mutate: the copy cannot be built: {suite.target}")
            begin = time.monotonic()
            if not run(suite.command, 900, BUILD if suite.asks is None else record(suite.asks)):
                sys.exit(f"mutate: fails without any change: {' '.join(suite.command)}")
            self._suites.append((suite, 3 * (time.monotonic() - begin) + 5))
        self._calls = replay.read(RECORDED / "bin" / "calls")  # none where nothing was recorded
        self._objects = Objects()

    def judge(self, mutant: Mutant) -> str:
        """`killed`, `survived`, `equivalent` (the same object code), or `invalid` (does not compile)."""
        path = TREE / mutant.path
        original = path.read_text()
        path.write_text(mutant.apply(original))
        try:
            return self._judge(mutant, original)
        finally:
            path.write_text(original)

    def _judge(self, mutant: Mutant, original: str) -> str:
        if mutant.path.endswith(".py"):
            try:
                if compile(original, "", "exec") == compile(mutant.apply(original), "", "exec"):
                    return "equivalent"
            except SyntaxError:
                return "invalid"
        for index, (suite, seconds) in enumerate(self._suites):
            if not build(suite.target):
                return "invalid"
            if index == 0 and suite.compiled_whole and self._objects.unchanged():
                return "equivalent"
            if not (self._passes_recorded(suite, seconds) if suite.asks else run(suite.command, seconds)):
                return "killed"
        return "survived"

    def _passes_recorded(self, suite: Suite, seconds: float) -> bool:
        """Whether a suite passes, by what it asked: where an answer is another one, by its tests."""
        assert suite.asks is not None
        program = BUILD / "bin" / suite.asks
        for call in self._calls:
            answer = replay.ask(program, call)
            if answer == replay.Answer.NONE:
                return False
            if answer == replay.Answer.OTHER:
                # The test that asked need not be the one that looks at the answer.
                return exit_code((*PYTEST, call.test), seconds) != TESTS_FAILED and run(suite.command, seconds)
        return True


def sample(area: Area, seed: int) -> list[Mutant]:
    """Every mutant of the area in an order that the seed decides."""
    mutants = []
    for pattern in area.sources:
        for path in sorted(TREE.glob(pattern)):
            if path.name not in area.without:
                mutants += mutants_of(str(path.relative_to(TREE)), path.read_text())
    random.Random(seed).shuffle(mutants)
    return mutants


def verdicts() -> dict[tuple[str, str, str], str]:
    """Of survivors looked at before: paragraphs of the file, the line, the change, and what was found."""
    found = {}
    kept = "\n".join(line for line in VERDICTS.read_text().split("\n") if not line.startswith("# "))
    for paragraph in kept.strip().split("\n\n"):
        if paragraph:
            path, code, change, verdict = (line.strip() for line in paragraph.strip().split("\n"))
            found[path, code, change] = verdict
    return found


def rounds(mutants: list[Mutant], count: int, judged: Counter[str]) -> Iterator[Mutant]:
    """Mutants until `count` have been run, those of one file together: fewer objects are rebuilt."""
    while mutants and (missing := count - judged["killed"] - judged["survived"]) > 0:
        batch, mutants[:] = mutants[:missing], mutants[missing:]
        yield from sorted(batch, key=lambda mutant: (mutant.path, mutant.begin))


def mutate(name: str, count: int, seed: int, lines: list[str]) -> bool:
    """Runs `count` mutants of an area, or all of some lines, and says what became of them; True where enough died."""
    session = Session(AREAS[name])
    mutants = sample(AREAS[name], seed)
    if lines:
        mutants = [mutant for mutant in mutants if f"{name_in_tree(mutant.path)[0]}:{mutant.line}" in lines]
        count = len(mutants)
    total = len(mutants)
    known = verdicts()
    judged: Counter[str] = Counter()
    for mutant in rounds(mutants, count, judged):
        outcome = session.judge(mutant)
        judged[outcome] += 1
        if outcome == "survived":
            line = (TREE / mutant.path).read_text().split("\n")[mutant.line - 1].strip()
            path, where = name_in_tree(mutant.path)
            verdict = known.get((path, line, mutant.change), "no verdict yet")
            print(f"survived: {path}:{mutant.line}{where}\n    {line}\n    {mutant.change}\n    {verdict}", flush=True)
    tried = judged["killed"] + judged["survived"]
    share = judged["killed"] / max(tried, 1)
    print(
        f"{name}: {judged['killed']} of {tried} killed ({100 * share:.1f} %), {judged['survived']} survived, "
        f"{judged['equivalent']} with the same object code, {judged['invalid']} that do not compile; "
        f"seed {seed}, {total} possible",
        flush=True,
    )
    return share >= LEAST_KILLED


def main() -> int:
    parser = OptionParser("mutate")
    parser.add_argument("--area", choices=tuple(AREAS), action="append")
    parser.add_argument("--count", type=int, default=80)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--line", action="append", default=[])
    arguments = parser.parse_args()
    prepare()
    areas = arguments.area or AREAS
    enough = [mutate(area, arguments.count, arguments.seed, arguments.line) for area in areas]
    return 0 if all(enough) else 1


if __name__ == "__main__":
    sys.exit(main())
