# SPDX-License-Identifier: Apache-2.0
"""`python3 -m codegen` when the machine does not play along: folders that are none, targets that cannot be written, a
full disk, closed streams, Ctrl-C. One clear line, and nothing half written."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from classify_program import ROOT, Outcome
from generator_program import content, etch, one_line
from tiny_checkpoint import write_tiny_checkpoint


@pytest.fixture
def model(tmp_path: Path) -> Path:
    write_tiny_checkpoint(tmp_path / "model")
    return tmp_path / "model"


# --- folders and streams ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["generate", "inspect"])
@pytest.mark.parametrize("folder", ["missing", "model/config.json", ""])
def test_folder_is_none(folder: str, command: str, model: Path, tmp_path: Path) -> None:
    options = ("--out", "out") if command == "generate" else ()
    message = one_line(etch(command, folder, *options, cwd=tmp_path), 1)
    assert "error[" in message
    assert "internal" not in message
    assert not (tmp_path / "out").exists()


def test_folder_name_of_any_bytes(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/\xff\xfe \x1b[31m"
    write_tiny_checkpoint(os.fsdecode(folder))
    outcome = etch("generate", folder, b"--out", os.fsencode(tmp_path) + b"/\xff", "--name", "model")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.decode("ascii").endswith("\\udcff\n")
    one_line(etch("inspect", folder + b"x"), 1)


def test_out_cannot_be_written(model: Path, tmp_path: Path) -> None:
    before = content(tmp_path)
    for out in ("model/config.json", "model/config.json/out", "model/config.json/deep/out", "/proc/etch/out"):
        message = one_line(etch("generate", "model", "--out", out, cwd=tmp_path), 1)
        assert "error[target-" in message
        assert content(tmp_path) == before


def test_out_is_the_checkpoint(model: Path) -> None:
    """A user's files are never replaced, the checkpoint's least of all."""
    before = content(model)
    assert "error[target-holds-other-files]" in one_line(etch("generate", model, "--out", model), 1)
    assert content(model) == before


def test_out_holds_other_files(model: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("mine")
    before = content(tmp_path)
    assert "'thesis.tex'" in one_line(etch("generate", model, "--out", tmp_path / "out"), 1)
    assert content(tmp_path) == before


@pytest.mark.parametrize("older", [False, True], ids=["new", "older"])
@pytest.mark.parametrize("limit", [1, 4096, 8192])
def test_disk_full(limit: int, older: bool, model: Path, tmp_path: Path) -> None:
    """Files cannot grow past `limit` bytes, so that writing fails at one file or another."""

    def few_bytes() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    if older:
        assert etch("generate", model, "--out", tmp_path / "new" / "out", "--recipe", "fp32").code == 0
    before = content(tmp_path)
    # To a pipe: the limit concerns files only.
    outcome = etch("generate", model, "--out", tmp_path / "new" / "out", preexec_fn=few_bytes)
    assert "error[write-failed] render: cannot write" in one_line(outcome, 1)
    assert content(tmp_path) == before


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_stdout_is_closed(unbuffered: str, model: Path, tmp_path: Path) -> None:
    """As `>&-` in a shell: there is nobody to tell, which is no reason to fail."""
    code = "import os, sys; os.close(1); os.execv(sys.executable, [sys.executable, '-m', 'codegen', *sys.argv[1:]])"
    command = [sys.executable, "-c", code, "generate", str(model), "--out", str(tmp_path / "out")]
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    done = subprocess.run(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "out" / "etch.json").exists()


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", ["generate", "inspect"])
def test_nobody_reads_stdout(command: str, unbuffered: str, model: Path, tmp_path: Path) -> None:
    """As `| true`: no traceback, no complaint at exit; what is there is whole."""
    reader, writer = os.pipe()
    os.close(reader)
    options = ("--out", tmp_path / "out") if command == "generate" else ()
    outcome = etch(command, model, *options, stdout=writer, environment={"PYTHONUNBUFFERED": unbuffered})
    os.close(writer)
    assert (outcome.code, outcome.err) == (1, "")
    assert not (tmp_path / "out").exists() or (tmp_path / "out" / "etch.json").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_stdout_is_full(unbuffered: str, model: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        outcome = etch("inspect", model, stdout=full, environment={"PYTHONUNBUFFERED": unbuffered})
    assert one_line(outcome, 1) == "etch: error[system] No space left on device"


def test_narrow_terminal(model: Path, tmp_path: Path) -> None:
    """Labels that the terminal's encoding lacks are escaped, not fatal."""
    config = json.loads((model / "config.json").read_text())
    config["id2label"] = {"0": "\u540d", "1": "\u524d", "2": "\U0001f389"}
    del config["label2id"]
    (model / "config.json").write_text(json.dumps(config))
    outcome = etch("inspect", model, environment={"PYTHONIOENCODING": "ascii"})
    assert (outcome.code, outcome.err) == (0, "")
    assert b"\\u540d, \\u524d, \\U0001f389" in outcome.out


# --- Ctrl-C ----------------------------------------------------------------------------------------------------------


def interrupted(command: list[str], wait: Callable[[subprocess.Popen[bytes]], object]) -> Outcome:
    """Starts a command, sends it SIGINT after `wait`."""
    process = subprocess.Popen(
        [sys.executable, "-m", "codegen", *command],
        cwd=ROOT,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL) and None,  # noqa: PLW1509 - it may be ignored
    )
    try:
        wait(process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    return Outcome(process.returncode, out, err.decode())


@pytest.fixture(scope="module")
def slow_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Takes a second or more, most of it before anything is printed."""
    folder = tmp_path_factory.mktemp("slow") / "model"
    write_tiny_checkpoint(folder, hidden=256, heads=4, layers=8, intermediate=1024, max_positions=512)
    return folder


@pytest.mark.parametrize("older", [False, True], ids=["new", "older"])
def test_interrupt_while_reporting(older: bool, slow_model: Path, tmp_path: Path) -> None:
    """The report's first line is out, the files come after the last one. The pipe is full until then."""
    out = tmp_path / "deep" / "out"
    if older:
        small = tmp_path / "small"
        write_tiny_checkpoint(small)
        assert etch("generate", small, "--out", out).code == 0
    before = content(tmp_path)
    outcome = interrupted(
        ["generate", str(slow_model), "--out", str(out)], lambda process: process.stdout and process.stdout.read(1)
    )
    if outcome.code == 0:  # it was faster
        assert (out / "etch.json").exists()
        return
    assert one_line(outcome, 130) == "etch: interrupted"
    assert content(tmp_path) == before


@pytest.mark.parametrize("delay", [0.3, 0.6, 1.0])
def test_interrupt_at_any_time(delay: float, slow_model: Path, tmp_path: Path) -> None:
    """Whatever it was doing: the whole folder or nothing, and no temporary folder."""
    outcome = interrupted(["generate", str(slow_model), "--out", str(tmp_path / "out")], lambda _: time.sleep(delay))
    entries = sorted(path.name for path in tmp_path.iterdir())
    assert "internal" not in outcome.err
    if outcome.code == 0:
        assert entries == ["out"]
    elif outcome.code == 130:
        assert entries in ([], ["out"])
        assert outcome.err.endswith("etch: interrupted\n")
    else:
        assert outcome.code == -signal.SIGINT  # before our first line ran
        assert entries == []
    if entries:
        recorded = json.loads((tmp_path / "out" / "etch.json").read_text())["files"]
        assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted([*recorded, "etch.json"])
