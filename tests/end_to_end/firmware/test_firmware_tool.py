# SPDX-License-Identifier: Apache-2.0
"""tools/firmware itself: what it lists and refuses, for which neither cross compiler nor emulator is needed; where it
builds a model; and what the firmware's CMake options refuse."""

from __future__ import annotations

import fcntl
import hashlib
import io
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

import emulator
import pytest
from boards import BOARDS, ROOT
from classify_program import tool
from tiny_checkpoint import write_tiny_checkpoint

WRONG_USE = 2


def firmware(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [ROOT / "tools" / "firmware", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL)


def test_it_lists_every_board_with_a_line_about_it() -> None:
    done = firmware("list")
    assert done.returncode == 0, done.stderr
    listed = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert sorted(listed) == BOARDS
    assert len(BOARDS) == 6
    assert all("Cortex-M" in about for about in listed.values())


def test_wrong_use_is_named() -> None:
    for arguments, message in (
        ((), "no command"),
        (("fly",), "unknown command 'fly'"),
        (("run",), "run needs a board"),
        (("run", "mps9"), "there is no board 'mps9': mps2-an385 mps2-an386"),
        (("run", "common"), "there is no board 'common'"),
        (("run", "mps2-an38."), "there is no board 'mps2-an38.'"),
        (("build", "../boards"), "there is no board '../boards'"),
        (("test", "mps2-an385", "x"), "there is no board 'x'"),
        (("steps", "mps9"), "there is no board 'mps9'"),
        (("run", "--steps"), "run needs a board"),
        (("build", "--steps", "mps9"), "there is no board 'mps9'"),
        (("list", "x"), "list takes no argument"),
        (("run", "mps2-an385", "--model"), "--model needs a folder"),
        (("build", "mps2-an385", "--model", "/"), " is neither a checkpoint nor a generated folder"),
        (("build", "mps2-an385", "x"), "build takes one board"),
    ):
        done = firmware(*arguments)
        assert done.returncode == WRONG_USE, (arguments, done.stderr)
        assert done.stderr.startswith(f"firmware: {message}"), done.stderr
        assert done.stderr.count("\n") == 1


class Lines:
    """In the place of an emulator: what it was sent."""

    ready = "ready"
    sent: list[bytes]

    def __init__(self, *_: object) -> None:
        Lines.sent = []

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def pieces(self, line: bytes) -> list[str]:
        Lines.sent.append(line)
        return ["an answer"]

    def exit(self) -> int:
        return 0


@pytest.mark.parametrize("text", ["two\nlines", "its end\n", "a\rreturn", "\r\n"])
def test_a_text_with_a_line_end_is_refused(
    text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The board would give it several answers, and each later text the answer of one before."""
    monkeypatch.setattr(emulator, "Emulator", lambda *_: pytest.fail("it was started"))
    monkeypatch.setattr("sys.argv", ["emulator.py", "board", "elf", "--", "the first", text, "the last"])
    assert emulator.main() == WRONG_USE
    assert capsys.readouterr() == ("", "firmware: text 2 has a line end, and the board takes lines\n")


def test_each_line_of_the_input_has_an_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As the firmware has them: a return ends one, with or without a line feed."""
    monkeypatch.setattr(emulator, "Emulator", Lines)
    monkeypatch.setattr("sys.argv", ["emulator.py", "board", "elf"])
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"one\r\ntwo\rthree\n\nfour\r")))
    assert emulator.main() == 0
    assert Lines.sent == [b"one", b"two", b"three", b"", b"four"]
    assert capsys.readouterr().out == "an answer\n" * 5


def test_every_board_has_its_presets() -> None:
    presets = json.loads((ROOT / "CMakePresets.json").read_text())
    for kind in ("configurePresets", "buildPresets"):
        names = {preset["name"] for preset in presets[kind] if not preset.get("hidden")}
        wanted = {f"firmware-{board}{variant}" for board in BOARDS for variant in ("", "-steps")}
        assert {name for name in names if name.startswith("firmware-")} == wanted


