# SPDX-License-Identifier: Apache-2.0
"""The command line inside this process: defaults, and that every failure ends in one line and the right exit code."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from hostile import HOSTILE
from tiny_checkpoint import write_tiny_checkpoint

from codegen import cli, pipeline
from codegen.building import build
from codegen.errors import EtchError, printable
from codegen.files.table_file import Columns
from codegen.request import Evaluate, Prune


def test_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[pipeline.Request] = []
    monkeypatch.setattr(pipeline, "generate", lambda request, echo: seen.append(request))
    assert cli.main(["generate", "in", "--out", "out"]) == 0
    assert seen == [pipeline.Request(Path("in"), Path("out"), None, "w8a8", None, "incbin", "host", False)]
    options = [
        "--name",
        "n",
        "--recipe",
        "fp32",
        "--max-tokens",
        "7",
        "--tables",
        "c",
        "--target",
        "m-profile",
        "--build",
    ]
    more = ["--calibrate", "t", "--bits", "1.query=4"]
    assert cli.main(["generate", "in", "--out", "out", *options, "--embedding-bits", "4", *more]) == 0
    assert seen[1] == pipeline.Request(
        Path("in"),
        Path("out"),
        "n",
        "fp32",
        7,
        "c",
        "m-profile",
        True,
        embedding_bits=4,
        calibrate=Path("t"),
        bits={"1.query": 4},
    )


def test_gpu(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[pipeline.Request] = []
    monkeypatch.setattr(pipeline, "generate", lambda request, echo: seen.append(request))
    assert cli.main(["generate", "in", "--out", "out", "--gpu"]) == 0
    assert seen == [pipeline.Request(Path("in"), Path("out"), gpu=True)]
    assert cli.main(["generate", "in", "--out", "out", "--gpu", "--target", "m-profile"]) == 2
    assert "error[option-conflict] arguments: --gpu is for --target host" in capsys.readouterr().err


def test_files_of_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[pipeline.Request] = []
    monkeypatch.setattr(pipeline, "generate", lambda request, echo: seen.append(request))
    command = ["generate", "in", "--out", "out"]
    assert cli.main([*command, "--prune-vocabulary", "c.txt", "--min-count", "5"]) == 0
    assert seen[-1].prune == Prune(Path("c.txt"), 5)
    assert seen[-1].evaluate is None
    assert cli.main([*command, "--prune-vocabulary", "c.txt", "--min-count", "5", "--rare-words", "unknown"]) == 0
    assert seen[-1].prune == Prune(Path("c.txt"), 5, "unknown")
    assert cli.main([*command, "--evaluate", "t.csv"]) == 0
    assert (seen[-1].evaluate, seen[-1].columns) == (Evaluate(Path("t.csv"), 1000), Columns("1", None, None))
    options = ["--evaluate-rows", "7", "--label-column", "y", "--text-columns", "a,b", "--header"]
    assert cli.main([*command, "--evaluate", "t.csv", *options]) == 0
    assert (seen[-1].evaluate, seen[-1].columns) == (
        Evaluate(Path("t.csv"), 7),
        Columns("y", ("a", "b"), True),
    )
    own = ["--prune-columns", "t", "--calibrate-columns", "2,3", "--smooth-columns", "4"]
    files = ["--prune-vocabulary", "c.csv", "--min-count", "5", "--calibrate", "k.jsonl", "--smooth", "s.csv"]
    assert cli.main([*command, *files, *own]) == 0
    assert seen[-1].prune_columns == Columns(None, ("t",))
    assert seen[-1].calibrate_columns == Columns(None, ("2", "3"))
    assert (seen[-1].smooth, seen[-1].smooth_columns) == (Path("s.csv"), Columns(None, ("4",)))


@pytest.mark.parametrize(
    "options",
    [
        ["--prune-vocabulary", "c.txt"],
        ["--min-count", "5"],
        ["--rare-words", "unknown"],
        ["--evaluate-rows", "5"],
        ["--label-column", "2"],
        ["--text-columns", "2"],
        ["--header"],
        ["--no-header"],
        ["--labels", "0"],
        ["--prune-columns", "2"],
        ["--calibrate-columns", "2"],
        ["--smooth-columns", "2"],
        ["--min-count", "5", "--evaluate", "t.csv"],
    ],
)
def test_options_that_need_another(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["generate", "in", "--out", "out", *options]) == 2
    assert f"error[option-incomplete] arguments: {options[0]} needs" in capsys.readouterr().err


def test_boards_of_an_installed_package(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Which has no firmware-demo."""
    monkeypatch.setattr(build, "ROOT", Path("/nowhere"))
    assert cli.main(["generate", "in", "--out", "out", "--board", "netduinoplus2"]) == 2
    said = capsys.readouterr().err
    assert "error[boards-missing] arguments: --board needs the checkout of etch" in said and said.count("\n") == 1


