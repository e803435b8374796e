# SPDX-License-Identifier: Apache-2.0
"""`python3 -m codegen` when the machine does not play along: folders that are none, targets that cannot be written, a
full disk, closed streams, two runs at once. One clear line, nothing half written; signals: test_signals_cli.py."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
from classify_program import ROOT, Outcome
from folder_content import content
from generator_program import etch, one_line
from sampling import one_in
from tiny_checkpoint import write_tiny_checkpoint


@pytest.fixture
def model(tmp_path: Path) -> Path:
    write_tiny_checkpoint(tmp_path / "model")
    return tmp_path / "model"


# --- folders and streams ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["generate", "inspect"])
@pytest.mark.parametrize("folder", ["missing", "model/config.json"])
def test_folder_is_none(folder: str, command: str, model: Path, tmp_path: Path) -> None:
    options = ("--out", "out") if command == "generate" else ()
    message = one_line(etch(command, folder, *options, cwd=tmp_path), 1)
    assert "error[" in message
    assert "internal" not in message
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", ["generate", "inspect"])
def test_folder_without_a_name(command: str, tmp_path: Path) -> None:
    options = ("--out", "out") if command == "generate" else ()
    message = one_line(etch(command, "", *options, cwd=tmp_path), 2)
    assert "argument FOLDER: an empty name" in message
    assert not (tmp_path / "out").exists()


def test_folder_name_of_any_bytes(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/\xff\xfe \x1b[31m"
    write_tiny_checkpoint(os.fsdecode(folder))
    outcome = etch("generate", folder, b"--out", os.fsencode(tmp_path) + b"/\xff", "--name", "model")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.decode("ascii").endswith("\\udcff\n")
    one_line(etch("inspect", folder + b"x"), 1)


@pytest.mark.parametrize(
    ("there", "said"),
    [
        ((), "[cmake-missing] build: cmake is not installed (3.22 or newer is needed): apt-get install cmake"),
        (("cmake",), "[compiler-missing] build: there is no g++ and no make: apt-get install g++ make"),
        (("cmake", "make"), "[compiler-missing] build: there is no g++: apt-get install g++"),
        (("cmake", "clang++"), "[compiler-missing] build: there is no make: apt-get install make"),
    ],
)
def test_nothing_is_installed_that_builds(
    there: tuple[str, ...], said: str, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("CXX", "CMAKE_GENERATOR"):
        monkeypatch.delenv(variable, raising=False)
    (tmp_path / "bin").mkdir()
    for name in there:
        (tmp_path / "bin" / name).symlink_to("/bin/true")
    path = {"PATH": str(tmp_path / "bin")}
    outcome = etch("generate", "model", "--out", "out", "--build", cwd=tmp_path, environment=path)
    assert (one_line(outcome, 1), outcome.out) == (f"etch: error{said}", b"")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("named", ["/nonexist", "no-such-compiler -m32", " "])
def test_the_compiler_that_is_named_is_none(named: str, model: Path, tmp_path: Path) -> None:
    """CMake says that in ten lines, when the model is written."""
    outcome = etch("generate", "model", "--out", "out", "--build", cwd=tmp_path, environment={"CXX": named})
    said = f"CXX is '{named}', which is no program here: let it name a C++ compiler, or unset it"
    assert (one_line(outcome, 1), outcome.out) == (f"etch: error[compiler-missing] build: {said}", b"")
    assert not (tmp_path / "out").exists()


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


@pytest.mark.parametrize(("limit", "older"), one_in(4, product((1, 4096, 8192), (False, True))))
def test_disk_full(limit: int, older: bool, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files cannot grow past `limit` bytes, so that writing fails at one file or another."""
    for name in ("COVERAGE_PROCESS_CONFIG", "COVERAGE_PROCESS_START"):  # a measurement would write files, too
        monkeypatch.delenv(name, raising=False)

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


FULL_DISK = """
set -e
mount -t tmpfs -o size=$1k tmpfs "$2"
[ -z "$5" ] || "$3" -m codegen generate "$4" --out "$2/out" --recipe fp32 >&2
find "$2" -type f -exec sha256sum {} + | sort
echo generate
"$3" -m codegen generate "$4" --out "$2/out" > /dev/null || echo failed
find "$2" -type f -exec sha256sum {} + | sort
find "$2" -mindepth 1 -type d
"""


