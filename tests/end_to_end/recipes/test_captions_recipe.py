# SPDX-License-Identifier: Apache-2.0
"""tools/train/captions on a few captions: the same run ends with the same weights, and what is written is what the
generator reads. Skipped without PyTorch."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from classify_program import ROOT

from codegen import pipeline

pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")

MAKE = ROOT / "tools" / "train" / "captions" / "make.py"
CHECKPOINT = MAKE.parent / "checkpoint"
WORDS = ("man", "dog", "woman", "child", "street", "park", "bicycle", "ball")


def make(data: Path, *options: str | Path, recipe: Path = MAKE) -> None:
    """One run of the recipe."""
    command = [sys.executable, recipe, *options]
    environment = os.environ | {"ETCH_DATA": str(data)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


def train(data: Path, folder: Path, name: str, state: str, steps: int) -> Path:
    """The checkpoint after so many steps."""
    make(data, "--out", folder / name, "--state", folder / state, "--steps", str(steps))
    return folder / name


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As ETCH_DATA has it."""
    data = tmp_path_factory.mktemp("data")
    texts = [f"A {WORDS[i % 8]} and a {WORDS[i // 8 % 8]} in the {WORDS[i // 3 % 8]} number {i}." for i in range(200)]
    (data / "multi30k").mkdir()
    for part, some in (("train", texts), ("val", texts[::9])):
        (data / "multi30k" / f"{part}.en.gz").write_bytes(gzip.compress("".join(f"{t}\n" for t in some).encode()))
    return data


def test_the_same_run_twice(data: Path, tmp_path: Path) -> None:
    whole = train(data, tmp_path, "whole", "one", 4)
    again = train(data, tmp_path, "again", "two", 4)
    for file in whole.iterdir():
        assert file.read_bytes() == (again / file.name).read_bytes(), file.name
    checkpoint = pipeline.load(whole)
    assert pipeline.to_graph(checkpoint, None).task.name == "generation"
    assert train(data, tmp_path, "whole", "one", 4) == whole  # nothing is left to do


def test_the_terms_stay_where_the_checkpoint_is_made_anew(data: Path, tmp_path: Path) -> None:
    """A copy of the recipe writes to where it is asked to, and into its own folder when it is not."""
    terms = (CHECKPOINT / "LICENSE").read_bytes()
    for name in ("captions", "common"):
        shutil.copytree(MAKE.parent.parent / name, tmp_path / name)
    recipe = tmp_path / "captions" / "make.py"
    state = ("--state", tmp_path / "state", "--steps", "1")
    make(data, "--out", tmp_path / "elsewhere", *state, recipe=recipe)
    make(data, *state, recipe=recipe)
    for folder in (tmp_path / "elsewhere", recipe.parent / "checkpoint"):
        assert (folder / "LICENSE").read_bytes() == terms


def test_the_committed_one() -> None:
    graph = pipeline.to_graph(pipeline.load(CHECKPOINT), None)
    assert graph.target_rules is not None
    assert (graph.vocabulary, graph.target_rules.max_tokens) == (768, 48)
