# SPDX-License-Identifier: Apache-2.0
"""tools/train/finetune on tiny checkpoints: what it learns, keeps, repeats and writes. Skipped without PyTorch."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest
from finetune_recipe import command, finetune, labelled, sentences, write_csv
from numpy.typing import NDArray
from tiny_checkpoint import (
    read_raw_safetensors,
    write_json,
    write_raw_safetensors,
    write_safetensors,
    write_tiny_checkpoint,
)

from codegen import pipeline

pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")

FAST = ("--epochs", "1", "--threads", "1")
TEXT = ("--text-columns", "text", "--label-column", "label")


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("base") / "tiny"
    write_tiny_checkpoint(folder, hidden=32, intermediate=64)
    return folder


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_csv(tmp_path_factory.mktemp("table") / "train.csv", labelled())


def trained(out: Path, checkpoint: Path, table: Path, *arguments: str | Path) -> Path:
    """A run that must succeed; returns `out`."""
    outcome = finetune(checkpoint, "--train", table, "--out", out, *arguments)
    assert outcome.code == 0, outcome.err
    assert outcome.out.count(b"\n") == 1
    return out


def tensors(folder: Path) -> dict[str, NDArray[np.float32]]:
    file = pipeline.load(folder).tensors
    return {name: file.take(name, file.info(name)[1]).values.copy() for name in file.names}


def weights(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


def epochs(folder: Path) -> list[list[float]]:
    """The card's table: epoch, training loss, held-out loss, metrics."""
    rows = re.findall(r"^\| (\d+) \|((?: -?[0-9.]+ \|)+)$", (folder / "README.md").read_text(), re.MULTILINE)
    return [[float(number), *map(float, re.findall(r"-?[0-9.]+", rest))] for number, rest in rows]


def test_same_seed_same_weights(tmp_path: Path, checkpoint: Path, table: Path) -> None:
    first, again, other = (
        trained(tmp_path / name, checkpoint, table, *TEXT, *FAST, "--seed", seed)
        for name, seed in (("first", "7"), ("again", "7"), ("other", "8"))
    )
    assert weights(first) == weights(again)
    assert weights(first) != weights(other)


@pytest.mark.parametrize("arithmetic", [(), ("--bfloat16",)], ids=["float32", "bfloat16"])
def test_learns(tmp_path: Path, checkpoint: Path, arithmetic: tuple[str, ...]) -> None:
    table = write_csv(tmp_path / "train.csv", labelled(400))
    test = write_csv(tmp_path / "test.csv", labelled(100, seed=2))
    settings = ("--rate", "5e-3", "--epochs", "8", "--test", test, *arithmetic)
    out = trained(tmp_path / "out", checkpoint, table, *TEXT, *settings)
    card = (out / "README.md").read_text()
    found = re.search(r"measured once\n\n.*\n.*\n\| accuracy \| ([0-9.]+) \|", card)
    assert found
    assert float(found[1]) >= 0.95


def test_card_and_folder(tmp_path: Path, checkpoint: Path, table: Path) -> None:
    out = trained(tmp_path / "out", checkpoint, table, *TEXT, *FAST, "--max-tokens", "9", "--seed", "3")
    card = (out / "README.md").read_text()
    digest = hashlib.sha256(table.read_bytes()).hexdigest()
    assert f"| 54 | training | train.csv | `{digest}` | 0 |" in card
    assert f"| 6 | held out | train.csv | `{digest}` | 0 |" in card
    assert f"etch's digest `{pipeline.load(checkpoint).digest}`" in card
    for line in ("| seed | 3 |", "| threads | 1 |", "| longest text | 9 tokens |"):
        assert line in card
    assert len(epochs(out)) == 1
    assert str(tmp_path) not in card
    loaded = pipeline.load(out)
    assert loaded.default_max_tokens == 9
    assert loaded.config.labels() == ("no", "yes")
    assert loaded.config.problem_type == "single_label_classification"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_stops_early_and_keeps_the_best_epoch(tmp_path: Path, checkpoint: Path) -> None:
    rows = [(text, i * 7919 % 13 % 2) for i, (text, _) in enumerate(sentences(60))]
    table = write_csv(tmp_path / "train.csv", rows)
    settings = ("--epochs", "60", "--patience", "3", "--rate", "1e-2", "--held-out", "0.3", "--threads", "1")
    out = trained(tmp_path / "out", checkpoint, table, "--text-columns", "1", "--label-column", "2", *settings)
    by_epoch = epochs(out)
    kept = re.search(r"^Kept: the weights after epoch (\d+)\.$", (out / "README.md").read_text(), re.MULTILINE)
    assert kept
    assert len(by_epoch) == int(kept[1]) + 3 < 60
    assert max(by_epoch, key=lambda row: (row[3], -row[2]))[0] == int(kept[1])


