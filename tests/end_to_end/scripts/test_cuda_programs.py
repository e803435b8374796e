# SPDX-License-Identifier: Apache-2.0
"""The default model's program and benchmark for GPUs where there is none: linked with the stand-ins of the C++ tests in
place of the CUDA runtime, cuBLASLt and the kernels' launches. Needs a build that found CUDA's headers."""

from __future__ import annotations

import json
import math
import subprocess
from pathlib import Path
from typing import Any

import pytest
from classify_program import ROOT, TITLES, Program, built

from tools.gpu import build, checks, command, rows
from tools.gpu.bench import read_figures
from tools.gpu.checks import Check, Done
from tools.gpu.device import Device
from tools.gpu.models import Model
from tools.gpu.report import latency_table, op_tables
from tools.gpu.rows import judge_exact

TEXTS = ROOT / "tests" / "golden" / "texts.txt"
SOME = 40  # of the texts
ON_GPU = ("--device", "cuda")


@pytest.fixture(scope="module")
def classify() -> Program:
    return built("stand-in-classify")


@pytest.fixture(scope="module")
def some_texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("texts") / "some.txt"
    lines = TEXTS.read_bytes().splitlines(keepends=True)[:SOME]
    path.write_bytes(b"".join(lines) + b"\n" + b"a long text " * 300 + b"\n")
    return path


def test_exact_mode_has_the_bits_of_the_cpu(classify: Program, some_texts: Path) -> None:
    """Of the other program, which is built without any of this; one by one and as batches."""
    expected = built("classify").well("--json", "--file", some_texts)
    assert len(expected.lines) == SOME + 2
    outcome = classify.well("--json", *ON_GPU, "--file", some_texts)
    assert outcome.out == expected.out
    cut = f": '{some_texts}': line {SOME + 2}: text cut to 256 tokens\n"
    assert [outcome.err, expected.err] == [f"{name}{cut}" for name in (classify.path.name, "classify")]
    assert (
        classify.well("--json", *ON_GPU, "--mode", "exact", *TITLES).out
        == built("classify").well("--json", *TITLES).out
    )
    pair = ("--json", "--pair", TITLES[0], TITLES[1])
    assert classify.well(*pair, *ON_GPU).out == built("classify").well(*pair).out
    checked = judge_exact(
        "it", Done(0, expected.out.decode(), 1, some_texts), Done(0, outcome.out.decode(), 1, some_texts)
    )
    assert checked == Check("it", "passed", f"{SOME + 2} rows have the CPU's bits, 1.0 s (CPU: 1.0 s)")


def test_fast_mode_is_close(classify: Program, some_texts: Path) -> None:
    exact = classify.well("--json", "--file", some_texts).objects
    fast = classify.well("--json", *ON_GPU, "--mode", "fast", "--file", some_texts).objects
    assert sum(a["label"] == b["label"] for a, b in zip(exact, fast, strict=True)) >= len(exact) - 1
    differences = [
        abs(x - y) for a, b in zip(exact, fast, strict=True) for x, y in zip(a["logits"], b["logits"], strict=True)
    ]
    assert 0 < max(differences) < 0.3


def test_evaluation(classify: Program, tmp_path: Path) -> None:
    table = tmp_path / "rows.tsv"
    table.write_bytes(b"".join(b"World\t" + title + b"\n" for title in TITLES))
    arguments = ("--evaluate", table, "--no-header")
    assert classify.well(*arguments, *ON_GPU).out == built("classify").well(*arguments).out


def test_memory(classify: Program) -> None:
    """More than nothing; and no word of it where the CPU answers."""
    words = {line.split()[0]: line.split() for line in classify.well("--memory", *ON_GPU).lines}
    for name in ("weights", "session", "page-locked"):
        assert int(words[name][1]) > 10_000, name
    assert not any(line.startswith(("device", "weights")) for line in classify.well("--memory").lines)


