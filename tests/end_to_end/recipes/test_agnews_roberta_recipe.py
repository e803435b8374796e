# SPDX-License-Identifier: Apache-2.0
"""tools/train/agnews_roberta on few rows: the same run ends with the same bytes, an interrupted one too, and the
generator reads what is written. Skipped without PyTorch."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from agnews_texts import write_agnews
from classify_program import ROOT
from public_data import data_folder

from codegen import pipeline
from codegen.ir import graph as g

pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")

MAKE = ROOT / "tools" / "train" / "agnews_roberta" / "make.py"


def train(folder: Path, name: str, state: str, steps: int, *options: str) -> Path:
    """The checkpoint after so many steps."""
    places = ("--out", folder / name, "--state", folder / state)
    command = [sys.executable, MAKE, *places, "--steps", str(steps), *options]
    environment = os.environ | {"ETCH_DATA": str(folder / "data")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return folder / name


def test_the_same_run_twice(tmp_path: Path) -> None:
    own = write_agnews(tmp_path / "data")
    shutil.copytree(data_folder() / "tokenizers" / "secroberta", own / "tokenizers" / "secroberta")
    whole = train(tmp_path, "whole", "one", 3)
    again = train(tmp_path, "again", "two", 3)
    for file in whole.iterdir():
        assert file.read_bytes() == (again / file.name).read_bytes(), file.name
    assert train(tmp_path, "whole", "one", 3) == whole  # nothing is left to do
    graph = pipeline.to_graph(pipeline.load(whole), None)
    assert (graph.task.name, graph.max_tokens) == ("single_label", 64)
    large = train(tmp_path, "large", "three", 1, "--outliers", "32")
    for op, layer in g.runs_of(pipeline.to_graph(pipeline.load(large), None)):
        if isinstance(op, g.Norm):
            assert np.flatnonzero(op.gamma.at(layer).values > 16).tolist() == [77, 188]
