# SPDX-License-Identifier: Apache-2.0
"""Builds the fuzz targets and runs them. Started by tools/fuzz, which installs what is needed, and by test_fuzz.py."""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tools.support.options import OptionParser

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build" / "fuzz"
SANITIZERS = (
    "-gline-tables-only -fsanitize=fuzzer-no-link,address,undefined,float-cast-overflow -fno-sanitize-recover=all"
)
LOADER = "loader"
WRITERS = ("writing_translator", "writing_prompted")
PROGRAMS = tuple(f"program_{task}" for task in ("classify", "labels", "regress", "embed"))
# Target -> longest input in bytes. Longer ones reach nothing new, and cost what short ones could have found.
TARGETS = {
    "tokenizer": 256,
    "byte_level": 128,
    "unigram": 128,
    "parts": 128,
    "decode": 128,
    "classify": 96,  # tokens cost milliseconds here
    "token_ids": 64,
    **dict.fromkeys(WRITERS, 128),
    "tags": 512,
    "masks": 2100,
    "answers": 1024,
    "delimited": 256,
    "json": 128,
    "lines": 512,
    **dict.fromkeys(PROGRAMS, 384),
    LOADER: 96,
}
_DICTIONARIES = {
    "byte_level": "tokenizer",
    "unigram": "tokenizer",
    "parts": "tokenizer",
    "classify": "tokenizer",
    "json": "tokenizer",
    "lines": "delimited",
    **dict.fromkeys(PROGRAMS, "program"),
}
# Where it matters how often a branch is taken, not only that it is.
_COUNTED = ("tokenizer", "byte_level", "unigram", "parts", "delimited", "lines")
_SLOWEST = 25  # seconds for one input: a machine may be busy
# libFuzzer stops where its peak of resident memory passes a limit, and on Linux a program starts with the peak of the
# process that started it: of a test run that once held gigabytes. What a shell starts has a small one.
_FROM_A_SHELL = ("/bin/sh", "-c", '"$@"; exit $?', "sh")


class Missing(Exception):
    """Why fuzzing is not possible here."""


@dataclass(frozen=True)
class Outcome:
    """What a run came to."""

    target: str
    inputs: int
    seconds: float
    finding: Path | None  # the input
    log: str

    def __str__(self) -> str:
        found = f"a finding: {self.finding}" if self.finding else "no finding"
        return f"{self.target}: {self.inputs} inputs in {self.seconds:.0f} s, {found}"


def corpora(target: str) -> list[Path]:
    """The committed inputs of a target: the few that reach what is known to be reachable, and named ones."""
    return [folder for folder in (HERE / "corpus" / target, HERE / "cases" / target) if folder.is_dir()]


@functools.cache
def command(target: str) -> tuple[str, ...]:
    """What runs a target; built where that is needed. `Missing` where it cannot be."""
    if target == LOADER:
        if importlib.util.find_spec("atheris") is None:
            raise Missing("atheris is not installed (tests/fuzz/requirements.txt; it has wheels for x86-64 Linux only)")
        return (sys.executable, str(HERE / "fuzz_loader.py"))
    _configure()
    jobs = str(os.cpu_count() or 1)
    _step("cmake", "--build", BUILD, "--parallel", jobs, "--target", f"fuzz-{target}", "--", "--quiet")
    return (str(BUILD / "bin" / f"fuzz-{target}"),)


@functools.cache
def _configure() -> None:
    """The build of the C++ targets, with clang."""
    compiler = shutil.which("clang++")
    if compiler is None:
        raise Missing("clang++ is not installed")
    probe = [compiler, "-fsanitize=fuzzer,address,undefined", "-x", "c++", "-", "-o", os.devnull]
    source = 'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }'
    if subprocess.run(probe, input=source, text=True, capture_output=True, check=False).returncode != 0:
        raise Missing("clang++ has no fuzzer runtime (Debian: libclang-rt-14-dev)")
    options = {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_CXX_COMPILER": compiler,
        "CMAKE_ASM_COMPILER": compiler.removesuffix("++"),
        "CMAKE_CXX_FLAGS": SANITIZERS,
        "ETCH_BUILD_TESTS": "ON",
        "ETCH_FUZZ": "ON",
        "ETCH_MODEL_DIRS": ROOT / "generated" / "agnews",
        "ETCH_PYTHON": sys.executable,
    }
    definitions = [f"-D{name}={value}" for name, value in options.items()]
    _step("cmake", "-S", ROOT, "-B", BUILD, "--log-level=WARNING", *definitions)


