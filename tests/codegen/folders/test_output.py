# SPDX-License-Identifier: Apache-2.0
"""Writing a generated folder: whole or not at all, nothing of the user's is lost, nothing stale stays."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from folder_content import content

from codegen.errors import EtchError
from codegen.files.rendered import Rendered
from codegen.folders.output import check_target, write_output

FIRST = [Rendered("a.hpp", [b"one ", b"two\n"]), Rendered("a.cpp", [b"code\n"]), Rendered("old.S", [b"stale\n"])]
SECOND = [Rendered("a.hpp", [b"three\n"]), Rendered("a.cpp", [b"code\n"]), Rendered("a.tables", [bytes(100_000)])]


def manifest(files: dict[str, str]) -> bytes:
    return json.dumps({"files": files}).encode()


def refused(out: Path, code: str, files: list[Rendered] = SECOND) -> EtchError:
    """Writing is refused and leaves everything around `out` as it was."""
    before = content(out.parent) if out.parent.is_dir() else None
    with pytest.raises(EtchError) as caught:
        check_target(out)
        write_output(out, files, manifest)
    assert (caught.value.code, caught.value.stage) == (code, "render")
    assert before == (content(out.parent) if out.parent.is_dir() else None)
    return caught.value


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder written before, beside another that is not ours."""
    (tmp_path / "neighbour").mkdir()
    (tmp_path / "neighbour" / "notes.txt").write_text("mine")
    write_output(tmp_path / "model", FIRST, manifest)
    return tmp_path / "model"


def test_new_folder(tmp_path: Path) -> None:
    write_output(tmp_path / "new" / "deep" / "model", FIRST, manifest)
    assert content(tmp_path / "new" / "deep") == {
        "model": None,
        "model/a.hpp": b"one two\n",
        "model/a.cpp": b"code\n",
        "model/old.S": b"stale\n",
        "model/etch.json": manifest({f.name: hashlib.sha256(b"".join(f.content)).hexdigest() for f in FIRST}),
    }
    assert (tmp_path / "new" / "deep" / "model").stat().st_mode & 0o777 == 0o755


def test_empty_folder(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    check_target(tmp_path / "model")
    write_output(tmp_path / "model", FIRST, manifest)
    assert (tmp_path / "model" / "etch.json").exists()


def test_again_removes_stale_files_and_keeps_build(out: Path) -> None:
    (out / "build" / "bin").mkdir(parents=True)
    (out / "build" / "bin" / "classify").write_bytes(b"program")
    check_target(out)
    write_output(out, SECOND, manifest)
    assert set(content(out)) == {
        *("a.hpp", "a.cpp", "a.tables", "etch.json"),
        *("build", "build/bin", "build/bin/classify"),
    }
    assert sorted(path.name for path in out.parent.iterdir()) == ["model", "neighbour"]


def test_deleted_files_do_not_matter(out: Path) -> None:
    (out / "old.S").unlink()
    check_target(out)
    write_output(out, SECOND, manifest)
    assert set(content(out)) == {"a.hpp", "a.cpp", "a.tables", "etch.json"}


def test_foreign_file(out: Path) -> None:
    (out / "notes.txt").write_text("mine")
    assert "notes.txt" in str(refused(out, "target-holds-other-files"))


def test_foreign_folder(out: Path) -> None:
    (out / "src").mkdir()
    refused(out, "target-holds-other-files")


@pytest.fixture
def nested(tmp_path: Path) -> Path:
    """A folder whose files lie in folders."""
    files = [Rendered("include/a.hpp", [b"one\n"]), Rendered("src/deep/b.cpp", [b"two\n"])]
    write_output(tmp_path / "bundle", files, manifest)
    return tmp_path / "bundle"


def test_files_in_folders(nested: Path) -> None:
    check_target(nested)
    assert {name for name, data in content(nested).items() if data is None} == {"include", "src", "src/deep"}
    write_output(nested, SECOND, manifest)
    assert set(content(nested)) == {"a.hpp", "a.cpp", "a.tables", "etch.json"}


@pytest.mark.parametrize("place", ["include", "src", "src/deep"])
def test_foreign_file_in_a_folder(place: str, nested: Path) -> None:
    (nested / place / "notes.txt").write_text("mine")
    assert f"'{place}/notes.txt'" in str(refused(nested, "target-holds-other-files"))


def test_folder_that_became_a_link(nested: Path) -> None:
    (nested / "src").rename(nested.parent / "elsewhere")
    (nested / "src").symlink_to("../elsewhere")
    assert "'src'" in str(refused(nested, "target-holds-other-files"))


def test_folder_that_became_a_file(nested: Path) -> None:
    (nested / "include" / "a.hpp").unlink()
    (nested / "include").rmdir()
    (nested / "include").write_text("mine")
    refused(nested, "target-holds-other-files")


def test_folder_without_manifest(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "a.hpp").write_bytes(b"one two\n")
    refused(tmp_path / "model", "target-holds-other-files")


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"files": 3}', '{"files": {"a.hpp": 3}}', "\xff", '{"files": ["a.hpp"]}']
)
def test_broken_manifest(text: str, out: Path) -> None:
    (out / "etch.json").write_text(text, encoding="latin-1")
    with pytest.raises(EtchError) as caught:
        check_target(out)
    assert caught.value.code in ("target-holds-other-files", "target-changed")