@pytest.mark.parametrize("what", ["embeddings", "encoder"])
def test_frozen_weights_stay(tmp_path: Path, checkpoint: Path, table: Path, what: str) -> None:
    out = trained(tmp_path / "out", checkpoint, table, *TEXT, *FAST, "--freeze", what)
    frozen = ("bert.embeddings.",) if what == "embeddings" else ("bert.embeddings.", "bert.encoder.")
    before, after = tensors(checkpoint), tensors(out)
    for name, values in after.items():
        if not name.startswith("classifier."):
            assert (values == before[name]).all() == name.startswith(frozen), name


def test_frozen_encoder_is_run_once_alike(tmp_path: Path, checkpoint: Path, table: Path) -> None:
    """The kept states give the same held-out loss as the whole model does, here as its test rows."""
    write_csv(tmp_path / "rows.csv", labelled(30, seed=5))
    rows = ("--validation", tmp_path / "rows.csv", "--test", tmp_path / "rows.csv")
    out = trained(tmp_path / "out", checkpoint, table, *TEXT, *FAST, "--freeze", "encoder", *rows)
    found = re.search(r"\| accuracy \| ([0-9.]+) \|", (out / "README.md").read_text())
    assert found
    assert float(found[1]) == epochs(out)[0][3]


def test_bare_encoder_gets_a_head(tmp_path: Path, checkpoint: Path, table: Path) -> None:
    """Names without `bert.`, no pooler, no classifier, as sentence-transformers folders have them."""
    bare = tmp_path / "bare"
    write_tiny_checkpoint(bare, hidden=32, intermediate=64)
    config = json.loads((bare / "config.json").read_text())
    write_json(bare / "config.json", config | {"architectures": ["BertModel"]})
    kept = {k: v for k, v in tensors(bare).items() if k.startswith(("bert.embeddings", "bert.encoder"))}
    write_safetensors(bare / "model.safetensors", {k.removeprefix("bert."): v for k, v in kept.items()})
    out = trained(tmp_path / "out", bare, table, *TEXT, *FAST, "--rate", "1e-9")
    after = tensors(out)
    for name, values in kept.items():
        assert np.abs(after[name] - values).max() < 1e-6, name
    card = (out / "README.md").read_text()
    fresh = "`classifier.weight`, `classifier.bias`, `bert.pooler.dense.weight`, `bert.pooler.dense.bias`"
    assert f"| started at random | {fresh} |" in card


def test_head_with_the_same_labels_goes_on(tmp_path: Path, checkpoint: Path) -> None:
    """In the checkpoint's order of the labels; with other labels it starts anew."""
    rows = [(text, f"label {2 - i % 3}") for i, (text, _) in enumerate(sentences(60))]
    same = write_csv(tmp_path / "same.csv", [("text", "label"), *rows])
    out = trained(tmp_path / "out", checkpoint, same, *TEXT, *FAST, "--rate", "1e-9")
    assert pipeline.load(out).config.labels() == ("label 0", "label 1", "label 2")
    assert np.abs(tensors(out)["classifier.weight"] - tensors(checkpoint)["classifier.weight"]).max() < 1e-6
    assert "| started at random | nothing |" in (out / "README.md").read_text()


def test_half_precision_and_older_names_are_read(tmp_path: Path, table: Path) -> None:
    base = tmp_path / "base"
    write_tiny_checkpoint(base, dtype="F16")
    header, data = read_raw_safetensors(base / "model.safetensors")
    older = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): entry
        for name, entry in header.items()
    }
    before = tensors(base)
    write_raw_safetensors(base / "model.safetensors", older, data)
    after = tensors(trained(tmp_path / "out", base, table, *TEXT, *FAST, "--rate", "1e-9"))
    for name, values in before.items():
        if not name.startswith("classifier"):
            assert after[name].dtype == np.float32
            assert np.abs(after[name] - values).max() < 1e-6, name


def test_terminated_run_leaves_nothing(tmp_path: Path, checkpoint: Path, table: Path) -> None:
    arguments = (
        checkpoint,
        "--train",
        table,
        "--out",
        tmp_path / "out",
        *TEXT,
        "--epochs",
        "1000",
        "--patience",
        "1000",
    )
    running = subprocess.Popen(command(*arguments), stderr=subprocess.PIPE, text=True)
    assert running.stderr is not None
    while "epoch 1:" not in running.stderr.readline():
        assert running.poll() is None
    assert os.listdir(tmp_path)
    running.send_signal(signal.SIGTERM)
    running.communicate(timeout=60)
    assert running.returncode == 143
    assert not os.listdir(tmp_path)
