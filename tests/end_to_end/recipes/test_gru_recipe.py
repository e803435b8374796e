# SPDX-License-Identifier: Apache-2.0
"""tools/train/gru on a tiny encoder: what it writes is what the generator reads. Skipped without PyTorch."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from classify_program import ROOT
from finetune_recipe import TIMEOUT, labelled, sentences, write_csv
from tiny_checkpoint import write_tiny_checkpoint

from codegen import pipeline
from codegen.emulate import emulate_texts
from codegen.ir.text import Text
from codegen.library_tokenizer.encoding import encoded
from codegen.library_tokenizer.wheel_tokenizer import text_tokenizer

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")

RECIPE = ROOT / "tools" / "train" / "gru" / "gru.py"
COLUMNS = ("--label-column", "label", "--text-columns", "text")
FAST = ("--threads", "1", "--hidden", "13", "--layers", "2", "--epochs", "8", "--rate", "0.02", "--max-tokens", "20")


def recipe(encoder: Path, table: Path, out: Path, *options: str | Path) -> subprocess.CompletedProcess[str]:
    """One run."""
    return subprocess.run(
        [sys.executable, RECIPE, encoder, "--train", table, "--out", out, *COLUMNS, *options],
        env=os.environ | {"HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )


def test_what_is_trained_is_what_the_generator_computes(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path / "tiny", hidden=32, intermediate=64)
    table, test = (
        write_csv(tmp_path / name, labelled(count, seed)) for name, count, seed in (("a.csv", 240, 1), ("b.csv", 60, 2))
    )
    done = recipe(tmp_path / "tiny", table, tmp_path / "out", *FAST, "--test", test)
    assert done.returncode == 0, done.stderr
    told = float(done.stdout.rpartition("test: ")[2].partition(" %")[0])
    assert told >= 75  # each text says `good` or `bad`, and the encoder knows nothing

    settings = json.loads((tmp_path / "out" / "head.json").read_text())
    assert settings["labels"] == ["no", "yes"] and settings["num_layers"] == 2
    checkpoint = pipeline.load(tmp_path / "out")
    assert checkpoint.default_max_tokens == 20
    texts = [text for text, _ in sentences(60, 2)]
    ours = emulate_texts(
        pipeline.lower(checkpoint, "fp32", None),
        [Text(*text) for text in encoded(text_tokenizer(checkpoint.tokenizer, 20), texts)],
    )
    truths = [int(good) for _, good in sentences(60, 2)]
    assert 100 * float(np.mean(np.argmax(ours, axis=1) == truths)) == pytest.approx(told, abs=0.01)


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path / "tiny")
    table = write_csv(tmp_path / "a.csv", labelled(20))
    done = recipe(tmp_path / "nothing", table, tmp_path / "out")
    assert (done.returncode, done.stdout) == (1, "") and done.stderr.startswith("gru: error[not-a-folder]")
    done = recipe(tmp_path / "tiny", table, tmp_path / "tiny")
    assert done.returncode == 1 and "exists already" in done.stderr
    assert not (tmp_path / "out").exists()


def test_what_was_encoded_is_not_encoded_again(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path / "tiny")
    table, kept = write_csv(tmp_path / "a.csv", labelled(300)), tmp_path / "kept"
    options = (*FAST, "--epochs", "1", "--features", kept, "--write-held-out", tmp_path / "held_out.csv")

    def head(name: str) -> bytes:
        done = recipe(tmp_path / "tiny", table, tmp_path / name, *options)
        assert done.returncode == 0, done.stderr
        return (tmp_path / name / "head.safetensors").read_bytes()

    first = head("first")
    files = {path: path.read_bytes() for path in kept.glob("*.safetensors")}
    assert len(files) == 3  # 256 of the training rows, the others, and what is held out
    assert head("again") == first
    held_out = (tmp_path / "held_out.csv").read_text().splitlines()
    assert len(held_out) == 30
    assert {f"{text},{label}" for label, _, text in (row.partition(",") for row in held_out)} <= set(
        table.read_text().splitlines()
    )
    (training,) = kept.glob("*.pt")
    training.unlink()
    for path, content in files.items():
        path.write_bytes(content[:-64] + bytes(64))  # were they read?
    assert head("other") != first


def test_a_training_that_was_stopped_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path / "tiny")
    table = write_csv(tmp_path / "a.csv", labelled(300))
    assert recipe(tmp_path / "tiny", table, tmp_path / "whole", *FAST).returncode == 0

    options = (*FAST, "--features", tmp_path / "kept")
    command = [sys.executable, RECIPE, tmp_path / "tiny", "--train", table, "--out", tmp_path / "stopped", *COLUMNS]
    with subprocess.Popen([*command, *options], stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        for line in running.stderr:
            if line.startswith("epoch 2"):
                running.kill()
    assert running.returncode != 0 and not (tmp_path / "stopped").exists()

    done = recipe(tmp_path / "tiny", table, tmp_path / "stopped", *options)
    assert done.returncode == 0 and "going on after epoch" in done.stderr, done.stderr
    whole, stopped = ((tmp_path / name / "head.safetensors").read_bytes() for name in ("whole", "stopped"))
    assert stopped == whole


def test_a_loss_that_is_no_number_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for part in ("", "finetune", "gru"):
        monkeypatch.syspath_prepend(str(ROOT / "tools" / "train" / part))
    import gru_training
    from gru_model import GruClassifier

    rows = SimpleNamespace(
        lengths=[2] * 4, rows=[None] * 4, labels=torch.zeros(4, dtype=torch.int64), texts=lambda _: [torch.ones(2, 3)]
    )
    asked = SimpleNamespace(seed=0, batch=1, epochs=2, rate=float("inf"))
    with pytest.raises(SystemExit, match="the loss is not finite in step 2: lower --rate inf"):
        gru_training.train(GruClassifier(3, 2, 1, 2), rows, rows, asked)