def test_changed_file(out: Path) -> None:
    (out / "a.cpp").write_bytes(b"edited\n")
    assert "a.cpp" in str(refused(out, "target-changed"))


def test_file_that_became_a_folder(out: Path) -> None:
    (out / "a.cpp").unlink()
    (out / "a.cpp").mkdir()
    (out / "a.cpp" / "mine").write_text("mine")
    refused(out, "target-changed")


def test_file_that_became_a_link(out: Path) -> None:
    (out / "a.cpp").unlink()
    (out / "a.cpp").symlink_to(out.parent / "neighbour" / "notes.txt")
    refused(out, "target-changed")


def test_target_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "model").write_text("mine")
    refused(tmp_path / "model", "target-not-a-folder")
    refused(tmp_path / "model" / "deeper", "target-not-a-folder")


def test_target_is_a_link(out: Path) -> None:
    (out.parent / "link").symlink_to(out)
    refused(out.parent / "link", "target-not-a-folder")
    (out.parent / "dangling").symlink_to(out.parent / "nowhere")
    refused(out.parent / "dangling", "target-not-a-folder")


def test_parent_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(EtchError) as caught:
        write_output(tmp_path / "file" / "deep" / "model", FIRST, manifest)
    assert caught.value.code == "target-not-writable"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_parent_is_read_only(tmp_path: Path) -> None:
    parent = tmp_path / "parent"
    parent.mkdir()
    parent.chmod(0o555)
    try:
        refused(parent / "model", "target-not-writable")
    finally:
        parent.chmod(0o755)


def test_it_appeared_while_we_worked(tmp_path: Path) -> None:
    """The target is checked again before it is replaced."""
    out = tmp_path / "model"

    def late(files: dict[str, str]) -> bytes:
        out.mkdir()
        (out / "mine").write_text("mine")
        return manifest(files)

    with pytest.raises(EtchError) as caught:
        write_output(out, FIRST, late)
    assert caught.value.code == "target-holds-other-files"
    assert content(tmp_path) == {"model": None, "model/mine": b"mine"}


class Full(list[bytes]):
    """Content whose second piece meets a full disk."""

    def __iter__(self) -> Iterator[bytes]:
        yield b"first half"
        raise OSError(28, "No space left on device")


class Interrupted(list[bytes]):
    """Content in the middle of which Ctrl-C arrives."""

    def __iter__(self) -> Iterator[bytes]:
        yield b"first half"
        raise KeyboardInterrupt


def test_disk_full(out: Path, tmp_path: Path) -> None:
    files = [*FIRST, Rendered("b.tables", Full())]
    assert "No space left" in str(refused(out, "write-failed", files))
    refused(tmp_path / "fresh", "write-failed", files)


def test_no_folders_are_left_where_nothing_was_written(tmp_path: Path) -> None:
    with pytest.raises(EtchError):
        write_output(tmp_path / "new" / "deep" / "model", [Rendered("b", Full())], manifest)
    assert content(tmp_path) == {}