def _step(*command: str | Path) -> None:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"building a fuzz target failed:\n{done.stdout[-4000:]}")


def run(target: str, seconds: int) -> Outcome:
    """Runs a target over what is committed and kept, then on new inputs for a time; 0 seconds: until interrupted."""
    program = command(target)
    kept = BUILD / "corpus" / target
    findings = BUILD / "findings"
    for folder in (kept, findings):
        folder.mkdir(parents=True, exist_ok=True)
    options = [f"-max_total_time={seconds}", f"-artifact_prefix={findings}/{target}-", *_options(target)]
    begin = time.monotonic()
    log = output([*program, *options, str(kept), *map(str, corpora(target))])
    inputs = re.findall(r"^(?:Done|#)(?: |)(\d+)", log, re.MULTILINE)
    finding = re.search(r"Test unit written to (.+)", log)
    if finding is None and not re.search(r"^Done \d+ runs", log, re.MULTILINE):
        raise RuntimeError(f"{target} ended without a result:\n{log[-4000:]}")
    path = Path(finding[1]) if finding else None
    return Outcome(target, max(map(int, inputs), default=0), time.monotonic() - begin, path, log)


def minimize(target: str) -> int:
    """Folds what is kept into the committed corpus: the fewest inputs that reach the same. How many these are."""
    program = command(target)
    into = HERE / "corpus" / target
    fresh = BUILD / "minimized" / target
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    sources = [folder for folder in (*corpora(target), BUILD / "corpus" / target) if folder.is_dir()]
    merge = ["-set_cover_merge=1", f"-use_counters={int(target in _COUNTED)}"]
    log = output([*program, *merge, *_options(target), str(fresh), *map(str, sources)])
    count = len(list(fresh.iterdir()))
    if count == 0:
        raise RuntimeError(f"nothing is left of the inputs of {target}:\n{log[-4000:]}")
    shutil.rmtree(into, ignore_errors=True)
    shutil.copytree(fresh, into)
    return count


def _options(target: str) -> list[str]:
    dictionary = HERE / "dictionaries" / f"{_DICTIONARIES.get(target, target)}.dict"
    options = [f"-max_len={TARGETS[target]}", "-len_control=20", f"-timeout={_SLOWEST}"]
    options += [f"-report_slow_units={_SLOWEST}"]  # below that libFuzzer would write the input down like a finding
    return [*options, f"-dict={dictionary}"] if dictionary.is_file() else options


def output(arguments: list[str]) -> str:
    """What a program prints, both streams in one; it starts with a small peak of resident memory."""
    done = subprocess.run([*_FROM_A_SHELL, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.stdout.decode("utf-8", "replace")


def main() -> int:
    """Exit code 0 without a finding, 1 with one, 3 where nothing could be run."""
    parser = OptionParser("fuzz")
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--minimize", action="store_true")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.targets if name not in TARGETS]
    if unknown or arguments.seconds < 0:
        parser.error(f"unknown target {unknown[0]}" if unknown else "--seconds must not be negative")
    outcomes = []
    try:
        for target in arguments.targets or TARGETS:
            try:
                if arguments.minimize:
                    print(f"{target}: {minimize(target)} inputs", flush=True)
                    continue
                outcomes.append(run(target, arguments.seconds))
            except Missing as reason:
                print(f"{target}: not run: {reason}", flush=True)
                continue
            print(outcomes[-1], flush=True)
            if outcomes[-1].finding:
                print(outcomes[-1].log[-4000:], flush=True)
    except KeyboardInterrupt:
        print(f"fuzz: interrupted; new inputs are under {BUILD / 'corpus'}", file=sys.stderr)
        return 0
    if not outcomes and not arguments.minimize:
        return 3
    return 1 if any(outcome.finding for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
