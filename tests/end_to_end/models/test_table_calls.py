# SPDX-License-Identifier: Apache-2.0
"""Models whose tables lie in several places, some of them copied there: the bits are those of one place."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from classify_program import ROOT, built
from model_build import build_program, build_test
from once import once

from codegen import pipeline
from codegen.cli import main
from codegen.memory.table_places import parse_place

TEXTS = ["", "oil prices", "the striker scored twice", "a man " * 90]
MODELS = [
    ("agnews_small", "w8a8", "m-profile", ("fast=128K,copied", "code=300K", "qspi=8M")),
    pytest.param("captions", "w4a8", "host", ("fast=96K,copied", "flash=8M"), marks=pytest.mark.sweep),
]


def generated(name: str, recipe: str, target: str, places: tuple[str, ...], shared: Path) -> Path:
    """The same folder with these places for every worker."""
    out = shared / "table_places" / f"{name}_{recipe}_{target}".replace("-", "_")

    def make() -> None:
        checkpoint = ROOT / "tools" / "train" / name / "checkpoint"
        table_places = tuple(map(parse_place, places))
        request = pipeline.Request(checkpoint, out, recipe=recipe, target=target, table_places=table_places)
        pipeline.generate(request, lambda _: None)

    once(out.with_suffix(".made"), out.name, make)
    return out


@pytest.mark.parametrize(("name", "recipe", "target", "places"), MODELS)
def test_the_golden_bits(
    name: str, recipe: str, target: str, places: tuple[str, ...], shared: Path, tmp_path: Path
) -> None:
    out = generated(name, recipe, target, places, shared)
    manifest = json.loads((out / "etch.json").read_text())
    copied = manifest["table_places"]["fast"]["tables"][0]
    macros = (f'-DETCH_MODEL_WEIGHTS="{out.name}_weights.hpp"', f"-DETCH_COPIED_TABLE={copied}")
    source = ROOT / "tests/end_to_end/models/table_calls.cpp"
    program = build_test(out, source, tmp_path / "calls", "-fsanitize=undefined", *macros)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_program_copies_them(shared: Path) -> None:
    """Before its first call, for all of its threads."""
    program = build_program(generated(*MODELS[0], shared))
    known = built("classify-agnews_small")
    lines = "".join(f"{text}\n" for text in TEXTS).encode()
    for options in ((), ("--threads", "2")):
        meant = known.well("--json", *options, stdin=lines).objects
        assert program.well("--json", *options, stdin=lines).objects == meant


@pytest.mark.parametrize("command", ["wheel", "sqlite", "web", "bundle"])
def test_what_copies_none_refuses_it(
    command: str, shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = generated(*MODELS[0], shared)
    assert main([command, str(out), "--out", str(tmp_path / "made")]) == 1
    assert "was generated with --table-region" in capsys.readouterr().err
    assert not (tmp_path / "made").exists()
