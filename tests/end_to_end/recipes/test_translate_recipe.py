# SPDX-License-Identifier: Apache-2.0
"""tools/train/translate on a few pairs of our own, begun with the committed checkpoint. Skipped without PyTorch."""

from __future__ import annotations

import gzip
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from classify_program import ROOT

for library in ("torch", "transformers", "sentencepiece", "sacrebleu"):
    pytest.importorskip(library, reason=f"{library} is not installed")

from safetensors.numpy import load_file  # noqa: E402 - comes with transformers

from codegen import pipeline  # noqa: E402 - once it is known that it can be compared

RECIPE = ROOT / "tools" / "train" / "translate"
PAIRS = (("A man rides a bicycle.", "Ein Mann fährt Fahrrad."), ("Two dogs are playing.", "Zwei Hunde spielen."))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As ETCH_DATA has them."""
    data = tmp_path_factory.mktemp("data")
    for part, count in (("train", 20), ("val", 1)):
        write_pairs(data, part, list(PAIRS) * count)
    return data


def write_pairs(data: Path, part: str, pairs: list[tuple[str, str]]) -> None:
    """(English, German), a line each."""
    (data / "multi30k").mkdir(exist_ok=True)
    for language, texts in zip(("en", "de"), zip(*pairs, strict=True), strict=True):
        lines = "".join(f"{text}\n" for text in texts)
        (data / "multi30k" / f"{part}.{language}.gz").write_bytes(gzip.compress(lines.encode()))


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
    for name in (
        "config.json",
        "generation_config.json",
        "tokenizer_config.json",
        "source.spm",
        "vocab.json",
        "LICENSE",
    ):
        assert (out / name).read_bytes() == (begun / name).read_bytes(), name
    before, after = load_file(begun / "model.safetensors"), load_file(out / "model.safetensors")
    assert before.keys() == after.keys()
    moved = max(np.abs(before[name].astype(np.float32) - after[name].astype(np.float32)).max() for name in before)
    assert 0 < moved < 1e-3  # a step, at a rate that has hardly begun to rise


def test_a_start_is_for_training(data: Path) -> None:
    done = run(data, "--from", RECIPE / "checkpoint", "--evaluate")
    assert done.returncode == 2 and "--from goes with training" in done.stderr


def test_the_textbooks_form(tmp_path: Path) -> None:
    rng = random.Random(1)  # so many words that there are 3,000 pieces
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(3, 7))) for _ in range(6_000)]
    pairs = [(" ".join(row), " ".join(reversed(row))) for row in (rng.choices(words, k=12) for _ in range(600))]
    for part, some in (("train", pairs), ("val", pairs[:2]), ("test_2016_flickr", pairs[:2])):
        write_pairs(tmp_path, part, some)
    out = tmp_path / "out"
    form = ("--form", "textbook", "--out", out)
    done = run(tmp_path, *form, "--state", tmp_path / "state", "--epochs", "1", "--bfloat16")
    assert done.returncode == 0, done.stderr
    assert "600 pairs, 3,759,736 parameters" in done.stdout
    kept = load_file(out / "model.safetensors")
    for name in ("source_embedding", "target_embedding", "output"):
        assert kept[f"{name}.weight"].shape == (3_000, 192)  # none is another one's
    assert not np.array_equal(kept["target_embedding.weight"], kept["output.weight"])
    graph = pipeline.to_graph(pipeline.load(out), None)
    assert graph.target_rules is not None and (graph.vocabulary, graph.target_rules.max_tokens) == (3_000, 127)
    for beams in ("1", "2"):
        done = run(tmp_path, *form, "--evaluate", "--test", "--rows", "1", "--beams", beams)
        assert done.returncode == 0 and f"test, 1 rows, beams {beams}: BLEU = " in done.stdout, done.stderr
