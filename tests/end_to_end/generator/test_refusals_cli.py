# SPDX-License-Identifier: Apache-2.0
"""`python3 -m codegen` as a user meets it: wrong use in one clear line and with the right exit code, `inspect`, and
what is assumed and said. Refused folders are in test_malformed_cli.py, machines that fail in test_failures_cli.py."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from folder_content import content
from generator_program import etch, one_line
from tiny_checkpoint import (
    bert_shapes,
    random_tensors,
    write_json,
    write_safetensors,
    write_tiny_checkpoint,
)

import codegen


@pytest.fixture
def model(tmp_path: Path) -> Path:
    write_tiny_checkpoint(tmp_path / "model")
    return tmp_path / "model"


# --- wrong use -------------------------------------------------------------------------------------------------------

WRONG_USE: dict[str, tuple[tuple[str, ...], str]] = {
    "nothing": ((), "COMMAND"),
    "unknown command": (("frobnicate",), "'frobnicate'"),
    "unknown option": (("generate", "model", "--out", "out", "--frob"), "--frob"),
    "unknown option before the command": (("--frob", "generate", "model", "--out", "out"), "--frob"),
    "abbreviated option": (("generate", "model", "--ou", "out"), "--out"),
    "no folder": (("generate", "--out", "out"), "FOLDER"),
    "no out": (("generate", "model"), "--out"),
    "out without value": (("generate", "model", "--out"), "--out"),
    "two folders": (("generate", "model", "model", "--out", "out"), "model"),
    "unknown recipe": (("generate", "model", "--out", "out", "--recipe", "int3"), "'int3'"),
    "three bits": (("generate", "model", "--out", "out", "--embedding-bits", "3"), "embedding-bits: invalid choice"),
    "bits of float tables": (
        ("generate", "model", "--out", "out", "--recipe", "fp32", "--embedding-bits", "4"),
        "error[float-weights]",
    ),
    "bits without a place": (("generate", "model", "--out", "out", "--bits", "=4"), "'=4' is not PLACE=8 or PLACE=4"),
    "bits of no place": (("generate", "model", "--out", "out", "--bits", "classifier=4"), "error[unknown-place]"),
    "nothing of 4 bits": (
        ("generate", "model", "--out", "out", "--calibrate", "model/config.json"),
        "error[nothing-to-calibrate]",
    ),
    "calibrate nothing": (("generate", "model", "--out", "out", "--recipe", "w4a8", "--calibrate"), "--calibrate"),
    "smooth rows that are not rounded": (
        ("generate", "model", "--out", "out", "--recipe", "fp32", "--smooth", "model/config.json"),
        "error[nothing-to-smooth]",
    ),
    "smoothed for GPUs": (
        ("generate", "model", "--out", "out", "--gpu", "--smooth", "model/config.json"),
        "error[option-conflict] arguments: GPUs have no second norms: leave --smooth out",
    ),
    "unknown target": (("generate", "model", "--out", "out", "--target", "z80"), "'z80'"),
    "gpu of a board": (
        ("generate", "model", "--out", "out", "--gpu", "--target", "m-profile"),
        "--gpu is for --target host: m-profile has no NVIDIA GPU",
    ),
    "unknown table form": (("generate", "model", "--out", "out", "--tables", "xml"), "'xml'"),
    "tokens not a number": (("generate", "model", "--out", "out", "--max-tokens", "many"), "'many'"),
    "tokens 0": (("generate", "model", "--out", "out", "--max-tokens", "0"), "'0'"),
    "tokens negative": (("generate", "model", "--out", "out", "--max-tokens=-5"), "'-5'"),
    "a keyword as name": (("generate", "model", "--out", "out", "--name", "class"), "'class'"),
    "a path as name": (("generate", "model", "--out", "out", "--name", "../x"), "'../x'"),
    "no name from the folder": (("generate", "model", "--out", "9"), "--name"),
    "escape codes": (("generate", "model", "--out", "out", "--recipe", "\x1b[31m\n\u202e"), "\\x1b[31m\\n"),
    "inspect nothing": (("inspect",), "FOLDER"),
    "inspect with out": (("inspect", "model", "--out", "out"), "--out"),
    "verify nothing": (("verify",), "DIR"),
    "verify without checkpoint": (("verify", "out"), "--checkpoint"),
    "verify of no generated folder": (("verify", "model", "--checkpoint", "model"), "etch.json"),
    "verify of nothing": (("verify", "nowhere", "--checkpoint", "model"), "etch.json"),
}


@pytest.mark.parametrize("case", WRONG_USE)
def test_wrong_use(case: str, model: Path) -> None:
    arguments, words = WRONG_USE[case]
    before = content(model.parent)
    outcome = etch(*arguments, cwd=model.parent)
    assert words in one_line(outcome, 2)
    assert outcome.out == b""
    assert content(model.parent) == before


@pytest.mark.parametrize("arguments", [("--help",), ("generate", "--help"), ("inspect", "-h"), ("verify", "--help")])
def test_help(arguments: tuple[str, ...], tmp_path: Path) -> None:
    outcome = etch(*arguments, cwd=tmp_path)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith(b"usage: etch")


def test_version() -> None:
    outcome = etch("--version")
    assert (outcome.code, outcome.out, outcome.err) == (0, f"etch {codegen.__version__}\n".encode(), "")


# --- assumptions -----------------------------------------------------------------------------------------------------


def config(**values: Any) -> Callable[[Path], None]:
    """Sets keys of config.json; None removes one."""

    def change(folder: Path) -> None:
        old = json.loads((folder / "config.json").read_text())
        write_json(folder / "config.json", {k: v for k, v in (old | values).items() if v is not None})

    return change


def weights(change: Callable[[dict[str, np.ndarray]], object]) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        shapes = bert_shapes(
            hidden=10, layers=1, intermediate=37, labels=3, max_positions=32, type_vocab=2, vocab_size=45
        )
        tensors = random_tensors(shapes)
        change(tensors)
        write_safetensors(folder / "model.safetensors", tensors)

    return apply


def test_missing_labels_are_assumed_and_said(model: Path, tmp_path: Path) -> None:
    weights(
        lambda t: t.update(
            {"classifier.weight": t["classifier.weight"][:2], "classifier.bias": t["classifier.bias"][:2]}
        )
    )(model)
    config(id2label=None, label2id=None)(model)
    outcome = etch("generate", model, "--out", tmp_path / "out")
    assert (outcome.code, outcome.err) == (0, "")
    text = outcome.out.decode()
    assert "LABEL_0, LABEL_1" in text
    assert "\nnote " in text
    assert '"LABEL_0", 7' in (tmp_path / "out" / "out.hpp").read_text()


# --- inspect ---------------------------------------------------------------------------------------------------------


def test_inspect(model: Path, tmp_path: Path) -> None:
    before = content(tmp_path)
    stamps = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    here = tmp_path / "model"
    outcome = etch("inspect", model, cwd=here)
    assert (outcome.code, outcome.err) == (0, "")
    assert content(tmp_path) == before
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == stamps
    lines = outcome.lines
    shapes = bert_shapes(hidden=10, layers=1, intermediate=37, labels=3, max_positions=32, type_vocab=2, vocab_size=45)
    parameters = sum(int(np.prod(shape)) for shape in shapes.values())
    assert f"{parameters:,} parameters" in lines[0]
    assert "single-label classification (softmax), 3 labels: label 0, label 1, label 2" in lines[1]
    forecasts = {tuple(line.split()[1:3]): line for line in lines if line.startswith("forecast")}
    assert set(forecasts) == {
        (recipe, target) for recipe in ("w8a8", "w7a8", "w4a8", "fp32") for target in ("host", "m-profile")
    }
    for (recipe, target), line in forecasts.items():
        out = tmp_path / f"{recipe}_{target}"
        made = etch("generate", model, "--out", out, "--recipe", recipe, "--target", target)
        assert made.code == 0, made.err
        manifest = json.loads((out / "etch.json").read_text())
        assert f"tables {manifest['table_bytes']:>12,} bytes" in line
        assert f"arena {manifest['arena_bytes']:>12,} bytes" in line