def on_a_small_disk(kilobytes: int, model: Path, place: Path, older: bool) -> Outcome:
    """Generates onto a file system of this size, made and dropped by the test; prints its files before and after."""
    place.mkdir(exist_ok=True)
    arguments = (str(kilobytes), str(place), sys.executable, str(model), "older" if older else "")
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", FULL_DISK, "sh", *arguments], cwd=ROOT, capture_output=True, check=False
    )
    return Outcome(done.returncode, done.stdout, done.stderr.decode())


def pages(*folders: Path) -> int:
    """Kilobytes that the files take there."""
    return sum(-(-path.stat().st_size // 4096) * 4 for folder in folders for path in folder.iterdir())


@pytest.mark.parametrize("older", one_in(2, [True, False]), ids=["older", "new"])
def test_disk_full_at_the_last_write(older: bool, model: Path, tmp_path: Path) -> None:
    """A real full disk: everything fits but the last file, the manifest; with a page more that fits, too."""
    place = tmp_path / "disk"
    if shutil.which("unshare") is None or on_a_small_disk(64, tmp_path, place, False).code != 0:
        pytest.skip("no file system can be mounted here")
    for recipe in ("w8a8", "fp32"):
        assert etch("generate", model, "--out", tmp_path / recipe, "--name", "out", "--recipe", recipe).code == 0
    mark = 4  # a page of the temporary folder's
    size = mark + pages(tmp_path / "w8a8", *([tmp_path / "fp32"] if older else []))
    full = on_a_small_disk(size - 4, model, place, older)
    before, after = full.out.decode().split("generate\nfailed\n")
    assert full.err.count("error[write-failed]") == 1, full.err
    assert "No space left on device" in full.err
    assert after == before + (f"{place}/out\n" if older else "")
    enough = on_a_small_disk(size, model, place, older)
    assert "error" not in enough.err
    assert "failed" not in enough.out.decode()


# CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH let root write where nobody may.
_DROP_CAPABILITY = 24
_OVERRIDES = (1, 2)


def as_anybody() -> None:
    """In the child: file permissions hold for root as well."""
    libc = ctypes.CDLL(None)
    for capability in _OVERRIDES:
        libc.prctl(_DROP_CAPABILITY, capability, 0, 0, 0)


@pytest.mark.parametrize("locked", ["out", "."], ids=["target", "its folder"])
def test_read_only(locked: str, model: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    out = place / "out"
    assert etch("generate", model, "--out", out, "--recipe", "fp32").code == 0
    before = content(tmp_path)
    (place / locked).chmod(0o555)
    try:
        probe = ["sh", "-c", f"touch '{place / locked}/probe'"]
        if subprocess.run(probe, preexec_fn=as_anybody, capture_output=True, check=False).returncode == 0:
            pytest.skip("this user may write anywhere")
        message = one_line(etch("generate", model, "--out", out, preexec_fn=as_anybody), 1)
    finally:
        (place / locked).chmod(0o755)
    assert "error[target-not-writable]" in message
    assert content(tmp_path) == before


def test_two_runs_at_once(model: Path, tmp_path: Path) -> None:
    """Both succeed; what is there is whole and of one of them, and what a build left is kept."""
    out = tmp_path / "out"
    alone = {}
    for recipe in ("w8a8", "fp32"):
        assert etch("generate", model, "--out", tmp_path / recipe, "--name", "out", "--recipe", recipe).code == 0
        alone[recipe] = content(tmp_path / recipe)
    assert etch("generate", model, "--out", out).code == 0
    (out / "build").mkdir()
    (out / "build" / "x.o").write_bytes(b"object")
    runs = [
        subprocess.Popen(
            [sys.executable, "-m", "codegen", "generate", str(model), "--out", str(out), "--recipe", recipe],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for recipe in ("w8a8", "fp32", "w8a8", "fp32")
    ]
    assert [run.communicate(timeout=120)[1] for run in runs] == [b""] * 4
    assert [run.returncode for run in runs] == [0] * 4
    assert (out / "build" / "x.o").read_bytes() == b"object"
    shutil.rmtree(out / "build")
    assert content(out) in alone.values()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fp32", "model", "out", "w8a8"]


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
