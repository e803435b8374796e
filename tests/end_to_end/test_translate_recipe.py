# SPDX-License-Identifier: Apache-2.0
"""tools/train/translate on a few pairs of our own, begun with the committed checkpoint. Skipped without PyTorch."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from classify_program import ROOT

for library in ("torch", "transformers", "sentencepiece", "sacrebleu"):
    pytest.importorskip(library, reason=f"{library} is not installed")

from safetensors.numpy import load_file  # noqa: E402 - comes with transformers

RECIPE = ROOT / "tools" / "train" / "translate"
PAIRS = (("A man rides a bicycle.", "Ein Mann fährt Fahrrad."), ("Two dogs are playing.", "Zwei Hunde spielen."))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As ETCH_DATA has them."""
    data = tmp_path_factory.mktemp("data")
    (data / "multi30k").mkdir()
    for part, count in (("train", 40), ("val", 2)):
        for language, texts in zip(("en", "de"), zip(*PAIRS, strict=True), strict=True):
            lines = "".join(f"{text}\n" for text in texts) * (count // 2)
            (data / "multi30k" / f"{part}.{language}.gz").write_bytes(gzip.compress(lines.encode()))
    return data


def run(data: Path, *options: str | Path) -> subprocess.CompletedProcess[str]:
    """One run of the recipe."""
    return subprocess.run(
        [sys.executable, RECIPE / "make.py", "--threads", "1", *options],
        env=os.environ | {"ETCH_DATA": str(data), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_a_run_begins_with_the_weights_of_a_checkpoint(data: Path, tmp_path: Path) -> None:
    begun, out = RECIPE / "checkpoint", tmp_path / "out"
    done = run(data, "--from", begun, "--out", out, "--state", tmp_path / "state", "--epochs", "1")
    assert done.returncode == 0, done.stderr
    for name in ("config.json", "generation_config.json", "tokenizer_config.json", "source.spm", "vocab.json"):
        assert (out / name).read_bytes() == (begun / name).read_bytes(), name
    before, after = load_file(begun / "model.safetensors"), load_file(out / "model.safetensors")
    assert before.keys() == after.keys()
    moved = max(np.abs(before[name].astype(np.float32) - after[name].astype(np.float32)).max() for name in before)
    assert 0 < moved < 1e-3  # a step, at a rate that has hardly begun to rise


def test_a_start_is_for_training(data: Path) -> None:
    done = run(data, "--from", RECIPE / "checkpoint", "--evaluate")
    assert done.returncode == 2 and "--from goes with training" in done.stderr