@pytest.fixture
def checkpoints(tmp_path: Path) -> list[Path]:
    """Two that have the same name."""
    for name in ("arm-none-eabi-g++", "qemu-system-arm"):
        tool(name)
    folders = [tmp_path / of / "checkpoint" for of in ("one", "other")]
    for seed, folder in enumerate(folders):
        write_tiny_checkpoint(folder, seed=seed)
    return folders


@pytest.fixture
def builds(checkpoints: list[Path], tmp_path: Path) -> Iterator[Callable[[Path], subprocess.Popen[str]]]:
    """Starts a build of a checkpoint for a board, in which CMake does nothing; what was made is removed."""
    stub = tmp_path / "bin" / "cmake"
    stub.parent.mkdir()
    stub.write_text("#!/bin/sh\n", encoding="ascii")
    stub.chmod(0o755)
    environment = os.environ | {"PATH": f"{stub.parent}{os.pathsep}{os.environ['PATH']}"}

    def start(folder: Path) -> subprocess.Popen[str]:
        command = [ROOT / "tools" / "firmware", "build", BOARDS[0], "--model", folder]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    yield start
    for folder in checkpoints:
        shutil.rmtree(folder_of(folder), ignore_errors=True)


def folder_of(checkpoint: Path) -> Path:
    digest = hashlib.sha256(str(checkpoint).encode()).hexdigest()[:8]
    return ROOT / "build" / f"firmware-{BOARDS[0]}-checkpoint-{digest}"


def somebody_waits(lock: TextIO) -> bool:
    """Whether a process waits for a lock on this file: the kernel lists it with an arrow."""
    inode = f":{os.fstat(lock.fileno()).st_ino} "
    return any("-> FLOCK" in line and inode in line for line in Path("/proc/locks").read_text().splitlines())


def test_checkpoints_of_one_name_have_folders_of_their_own(
    checkpoints: list[Path], builds: Callable[[Path], subprocess.Popen[str]]
) -> None:
    for folder in checkpoints:
        out, err = builds(folder).communicate(timeout=120)
        made = folder_of(folder)
        assert out == f"{made.relative_to(ROOT)}/bin/firmware-{BOARDS[0]}.elf\n", err
        assert (made / "checkpoint" / "etch.json").is_file()


def test_a_model_is_generated_by_one_build_at_a_time(
    checkpoints: list[Path], builds: Callable[[Path], subprocess.Popen[str]]
) -> None:
    folder = folder_of(checkpoints[0])
    folder.mkdir(parents=True)
    with (folder / "build.log.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        build = builds(checkpoints[0])
        end = time.monotonic() + 120
        while not (waits := somebody_waits(lock)) and build.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
        assert waits
        assert not (folder / "checkpoint").exists()
    _, err = build.communicate(timeout=120)
    assert build.returncode == 0, err
    assert (folder / "checkpoint" / "etch.json").is_file()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("REGIONS;fast=24K;slow=64K", None),
        ("BITS;8", None),
        ("REGIONS;fast=24K", "error[regions-not-supported] agnews_small: a board has two memories"),
        ("REGIONS;fast=24K;slow=64K;more=1M;BITS;8", "for buffers, not 3"),
        ("REGIONS;fast;slow=64K", "error[region-malformed] ETCH_FIRMWARE_OPTIONS: REGIONS has 'fast', expected name="),
        ("BITS;8;REGIONS", "each with a value, GPU or REGIONS"),
    ],
)
def test_a_board_has_two_regions(options: str, message: str | None, tmp_path: Path) -> None:
    tool("arm-none-eabi-g++")
    command = ["cmake", "--preset", f"firmware-{BOARDS[0]}", "-B", tmp_path, f"-DETCH_FIRMWARE_OPTIONS={options}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    said = " ".join(done.stderr.split())
    assert (done.returncode == 0) == (message is None), said
    assert message is None or message in said
