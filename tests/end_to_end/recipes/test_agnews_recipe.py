# SPDX-License-Identifier: Apache-2.0
"""The folder that the AG News recipes write: with the terms of the committed one. Skipped without PyTorch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from classify_program import ROOT

pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")

RECIPES = ROOT / "tools" / "train"
SAVE = """
import sys
from pathlib import Path
sys.path[:0] = [f"{sys.argv[1]}/agnews", sys.argv[1]]
import student
from transformers import BertConfig, BertForSequenceClassification
shape = dict(hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8, vocab_size=9)
student.save(BertForSequenceClassification(BertConfig(**shape)), {}, {}, Path(sys.argv[2]))
"""


def test_a_checkpoint_has_the_terms_of_its_rows(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", SAVE, RECIPES, tmp_path / "made"], check=True)
    subprocess.run([sys.executable, "-c", SAVE, RECIPES, tmp_path / "made"], check=True)  # in its place
    written = (tmp_path / "made" / "LICENSE").read_bytes()
    for name in ("agnews", "agnews_small"):
        assert written == (RECIPES / name / "checkpoint" / "LICENSE").read_bytes()