def test_latency_says_where(classify: Program) -> None:
    process = subprocess.Popen([classify.path, "--latency", *ON_GPU], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    head = [process.stdout.readline() for _ in range(3)]
    process.kill()
    process.wait()
    process.stdout.close()
    assert head[0].startswith("model: agnews, recipe: w8a8, device: ")
    assert head[0].endswith(", mode: exact\n")
    assert head[2].split()[0] == "8"


# --- the benchmark -------------------------------------------------------------------------------------------------

TIMES = ("median_us", "p95_us", "bound_us", "gpu_us", "bound_gpu_us")


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    path = tmp_path_factory.mktemp("bench") / "figures.jsonl"
    program = built("stand-in-bench-cuda")
    program.well("--quick", "--json", path)
    return read_figures(path)


def test_benchmark_measures_both_modes(figures: list[dict[str, Any]]) -> None:
    passes = [row for row in figures if row["what"] == "latency"]
    assert [(row["mode"], row["texts"], row["tokens"]) for row in passes] == [
        (mode, *shape) for mode in ("exact", "fast") for shape in ((1, 33), (3, 20))
    ]
    assert all(math.isfinite(row[name]) and row[name] > 0 for row in passes for name in TIMES)
    assert "| fast | 3 | 20 | " in latency_table(passes)


def test_benchmark_takes_the_pass_apart(figures: list[dict[str, Any]]) -> None:
    """Three layers: which ops, and how often."""
    calls = {
        mode: {
            row["op"]: row["calls"]
            for row in figures
            if row["what"] == "op" and row["mode"] == mode and row["texts"] == 3
        }
        for mode in ("exact", "fast")
    }
    assert calls["exact"] == {
        "EmbedAndNorm": 1, "ProductS8": 13, "SplitProjections": 3, "AttentionS8": 3, "QuantizeValues": 3,
        "AddAndNorm": 6, "Activate": 4, "LinearRows": 1,
    }  # fmt: skip
    assert calls["fast"] == {
        "EmbedAndNorm": 1, "ProductBf16": 13, "AttentionBf16": 3, "AddAndNorm": 6, "Activate": 1, "LinearRows": 1,
    }  # fmt: skip
    (single, batch, *_) = op_tables([row for row in figures if row["what"] == "op"])[1::2]
    assert "| ProductS8 | 13 | " in single and "| ProductS8 | 13 | " in batch


@pytest.mark.parametrize(
    ("arguments", "word"), [(["--nonsense"], "--nonsense"), (["--json", "/no/folder/x"], "No such")]
)
def test_benchmark_refuses(arguments: list[str], word: str) -> None:
    outcome = built("stand-in-bench-cuda")(*arguments)
    assert outcome.code == 1
    assert word in outcome.err


def test_figures_are_lines_of_json(tmp_path: Path) -> None:
    path = tmp_path / "figures"
    path.write_text(json.dumps({"what": "op"}) + "\n")
    assert read_figures(path) == [{"what": "op"}]


# --- tools/gpu-check -----------------------------------------------------------------------------------------------


@pytest.fixture
def checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, some_texts: Path) -> Path:
    """A GPU of which the stand-ins are the programs; what would take long there is cut short."""
    programs = {
        "classify": "stand-in-classify",
        "test-cuda-device": "test-cuda --gtest_filter=*Rows*",
        "bench-cuda-agnews": "stand-in-bench-cuda --quick",
    }
    (tmp_path / "bin").mkdir()
    for name, words in programs.items():
        path, *options = words.split()
        script = tmp_path / "bin" / name
        script.write_text(f'#!/bin/sh\nexec {built(path).path} {" ".join(options)} "$@"\n')
        script.chmod(0o755)
    monkeypatch.delenv("ETCH_DATA", raising=False)
    monkeypatch.setattr(build, "BUILD", tmp_path)
    monkeypatch.setattr(checks, "LOGS", tmp_path / "logs")
    monkeypatch.setattr(rows, "TEXTS", some_texts)
    monkeypatch.setattr(command, "find_device", lambda: Device("Stand-in", "90", 1, 1 << 30, "13.0"))
    monkeypatch.setattr(command, "prepare_models", lambda: ([Model("agnews", ROOT / "generated/agnews")], []))
    monkeypatch.setattr(command, "build", lambda *_: [Check("build", "passed")])
    return tmp_path


def test_every_step_of_gpu_check(checked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = command.main(["--out", str(checked / "out"), "--only", "tests,rows,sass,bench"])
    printed = capsys.readouterr().out
    assert code == 0, printed
    report = json.loads((checked / "out" / "report.json").read_text())
    outcomes = {check["name"]: check["outcome"] for check in report["checks"]}
    assert outcomes["C++ tests on the GPU"] == outcomes["agnews: benchmark"] == "passed"
    assert outcomes["agnews: exact mode, some"] == "passed"
    assert outcomes["agnews: memory"] == "passed"
    assert outcomes["accuracy of the fast mode"] == "skipped"
    assert "failed" not in outcomes.values()
    assert report["device"]["name"] == "Stand-in"
    markdown = (checked / "out" / "report.md").read_text()
    assert "### agnews" in markdown and "| fast | 1 | 33 | " in markdown


def test_gpu_check_fails_where_a_bit_differs(checked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = checked / "bin" / "classify"
    script.write_text(
        script.read_text().replace('"$@"', '"$@" | if [ "$4" = --device ]; then sed s/0.9/0.8/; else cat; fi')
    )
    assert command.main(["--out", str(checked), "--only", "rows"]) == 1
    assert "rows differ from the CPU's" in capsys.readouterr().out
