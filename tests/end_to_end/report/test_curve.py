# SPDX-License-Identifier: Apache-2.0
"""tools/curve: what it reads of generator and program, what it draws, what it refuses; the committed curve is that of
its committed points."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from classify_program import ROOT

from codegen.errors import EtchError
from tools.reports import curve as module
from tools.reports import curve_command as command
from tools.reports.curve import Curve, Point, Request, measure, read_curve, write_curve
from tools.reports.curve_command import main
from tools.reports.curve_svg import curve_svg

SMALL = ROOT / "tools" / "train" / "agnews_small"
GENERATED = """\
chosen       accuracy 91.47 %, flash 523,744 bytes, RAM 97,648
  the same   --min-count 87 --rare-words spelled
vocabulary   4,911 entries, uncased WordPiece
within       planned 523,744 bytes of flash, 97,648 of RAM
within       linked, firmware-netduinoplus2.elf: 521,400 bytes of flash, 97,092 of RAM
"""
MISSED = "etch: error[budget-too-small] budget: nothing fits; the nearest is 469 pieces: it needs --max-flash 244K\n"
ANSWERED = "accuracy: 90.49 %\nrows: 7600, mean tokens: 60.3, cut to 128 tokens: 89\n"
POINT = Point("512K", 521400, 97092, 90.49, 7600, 4911, "--min-count 87 --rare-words spelled")


def request(tmp_path: Path) -> Request:
    files = (tmp_path / "corpus.csv", tmp_path / "judge.csv", tmp_path / "test.csv")
    return Request(tmp_path / "in", ["512K", "64K"], "96K", *files, "netduinoplus2", tmp_path / "out")


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    seen: list[list[str]] = []

    def run(command: list[str]) -> tuple[int, str]:
        seen.append(command)
        if "generate" not in command:
            return 0, ANSWERED
        return (1, MISSED) if "64K" in command else (0, GENERATED)

    monkeypatch.setattr(module, "_run", run)
    monkeypatch.setattr(module, "program_path", lambda folder: folder / "classify")
    return seen


def test_a_point_for_each_limit_that_something_fits_in(tmp_path: Path, commands: list[list[str]]) -> None:
    lines: list[str] = []
    curve = measure(request(tmp_path), lines.append)
    assert curve == Curve("netduinoplus2", (POINT,), (("64K", MISSED.strip()),))
    assert [command[1:4] for command in commands] == [
        ["-m", "codegen", "generate"],
        ["--evaluate", str(tmp_path / "test.csv")],
        ["-m", "codegen", "generate"],
    ]
    for option in ("--max-flash 512K", "--max-ram 96K", "--build", "--board netduinoplus2", "--target m-profile"):
        assert option in lines[0]
    assert f"--evaluate {tmp_path / 'judge.csv'}" in lines[0], "the search does not see the test"


@pytest.mark.parametrize(
    ("generated", "answered"),
    [
        ((1, "etch: error[x] y\n"), (0, ANSWERED)),
        ((0, GENERATED.replace("linked", "")), (0, ANSWERED)),
        ((0, GENERATED), (1, "")),
        ((0, GENERATED), (0, "rows: 7")),
    ],
)
def test_other_failures_end_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, generated: tuple[int, str], answered: tuple[int, str]
) -> None:
    monkeypatch.setattr(module, "_run", lambda command: generated if "generate" in command else answered)
    monkeypatch.setattr(module, "program_path", lambda folder: folder / "classify")
    with pytest.raises(EtchError) as refused:
        measure(request(tmp_path), lambda _: None)
    assert refused.value.code == "curve-failed"


def test_what_is_written_is_read_and_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = Point("384K", 390000, 97092, 88.5, 7600, 2780, "--embedding-bits 4")
    curve = Curve("netduinoplus2", (POINT, other), (("64K", "nothing"),))
    json, svg = tmp_path / "curve.json", tmp_path / "curve.svg"
    json.write_text(write_curve(curve))
    assert read_curve(json) == curve
    assert main(["--from", str(json), "--svg", str(svg)]) == 0
    assert svg.read_text() == curve_svg(curve)
    assert "521,400 bytes of flash, 97,092 of RAM: 90.49 % of 7,600 rows, 4,911 pieces" in capsys.readouterr().out
    root = ElementTree.fromstring(svg.read_text())
    words = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"90.49 %", "88.50 %", "512K", "384K", "64K", "nothing fits", "521,400"} <= set(words)


def test_the_committed_curve() -> None:
    assert curve_svg(read_curve(SMALL / "curve.json")) == (SMALL / "curve.svg").read_text()


def test_a_curve_at_the_top_and_one_without_points(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "100 %" in curve_svg(Curve("netduinoplus2", (replace(POINT, accuracy=100.0),), ()))
    nothing = tmp_path / "curve.json"
    nothing.write_text(write_curve(Curve("netduinoplus2", (), (("64K", "nothing"),))))
    assert main(["--from", str(nothing), "--svg", str(tmp_path / "curve.svg")]) == 2
    assert capsys.readouterr().err.startswith("curve: error[curve-failed] no model fits any of the limits")


def test_paths_are_those_of_the_caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs with them is started in another folder."""
    asked = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "measure", lambda request, echo: asked.append(request) or Curve("x", (POINT,), ()))
    main(["in", "--corpus", "a", "--judge", "b", "--test", "c"])
    [request] = asked
    paths = (request.checkpoint, request.corpus, request.judge, request.test, request.out)
    assert paths == tuple(tmp_path / name for name in ("in", "a", "b", "c", "build/curve"))


def test_refusals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"board": "x", "points": [{}]}')
    assert main(["--from", str(broken)]) == 2
    assert capsys.readouterr().err.startswith("curve: error[not-a-curve] ")
    for options in ([], ["in"], ["in", "--from", "x.json"], ["in", "--corpus", "a", "--judge", "b"]):
        with pytest.raises(SystemExit) as left:
            main(options)
        assert left.value.code == 2
