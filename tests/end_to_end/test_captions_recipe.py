# SPDX-License-Identifier: Apache-2.0
"""tools/train/captions on a few captions: the same run ends with the same weights, and what is written is what the
generator reads. Skipped without PyTorch."""

from __future__ import annotations

import gzip
import os
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


def train(data: Path, folder: Path, name: str, state: str, steps: int) -> Path:
    """The checkpoint after so many steps."""
    command = [sys.executable, MAKE, "--out", folder / name, "--state", folder / state, "--steps", str(steps)]
    environment = os.environ | {"ETCH_DATA": str(data)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return folder / name


def test_the_same_run_twice(tmp_path: Path) -> None:
    texts = [f"A {WORDS[i % 8]} and a {WORDS[i // 8 % 8]} in the {WORDS[i // 3 % 8]} number {i}." for i in range(200)]
    (tmp_path / "multi30k").mkdir()
    for part, some in (("train", texts), ("val", texts[::9])):
        (tmp_path / "multi30k" / f"{part}.en.gz").write_bytes(gzip.compress("".join(f"{t}\n" for t in some).encode()))
    whole = train(tmp_path, tmp_path, "whole", "one", 4)
    again = train(tmp_path, tmp_path, "again", "two", 4)
    for file in whole.iterdir():
        assert file.read_bytes() == (again / file.name).read_bytes(), file.name
    checkpoint = pipeline.load(whole)
    assert pipeline.to_graph(checkpoint, None).task.name == "generation"
    assert train(tmp_path, tmp_path, "whole", "one", 4) == whole  # nothing is left to do


def test_the_committed_one() -> None:
    graph = pipeline.to_graph(pipeline.load(CHECKPOINT), None)
    assert graph.target is not None
    assert (graph.vocabulary, graph.target.max_tokens) == (768, 48)