def test_interrupted(out: Path) -> None:
    before = content(out.parent)
    with pytest.raises(KeyboardInterrupt):
        write_output(out, [*SECOND, Rendered("z", Interrupted())], manifest)
    assert content(out.parent) == before


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), KeyboardInterrupt()], ids=["error", "Ctrl-C"])
@pytest.mark.parametrize("failing", range(3))
def test_failure_while_swapping(failing: int, error: BaseException, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of the three renames fails once; the old folder is as it was, its build too, and nothing lies beside it."""
    (out / "build").mkdir()
    (out / "build" / "x.o").write_bytes(b"object")
    before = content(out.parent)
    failing_at(failing, error, monkeypatch)
    with pytest.raises((EtchError, KeyboardInterrupt)) as caught:
        write_output(out, SECOND, manifest)
    assert isinstance(caught.value, KeyboardInterrupt) or caught.value.code == "write-failed"
    assert content(out.parent) == before


def test_nothing_is_deleted_where_even_putting_back_fails(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old files are still there, under the temporary name."""
    before = content(out)
    failing_at(1, OSError(5, "Input/output error"), monkeypatch, times=100)
    with pytest.raises(EtchError):
        write_output(out, SECOND, manifest)
    (kept,) = out.parent.glob(".model.old.*")
    assert content(kept) == before


def failing_at(call: int, error: BaseException, monkeypatch: pytest.MonkeyPatch, times: int = 1) -> None:
    """Path.rename raises from its call-th call on, so many times."""
    rename: Callable[[Path, Path], Path] = Path.rename
    calls = iter(range(100))

    def sometimes(self: Path, target: Path) -> Path:
        if call <= next(calls) < call + times:
            raise error
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", sometimes)


@pytest.mark.parametrize("older", [False, True], ids=["new", "older"])
@pytest.mark.parametrize("failing", range(len(SECOND) + 1))
def test_each_file_meets_a_full_disk(failing: int, older: bool, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last one is the manifest."""
    sync, calls = os.fsync, iter(range(100))

    def full(descriptor: int) -> None:
        if next(calls) == failing:
            raise OSError(28, "No space left on device")
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    assert "No space left" in str(refused(out if older else out.parent / "fresh", "write-failed"))
    assert next(calls) == failing + 1


def test_a_file_that_appears_at_the_last_moment(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the last check under its own name."""
    rename: Callable[[Path, Path], Path] = Path.rename

    def late(self: Path, target: Path) -> Path:
        if self == out:
            (out / "thesis.tex").write_text("mine")
        return rename(self, target)

    before = content(out.parent)
    monkeypatch.setattr(Path, "rename", late)
    with pytest.raises(EtchError) as caught:
        write_output(out, SECOND, manifest)
    assert caught.value.code == "target-holds-other-files"
    assert str(out) in str(caught.value)
    assert content(out.parent) == before | {"model/thesis.tex": b"mine"}


def test_a_folder_that_appears_at_the_last_moment(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of another program, which takes no lock; what we had moved away is kept."""
    rename: Callable[[Path, Path], Path] = Path.rename
    before = content(out)

    def late(self: Path, target: Path) -> Path:
        if target == out:
            out.mkdir()
            (out / "thesis.tex").write_text("mine")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", late)
    with pytest.raises(EtchError, match="write-failed"):
        write_output(out, SECOND, manifest)
    assert content(out) == {"thesis.tex": b"mine"}
    (kept,) = out.parent.glob(".model.*")
    assert content(kept) == before


def test_target_that_cannot_be_changed(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != out or not mode & os.W_OK)
    refused(out, "target-not-writable")


def test_target_is_looked_at_while_nobody_exchanges_it(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two looks another run could have moved the folder away, which then seemed not to be writable."""
    fcntl = pytest.importorskip("fcntl")
    access, alone = os.access, []

    def look(path: Path, mode: int) -> bool:
        folder = os.open(out.parent, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            alone.append(path)
        finally:
            os.close(folder)
        return access(path, mode)

    monkeypatch.setattr(os, "access", look)
    check_target(out)
    assert alone == [out]


def writer(out: Path, number: int, start: threading.Barrier, results: multiprocessing.Queue[str]) -> None:
    """Writes the folder again and again, each time whole, beside others that do the same."""
    start.wait()
    for turn in range(15):
        text = f"{number} {turn}".encode()
        files = [Rendered("a.hpp", [text]), Rendered(f"{number}.cpp", [text]), Rendered("a.tables", [text * 1000])]
        try:
            check_target(out)
            write_output(out, files, manifest)
        except BaseException as error:
            results.put(f"{type(error).__name__}: {error}")
            return
    results.put("")


def test_several_at_once(out: Path) -> None:
    (out / "build").mkdir()
    (out / "build" / "x.o").write_bytes(b"object")
    context = multiprocessing.get_context("fork")
    start, results = context.Barrier(4), context.Queue()
    writers = [context.Process(target=writer, args=(out, number, start, results)) for number in range(4)]
    for process in writers:
        process.start()
    assert [results.get(timeout=60) for _ in writers] == [""] * 4
    for process in writers:
        process.join()
    assert sorted(path.name for path in out.parent.iterdir()) == ["model", "neighbour"]
    recorded = json.loads((out / "etch.json").read_bytes())["files"]
    assert {path.name for path in out.iterdir()} == {*recorded, "etch.json", "build"}
    assert len({(out / name).read_bytes()[:4].split(b" ")[0] for name in recorded}) == 1
    assert (out / "build" / "x.o").read_bytes() == b"object"
    check_target(out)
