# SPDX-License-Identifier: Apache-2.0
"""The fuzz targets: over their committed inputs, on new inputs for a while. The one in Python also in the quick run."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import fuzzing
import pytest
from checkpoint_edits import single_edits
from classify_program import built_file
from fuzz_loader import Loader
from sampling import sampled

SECONDS = 8  # for each target
CPP_TARGETS = [target for target in fuzzing.TARGETS if target != fuzzing.LOADER]
PLAIN = ("delimited", "json", "lines", *fuzzing.PROGRAMS, *fuzzing.WRITERS)  # have sanitizers for libFuzzer only


@pytest.fixture(scope="module")
def loader() -> Iterator[Loader]:
    """The loaders without atheris."""
    loader = Loader()
    yield loader
    loader.close()


def committed(target: str) -> list[Path]:
    files = sorted(path for folder in fuzzing.corpora(target) for path in folder.iterdir())
    assert files, f"tests/fuzz/corpus has nothing for {target}"
    return files


@pytest.mark.sweep
@pytest.mark.parametrize("target", CPP_TARGETS)
def test_committed_inputs(target: str) -> None:
    program = built_file(f"fuzz-{target}")
    files = committed(target)
    done = subprocess.run([program, *files], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout == f"{len(files)} inputs\n"


@pytest.mark.sweep
@pytest.mark.parametrize("target", [target for target in CPP_TARGETS if target not in PLAIN])
def test_sanitizers_watch_the_committed_inputs(target: str) -> None:
    built_file("promise-arena-asan")  # else the compiler has none
    assert b"__asan_init" in built_file(f"fuzz-{target}").read_bytes()


def test_committed_folders(loader: Loader) -> None:
    codes = {loader.run(path.read_bytes()) for path in committed(fuzzing.LOADER)}
    assert "ok" in codes
    assert len(codes) > 50  # refusals of so many kinds: the edits do reach what they are for


def test_a_large_parent_does_not_count() -> None:
    megabytes = 512
    bytearray(megabytes << 20)  # zeroed, so resident until freed
    peak = "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)"
    assert int(fuzzing.output([sys.executable, "-c", peak])) < megabytes


def test_the_help_names_every_target() -> None:
    text = (Path(__file__).parents[2] / "tools" / "fuzz").read_text(encoding="utf-8")
    named = re.search(r"# Targets: (.*?) \(default", text, re.DOTALL)
    assert named is not None
    assert re.findall(r"\w+", named[1]) == list(fuzzing.TARGETS)


@pytest.mark.sweep
def test_every_value_of_every_file(loader: Loader) -> None:
    codes = {loader.run(raw) for raw in single_edits()}
    assert "ok" in codes
    assert len(codes) > 40


@pytest.mark.sweep
@pytest.mark.parametrize("target", sampled(list(fuzzing.TARGETS), 1, "fuzz targets"))
def test_new_inputs(target: str) -> None:
    try:
        outcome = fuzzing.run(target, SECONDS)
    except fuzzing.Missing as reason:
        pytest.skip(str(reason))
    print(outcome)
    assert outcome.finding is None, outcome.log[-4000:]
