# SPDX-License-Identifier: Apache-2.0
"""tools/train/small: a small embedder of a tiny teacher comes near to it, goes on where it was interrupted, and its
folder generates. Skipped without PyTorch."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from classify_program import ROOT
from tiny_checkpoint import read_raw_safetensors, write_raw_safetensors
from tiny_sentence import write_tiny_sentence_model

from codegen import pipeline
from codegen.emulate import emulate_texts
from codegen.ir.text import Text
from codegen.library_tokenizer.wheel_tokenizer import text_tokenizer

pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")

RECIPE = ROOT / "tools" / "train" / "small" / "small.py"
WORDS = ("the", "a", "cat", "dog", "sat", "ran", "on", "mat", "good", "bad", "work", "play", "berlin", "x", "y", "1")


@pytest.fixture(scope="module")
def lesson(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A teacher and texts."""
    place = tmp_path_factory.mktemp("small")
    teacher = place / "teacher"
    write_tiny_sentence_model(teacher, hidden=32, heads=2, layers=2, intermediate=40)
    for table in ("position", "token_type"):  # what a text is near to is by its words
        scale(teacher / "model.safetensors", f"embeddings.{table}_embeddings.weight", 0.05)
    rng = random.Random(1)
    texts = [" ".join(rng.choices(WORDS, k=rng.randint(2, 6))) for _ in range(300)]
    (place / "texts.txt").write_text("\n".join(texts) + "\n")
    return place


def scale(path: Path, name: str, factor: float) -> None:
    header, data = read_raw_safetensors(path)
    begin, end = header[name]["data_offsets"]
    values = np.frombuffer(data[begin:end], "<f4") * np.float32(factor)
    write_raw_safetensors(path, header, data[:begin] + values.tobytes() + data[end:])


def train(lesson: Path, out: Path, steps: int, more: str = "") -> subprocess.CompletedProcess[str]:
    settings = "--pieces 60 --layers 1 --width 32 --max-tokens 16 --batch 16 --rate 0.005 --threads 1"
    settings += f" --steps {steps} {more}"
    command = [sys.executable, RECIPE, lesson / "teacher", "--texts", lesson / "texts.txt", "--out", out]
    environment = os.environ | {"HF_HUB_OFFLINE": "1"}
    return subprocess.run([*command, *settings.split()], env=environment, capture_output=True, text=True, check=False)


def embeddings(folder: Path, texts: list[str]) -> np.ndarray:
    checkpoint = pipeline.load(folder)
    program = pipeline.lower(checkpoint, "w8a8", None)
    encodings = text_tokenizer(checkpoint.tokenizer, program.max_tokens).encode_batch(texts)
    return np.array(emulate_texts(program, [Text(e.ids, e.type_ids) for e in encodings]))


def test_what_is_trained_is_near_the_teacher(lesson: Path, tmp_path: Path) -> None:
    done = train(lesson, tmp_path / "out", 200)
    assert done.returncode == 0, done.stderr
    texts = (lesson / "texts.txt").read_text().splitlines()[:60]
    taught, learned = (embeddings(folder, texts) for folder in (lesson / "teacher", tmp_path / "out"))
    assert np.abs(np.linalg.norm(learned, axis=1) - 1).max() < 1e-5
    upper = np.triu_indices(len(texts), 1)
    cosines, wanted = (learned @ learned.T)[upper], (taught @ taught.T)[upper]
    assert np.corrcoef(cosines, wanted)[0, 1] > 0.8


def test_more_steps_go_on(lesson: Path, tmp_path: Path) -> None:
    assert train(lesson, tmp_path / "out", 20).returncode == 0
    (tmp_path / "out").rename(tmp_path / "first")
    done = train(lesson, tmp_path / "out", 30)
    assert done.returncode == 0 and "going on after step 20" in done.stderr, done.stderr
    assert "teacher:" not in done.stderr  # it was asked once


@pytest.mark.parametrize("change", ["teacher", "texts", "cut"])
def test_a_kept_lesson_is_for_what_it_was_asked(change: str, lesson: Path, tmp_path: Path) -> None:
    """As many texts are not the same texts."""
    place, out = tmp_path / "lesson", tmp_path / "out"
    shutil.copytree(lesson, place)
    assert train(place, out, 1).returncode == 0
    kept = (tmp_path / "out.lesson").read_bytes()
    out.rename(tmp_path / "first")
    if change == "teacher":
        scale(place / "teacher" / "model.safetensors", "embeddings.word_embeddings.weight", 2.0)
    if change == "texts":
        texts = (place / "texts.txt").read_text().splitlines()
        (place / "texts.txt").write_text("\n".join(texts[::-1]) + "\n")
    done = train(place, out, 1, "--max-tokens 4" if change == "cut" else "")
    assert done.returncode == 1 and "of another teacher, other texts or another --max-tokens" in done.stderr
    assert (tmp_path / "out.lesson").read_bytes() == kept and not out.exists()


def test_a_lesson_is_kept_whole_or_not_at_all(lesson: Path, tmp_path: Path) -> None:
    """Where it cannot be finished, as in a full folder, nothing under its name is half written."""
    (tmp_path / "out.lesson.new").mkdir()  # what it is written to
    assert train(lesson, tmp_path / "out", 1).returncode != 0
    assert not (tmp_path / "out.lesson").exists()


@pytest.mark.parametrize(("change", "words"), [("few", "texts, a step takes"), ("there", "exists already")])
def test_refusals(change: str, words: str, lesson: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    place = tmp_path / "lesson"
    place.mkdir()
    (place / "teacher").symlink_to(lesson / "teacher")
    (place / "texts.txt").write_text("one text\n" if change == "few" else (lesson / "texts.txt").read_text())
    if change == "there":
        out.mkdir()
    done = train(place, out, 1)
    assert done.returncode == 1 and words in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"pooling": "cls"}, "teacher: it makes its embeddings by cls; expected mean pooling alone"),
        ({"pooling": "max"}, "teacher: it makes its embeddings by max; expected mean pooling alone"),
        ({"hidden": 16}, "--width 32: the teacher is 16 wide"),
        ({"max_positions": 12}, "--max-tokens 16: the encoder takes 12 (max_position_embeddings)"),
        ({"modules": False}, "teacher: no folder of sentence-transformers: modules.json with a pooling is missing"),
    ],
)
def test_teachers_that_are_refused(
    change: dict[str, Any], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for part in ("", "finetune", "small"):
        monkeypatch.syspath_prepend(str(ROOT / "tools" / "train" / part))
    monkeypatch.delitem(sys.modules, "teacher", raising=False)
    import teacher

    monkeypatch.delitem(sys.modules, "teacher")
    has_modules = change.pop("modules", True)
    shape = {"hidden": 32, "max_positions": 16} | change
    write_tiny_sentence_model(tmp_path, **shape)
    if not has_modules:
        (tmp_path / "modules.json").unlink()
    with pytest.raises(SystemExit) as refused:
        teacher.check_teacher(pipeline.load(tmp_path), 32, 16)
    assert str(refused.value) == words
    write_tiny_sentence_model(tmp_path, hidden=32, max_positions=16)
    teacher.check_teacher(pipeline.load(tmp_path), 32, 16)
