# SPDX-License-Identifier: Apache-2.0
"""Generative models: no heap, no exceptions, no library, bounded stack, nothing that the arena held before. What
interrupts take is added where a whole firmware is linked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from archives import objects_of, run
from classify_program import ROOT, tool
from model_build import Built, build_library, build_test
from once import once
from test_marian import folder as marian_folder
from test_promise_symbols import ETCH, FORBIDDEN, LIBRARY_FUNCTIONS, LINKER, STATE

from codegen import pipeline

HERE = Path(__file__).parent
GENERATION = ROOT / "tests" / "codegen" / "generation"
ALLOCATION_TRAPPED = 3
FREESTANDING = (
    *("-ffreestanding", "-fno-exceptions", "-fno-rtti", "-fno-stack-protector", "-fno-pic"),
    *("-fno-tree-loop-distribute-patterns", "-nostdlib", "-static", "-no-pie"),
)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(("gpt2", 3), id="gpt2, 3 beams"),
        pytest.param(("marian", 2), id="marian, 2 beams"),
        pytest.param(("llama", 1), id="llama, greedy", marks=pytest.mark.sweep),
    ],
)
def model(request: pytest.FixtureRequest, shared: Path) -> Path:
    family, beams = request.param
    out = shared / "promise_writing" / family / "tale"

    def make() -> None:
        checkpoint = marian_folder(out.parent / "checkpoint") if family == "marian" else GENERATION / family / "texts"
        pipeline.generate(pipeline.Request(checkpoint, out, beams=beams), lambda _: None)

    once(out.parent / "made", "w8a8", make)
    return out


@pytest.fixture(scope="module")
def built(model: Path) -> Built:
    return build_library(model)


def program(model: Path, name: str, out: Path, *flags: str) -> Path:
    searches = "kBeams = 1;" not in (model / "tale.hpp").read_text()
    more = ("-DETCH_MODEL_SEARCHES=1",) if searches else ()
    return build_test(model, HERE / f"writing_{name}.cpp", out / name, *more, *flags)


def test_no_allocation(model: Path, tmp_path: Path) -> None:
    path = program(model, "allocation", tmp_path, "-fno-builtin")
    done = run(path)
    assert (done.returncode, done.stderr) == (0, "")
    assert run(path, "--allocate").returncode == ALLOCATION_TRAPPED


def test_without_any_library(model: Path, tmp_path: Path) -> None:
    path = program(model, "no_libc", tmp_path, *FREESTANDING)
    done = run(path)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1].startswith("scalar ")
    assert run(tool("nm"), "--undefined-only", path).stdout == ""


def test_the_archive_needs_no_heap_and_throws_nothing(built: Built) -> None:
    objects = objects_of(built.library)
    named = {symbol.name for one in objects for symbol in one.symbols}
    assert not {name for name in named if FORBIDDEN.search(name) and not ETCH.match(name)}
    needed = {symbol.name for one in objects for symbol in one.symbols if symbol.kind in "Uwv"}
    assert {name for name in needed if not ETCH.match(name)} - LINKER <= LIBRARY_FUNCTIONS
    assert not [section for one in objects for section in one.sections if STATE.match(section[0]) and section[1]]


def test_the_stack(model: Path, built: Built, tmp_path: Path) -> None:
    """As deep as a call was, the bound that the build computed, the header's budget."""
    report = model / "build" / "tale.stack.txt"
    if not report.is_file():
        pytest.skip("the build did not check the stack: not GCC, or not a plain build")
    bounds = {
        found[2]: int(found[1])
        for line in report.read_text().splitlines()
        if (found := re.match(r" *(\d+)  tale::(\w+) ", line))
    }
    verb = "generate" if "generate" in bounds else "translate"
    ways = {verb, f"{verb}_tokens", "begin", "step", "step_tokens", "begin_batch", "step_batch"}
    assert ways | {"encode", "self_test"} <= bounds.keys()
    done = run(program(model, "stack", tmp_path, "-Wl,-z,now"))
    assert done.returncode == 0, done.stderr
    first, *lines = done.stdout.splitlines()
    budget = int(first.removeprefix("budget "))
    assert {line.split()[0] for line in lines} >= {"scalar"}
    for line in lines:
        _, function, depth = line.split()
        bound = bounds[function.replace("write", verb)]
        assert 256 < int(depth) <= bound <= budget, line


def test_nothing_of_what_the_arena_held(model: Path, tmp_path: Path) -> None:
    done = run(program(model, "arena", tmp_path), timeout=300)
    assert done.returncode == 0, done.stdout
    assert "same bits" in done.stdout
