# SPDX-License-Identifier: Apache-2.0
"""tools/train/agnews_tiny on texts that hold a word of their topic: what it says of the rows held out, the generator's
integers find as well. Skipped without PyTorch."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from agnews_texts import TEST, texts, write_agnews
from classify_program import ROOT

from codegen import pipeline
from codegen.emulate import emulate_texts
from codegen.ir.text import Text
from codegen.library_tokenizer.wheel_tokenizer import text_tokenizer

pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")

MAKE = ROOT / "tools" / "train" / "agnews_tiny" / "make.py"
SHAPE = ("--pieces", "300", "--width", "32", "--layers", "1")


def train(folder: Path, epochs: int) -> subprocess.CompletedProcess[str]:
    """One run, whose state and lessons stay."""
    places = ("--out", folder / "out", "--state", folder / "state", "--cache", folder / "lessons")
    command = [sys.executable, MAKE, *SHAPE, "--epochs", str(epochs), *places]
    environment = os.environ | {"ETCH_DATA": str(folder / "data"), "HF_HUB_OFFLINE": "1"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)


def test_what_is_trained_is_what_the_generator_computes(tmp_path: Path) -> None:
    write_agnews(tmp_path / "data")
    done = train(tmp_path, 6)
    assert done.returncode == 0, done.stderr
    told = float(done.stdout.partition("held out: ")[2].partition(" %")[0])
    assert told > 95
    checkpoint = pipeline.load(tmp_path / "out")
    rows = texts(TEST, 2)
    encodings = text_tokenizer(checkpoint.tokenizer, 64).encode_batch([text for _, text in rows])
    inputs = [Text(encoding.ids, encoding.type_ids) for encoding in encodings]
    program = pipeline.lower(checkpoint, "w8a8", None)
    found = np.argmax(emulate_texts(program, inputs), axis=1)
    assert np.mean(found == [topic for topic, _ in rows]) > 0.95

    done = train(tmp_path, 7)  # goes on, and asks the teacher nothing
    assert done.returncode == 0 and "going on after step" in done.stderr and "teacher:" not in done.stdout
