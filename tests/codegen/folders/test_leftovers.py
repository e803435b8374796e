# SPDX-License-Identifier: Apache-2.0
"""What a run that was killed leaves beside its target: the next one removes it, and nothing else."""

from __future__ import annotations

import os
import pkgutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from folder_content import content
from test_interrupts import MOMENTS
from test_output import FIRST, SECOND, manifest

from codegen.folders.output import check_target, remove_leftovers, write_output


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder written before, with a build in it."""
    write_output(tmp_path / "model", FIRST, manifest)
    (tmp_path / "model" / "build").mkdir()
    (tmp_path / "model" / "build" / "x.o").write_bytes(b"object")
    return tmp_path / "model"


def child(work: Callable[[], object]) -> int:
    """A process that does the work and may be killed in it."""
    process = os.fork()
    if process == 0:
        work()
        os._exit(0)
    return process


def killed(out: Path, name: str, call: int, *, after: bool) -> None:
    """Writes the folder in a process that kills itself at a call of a function."""
    real: Callable[..., object] = pkgutil.resolve_name(name)
    module, _, attribute = name.rpartition(".")
    calls = iter(range(1000))

    def step(*arguments: object, **keywords: object) -> object:
        now = next(calls) == call
        if now and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        result = real(*arguments, **keywords)
        if now and after:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    def work() -> None:
        setattr(pkgutil.resolve_name(module), attribute, step)
        write_output(out, SECOND, manifest)

    os.waitpid(child(work), 0)


KILLS = MOMENTS | {f"unlink {i}": ("pathlib.Path.unlink", i) for i in range(6)}
KILLS |= {f"mark {i}": ("pathlib.Path.write_bytes", i) for i in range(3)} | {"rmdir": ("pathlib.Path.rmdir", 0)}


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("moment", KILLS)
@pytest.mark.parametrize("older", [False, True], ids=["new", "older"])
def test_killed(moment: str, after: bool, older: bool, out: Path) -> None:
    target = out if older else out.parent / "other"
    before = content(out)
    name, call = KILLS[moment]
    killed(target, name, call, after=after)
    hidden = [path.name for path in out.parent.iterdir() if path.name.startswith(".")]
    said = remove_leftovers(target)
    assert len(said) == len(hidden)
    assert remove_leftovers(target) == []
    names = sorted(path.name for path in out.parent.iterdir())
    assert names in (["model"], ["model", "other"])
    check_target(target)
    if older:  # the one or the other, whole
        left = content(out)
        assert left == before or set(left) == {"a.hpp", "a.cpp", "a.tables", "etch.json", "build", "build/x.o"}
    write_output(target, SECOND, manifest)
    assert all(not path.name.startswith(".") for path in out.parent.iterdir())


def test_what_is_done_is_said(out: Path) -> None:
    killed(out, "os.fsync", 0, after=False)
    (left,) = out.parent.glob(".model.etch.*")
    assert remove_leftovers(out) == [f"removed {left}, which a run that was stopped had left"]
    killed(out, "pathlib.Path.rename", 0, after=True)
    assert not out.exists()
    said = remove_leftovers(out)
    assert f"put back {out}, which a run that was stopped had moved away" in said
    assert (out / "build" / "x.o").read_bytes() == b"object"


def test_folders_of_others_stay(out: Path) -> None:
    """Whatever they are called, and wherever a link leads."""
    parent = out.parent
    names = [
        ".model.etch.abcd1234",
        ".model.old.etch.abcd1234",
        ".model.etch.abc",
        ".model.abcd1234",
        ".other.etch.abcd1234",
    ]
    for name in names:
        (parent / name).mkdir()
        (parent / name / "thesis.tex").write_text("mine")
    (parent / ".model.etch.aaaaaaaa").write_text("a file")
    (parent / ".model.etch.bbbbbbbb").symlink_to(parent / ".model.abcd1234")
    (parent / "marked").mkdir()
    (parent / "marked" / ".etch-unfinished").write_text("not ours")
    (parent / "marked").rename(parent / ".model.etch.cccccccc")
    killed(out, "os.fsync", 1, after=False)
    (left,) = (path for path in parent.glob(".model.etch.*") if (path / "a.hpp").exists())
    before = content(parent)
    assert len(remove_leftovers(out)) == 1
    gone = {name for name in before if name.split("/")[0] == left.name}
    assert content(parent) == {name: data for name, data in before.items() if name not in gone}


def test_an_edited_folder_that_was_moved_away_stays(out: Path) -> None:
    killed(out, "pathlib.Path.rename", 0, after=True)
    (old,) = out.parent.glob(".model.old.*")
    (old / "a.cpp").write_text("edited")
    remove_leftovers(out)
    assert (old / "a.cpp").read_text() == "edited"


def test_a_living_run_keeps_its_folder(out: Path) -> None:
    def work() -> None:
        os.fsync = lambda _: time.sleep(60)  # type: ignore[assignment]
        write_output(out, SECOND, manifest)

    process = child(work)
    try:
        end = time.monotonic() + 30
        while not list(out.parent.glob(".model.etch.*/a.*")) and time.monotonic() < end:
            time.sleep(0.01)
        assert remove_leftovers(out) == []
        assert len(list(out.parent.glob(".model.etch.*"))) == 1
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    assert len(remove_leftovers(out)) == 1