@pytest.mark.parametrize("count", ["0", "-1", "x", "1.5", "9" * 20])
def test_counts_refused(count: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        cli.main(["generate", "in", "--out", "out", "--prune-vocabulary", "c.txt", "--min-count", count])
    assert left.value.code == 2
    assert "is not a number from 1" in capsys.readouterr().err


FAILURES = [
    (
        EtchError("a-code", "load", "why", file="config.json", tensor="t"),
        1,
        "error[a-code] load: config.json: tensor 't'",
    ),
    (EtchError("a-code", "arguments", "why"), 2, "error[a-code] arguments: why"),
    (MemoryError(), 1, "error[out-of-memory]"),
    (KeyboardInterrupt(), 130, "interrupted"),
    (OSError(28, "No space left on device"), 1, "error[system] No space left on device"),
    (OSError(13, "Permission denied", "/x"), 1, "error[system] Permission denied: /x"),
    (ImportError("No module named 'numpy'"), 1, "error[python-package-missing]"),
    (RecursionError("deep"), 1, "error[internal] RecursionError: deep"),
    (ValueError("two\nlines \x1b[31m \u202e"), 1, "error[internal] ValueError: two\\nlines"),
    (AssertionError(), 1, "error[internal] AssertionError"),
]


@pytest.mark.parametrize(("error", "code", "words"), FAILURES, ids=lambda value: str(value)[:20])
def test_failures(
    error: BaseException, code: int, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(pipeline, "generate", fail)
    assert cli.main(["generate", "in", "--out", "out"]) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"etch: {words}")
    assert printed.err.endswith("\n")
    assert printed.err[:-1].isprintable()


@pytest.mark.parametrize(
    "command", ["generate x", "convert x", "merge x y", "bundle x", "web x", "wheel x", "fetch a/b"]
)
def test_an_empty_place_to_write_to(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a variable that is not set: it would be the folder that one is in."""
    with pytest.raises(SystemExit) as ended:
        cli.main([*command.split(), "--out", ""])
    assert ended.value.code == 2
    assert "argument --out: an empty name; . is this folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["inspect", ""], "FOLDER"),
        (["generate", "", "--out", "x"], "FOLDER"),
        (["convert", "", "--out", "x"], "MODEL"),
        (["merge", "", "x", "--out", "x"], "ADAPTER"),
        (["bundle", "", "--out", "x"], "DIR"),
        (["verify", "x", "--checkpoint", ""], "--checkpoint"),
        (["verify", "x", "--checkpoint", "x", "--texts", ""], "--texts"),
        (["generate", "x", "--out", "x", "--evaluate", ""], "--evaluate"),
    ],
)
def test_an_empty_name_of_what_is_read(words: list[str], name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The same: `inspect` would tell of the folder that one is in."""
    with pytest.raises(SystemExit) as ended:
        cli.main(words)
    assert ended.value.code == 2
    assert f"argument {name}: an empty name; . is this folder" in capsys.readouterr().err


def test_detail_comes_before_the_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(*_: object) -> None:
        raise EtchError("compile-failed", "build", "no", detail="first\nsecond")

    monkeypatch.setattr(pipeline, "generate", fail)
    assert cli.main(["generate", "in", "--out", "out"]) == 1
    assert capsys.readouterr().err == "first\nsecond\netch: error[compile-failed] build: no\n"


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text)[:20])
def test_messages_are_one_printable_line(text: str) -> None:
    shown = str(EtchError("c", "load", text, file=text, tensor=text))
    assert shown.isprintable()
    assert len(shown) < 4 * 420
    assert len(printable(text, 10)) <= 11 or len(text) <= 10


def test_a_narrow_encoding_does_not_stop_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tiny_checkpoint(tmp_path / "model")
    config = (tmp_path / "model" / "config.json").read_text().replace("label 0", "\u540d\u524d")
    (tmp_path / "model" / "config.json").write_text(config)
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    assert cli.main(["inspect", str(tmp_path / "model")]) == 0
    assert b"\\u540d\\u524d" in raw.getvalue()


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "", "x", "\u0663", "1e3", "9" * 400, "1048577", " 3", "+3", "0x10"])
def test_wrong_lengths(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(["generate", "in", "--out", "out", f"--max-tokens={text}"])
    assert caught.value.code == 2
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    assert "--max-tokens" in printed
