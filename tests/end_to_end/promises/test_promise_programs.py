# SPDX-License-Identifier: Apache-2.0
"""Programs of the build that show a promise by running: their exit code says whether it holds."""

from __future__ import annotations

import re

import pytest
from archives import run
from classify_program import built_file, tool
from sampling import sampled

PATIENCE = 900  # seconds: programs that count what they reach are not optimized
ALLOCATION_TRAPPED = 3
NO_EFFECT = 3
BATCHES = "2"  # by kernel, one with an executor; without it as many as take half a minute


def sanitized(*arguments: object) -> object:
    """A program that is built with the sanitizers' only."""
    return pytest.param(*arguments, marks=pytest.mark.sweep)


def watched(*arguments: object) -> object:
    """A program with threads that share each text, under the sanitizer that finds races: a minute."""
    return pytest.param(*arguments, marks=[pytest.mark.sweep, pytest.mark.long_case("races within a text")])


def well(name: str, *arguments: str) -> str:
    done = run(built_file(name), *arguments, timeout=PATIENCE)
    assert done.returncode == 0, (done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


def test_a_program_without_any_library() -> None:
    lines = well("promise-no-libc").splitlines()
    assert lines and lines[-1].startswith("scalar ")


def test_it_has_no_library_indeed() -> None:
    program = built_file("promise-no-libc")
    assert run(tool("nm"), "--undefined-only", program).stdout == ""
    dynamic = run(tool("readelf"), "-d", program).stdout
    assert "no dynamic section" in dynamic
    names = run(tool("nm"), program).stdout
    assert not re.search(r"malloc|sbrk|_Znwm|__libc", names)


def test_no_allocation() -> None:
    well("promise-allocation", "10000")


@pytest.mark.sweep
@pytest.mark.long_case("many inferences")
def test_no_allocation_in_many_inferences() -> None:
    well("promise-allocation", "100000")


def test_the_allocation_trap_closes() -> None:
    done = run(built_file("promise-allocation"), "1", "--allocate")
    assert done.returncode == ALLOCATION_TRAPPED
    assert done.stderr == "an allocation during inference\n"


@pytest.mark.parametrize("name", ["promise-two-threads", sanitized("promise-two-threads-tsan")])
def test_two_workspaces_in_two_threads(name: str) -> None:
    assert "same bits" in well(name)


@pytest.mark.parametrize("name", ["promise-one-workspace", sanitized("promise-one-workspace-tsan")])
def test_one_workspace_in_several_threads(name: str) -> None:
    assert "refusals: same bits" in well(name)


@pytest.mark.parametrize("name", ["promise-sharing-threads", watched("promise-sharing-threads-tsan")])
def test_one_text_shared_by_threads(name: str) -> None:
    assert "same bits" in well(name, "few")


@pytest.mark.sweep
def test_texts_of_each_length_shared_by_threads() -> None:
    assert "same bits" in well("promise-sharing-threads")


def test_no_part_of_an_op_sees_another() -> None:
    assert "same bits" in well("promise-isolated-parts")


@pytest.mark.parametrize(("name", "texts"), [("promise-adversary", 4000), watched("promise-adversary-tsan", 100)])
def test_an_executor_that_means_ill(name: str, texts: int) -> None:
    assert "same bits" in well(name, str(texts))


@pytest.mark.sweep
@pytest.mark.parametrize("seed", sampled([2, 3], 1, "seeds of executors"))
@pytest.mark.long_case("an executor that means ill")
def test_an_executor_that_means_ill_for_long(seed: int) -> None:
    assert "same bits" in well("promise-adversary", "50000", str(seed))


def test_batches() -> None:
    assert "same bits" in well("promise-batches", BATCHES)


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["promise-batches", "promise-batches-asan"])
@pytest.mark.long_case("many batches")
def test_many_batches(name: str) -> None:
    assert "same bits" in well(name)


@pytest.mark.parametrize("name", ["promise-steps", sanitized("promise-steps-asan")])
def test_a_call_in_steps(name: str) -> None:
    assert "same bits" in well(name)


@pytest.mark.parametrize("name", ["promise-arena", sanitized("promise-arena-asan"), sanitized("promise-arena-live")])
def test_arena(name: str) -> None:
    assert "same bits" in well(name)


@pytest.mark.parametrize("name", ["promise-float-modes", "promise-subnormals"])
def test_float_modes(name: str) -> None:
    done = run(built_file(name))
    if done.returncode == NO_EFFECT:
        pytest.skip("this processor does not round as it is told, or flushes nothing to zero")
    assert done.returncode == 0, done.stdout
    assert "same bits" in done.stdout


def test_an_executor_that_fails() -> None:
    assert "same bits" in well("promise-failing-executor")


def test_texts_where_a_call_writes() -> None:
    assert "same bits" in well("promise-overlaps")


@pytest.mark.parametrize("name", ["promise-kernel-choice", "promise-kernel-choice-no-avx2"])
def test_kernel_choice(name: str) -> None:
    assert "usable" in well(name)
