# SPDX-License-Identifier: Apache-2.0
"""Models whose buffers lie in several regions of memory: wherever they are, the bits are those of one arena."""

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
from codegen.memory.regions import Room
from codegen.quantize import choose_recipe

TEXTS = ["", "oil prices", "the striker scored twice", "a man " * 90]
# A checkpoint, recipe, target, and what share of the arena each region has room for.
MODELS = [
    ("agnews_small", "w8a8", "m-profile", (0.3, 0.9)),
    pytest.param("agnews_small", "fp32", "host", (0.2, 0.3, 0.9), marks=pytest.mark.sweep),
    ("captions", "w8a8", "m-profile", (0.5, 1.0)),
    pytest.param("captions", "w4a8", "host", (0.2, 1.0), marks=pytest.mark.sweep),
]


def generated(name: str, recipe: str, target: str, shares: tuple[float, ...], shared: Path) -> Path:
    """The same folder with regions for every worker."""
    checkpoint = ROOT / "tools" / "train" / name / "checkpoint"
    out = shared / "regions" / f"{name}_{recipe}_{target}_{len(shares)}".replace("-", "_")

    def make() -> None:
        loaded = pipeline.load(checkpoint)
        graph = pipeline.to_graph(loaded, None)
        arena = pipeline.make_model("m", loaded, graph, choose_recipe(recipe), target).plan.arena_bytes
        rooms = tuple(Room("xyz"[i], int(share * arena)) for i, share in enumerate(shares))
        pipeline.generate(pipeline.Request(checkpoint, out, recipe=recipe, target=target, rooms=rooms), lambda _: None)

    once(out.with_suffix(".made"), out.name, make)
    return out


@pytest.mark.parametrize(("name", "recipe", "target", "shares"), MODELS)
def test_the_golden_bits(
    name: str, recipe: str, target: str, shares: tuple[float, ...], shared: Path, tmp_path: Path
) -> None:
    out = generated(name, recipe, target, shares, shared)
    manifest = json.loads((out / "etch.json").read_text())
    assert list(manifest["regions"]) == list("xyz"[: len(shares)])
    assert all(0 < region["bytes"] <= region["room"] for region in manifest["regions"].values())
    program = build_test(
        out, ROOT / "tests/end_to_end/models/region_calls.cpp", tmp_path / "calls", "-fsanitize=undefined"
    )
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_program_gives_its_workspaces_the_memory(shared: Path) -> None:
    """Batches and threads, as of the committed model, whose regions are one arena."""
    out = generated("agnews_small", "w8a8", "m-profile", (0.3, 0.9), shared)
    program = build_program(out)
    known = built("classify-agnews_small")
    lines = "".join(f"{text}\n" for text in TEXTS).encode()
    for options in ((), ("--threads", "2")):
        meant = known.well("--json", *options, stdin=lines).objects
        assert program.well("--json", *options, stdin=lines).objects == meant


@pytest.mark.parametrize("command", ["wheel", "sqlite", "web", "bundle"])
def test_what_gives_no_memory_refuses_it(
    command: str, shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = generated("agnews_small", "w8a8", "m-profile", (0.3, 0.9), shared)
    assert main([command, str(out), "--out", str(tmp_path / "made")]) == 1
    assert "error[regions-not-supported]" in capsys.readouterr().err
    assert not (tmp_path / "made").exists()
