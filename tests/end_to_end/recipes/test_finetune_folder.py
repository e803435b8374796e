# SPDX-License-Identifier: Apache-2.0
"""tools/train/finetune/folder.py: what of a checkpoint's files goes with an encoder that was trained. Needs no
PyTorch."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from classify_program import ROOT
from fairseq_files import learned, random_words, write_folder

from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.tokenizer import load_tokenizer

TRAIN = ROOT / "tools" / "train"


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(TRAIN))
    monkeypatch.syspath_prepend(str(TRAIN / "finetune"))
    import folder

    return folder


def test_a_tokenizer_that_is_no_json_is_copied(folder: Any, tmp_path: Path) -> None:
    """As PhoBERT's, of a dictionary and codes."""
    source, made = tmp_path / "source", tmp_path / "made"
    source.mkdir()
    made.mkdir()
    random_source = random.Random(2)
    words = random_words(random_source)
    pairs, pieces = learned(random_source, words, 60)
    write_folder(source, pairs, pieces)
    folder.write_tokenizer(made, CheckpointFolder(source), 20)
    assert load_tokenizer(CheckpointFolder(made), 1000) == load_tokenizer(CheckpointFolder(source), 1000)


def test_models_of_sentencepiece_and_terms_are_copied_and_what_speaks_of_the_model_is_not(
    folder: Any, tmp_path: Path
) -> None:
    source, made = tmp_path / "source", tmp_path / "made"
    source.mkdir()
    made.mkdir()
    copied = {"sentencepiece.bpe.model", "spiece.model", "spm.model", "tokenizer.model", "vocab.json", "LICENSE"}
    others = {"config.json", "modules.json", "sentence_bert_config.json", "README.md", "head.json"}
    weights = {"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin"}
    for name in copied | others | weights:
        (source / name).write_text("{}")
    (source / "1_Pooling.json").mkdir()
    folder.write_tokenizer(made, CheckpointFolder(source), 20)
    assert {path.name for path in made.iterdir()} == copied | {"tokenizer_config.json"}
    assert json.loads((made / "tokenizer_config.json").read_text()) == {"model_max_length": 20}


def test_a_place_that_cannot_be_written_is_refused_before_anything_is_trained(folder: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "taken").mkdir()
    for place, why in (("nowhere/out", "No such file or directory"), ("file/out", "Not a directory")):
        with pytest.raises(SystemExit) as refused:
            folder.check_free(tmp_path / place)
        assert str(refused.value) == f"--out out: its folder cannot be written: {why}"
        with pytest.raises(SystemExit) as refused:
            folder.state_file(tmp_path / place, tmp_path / "out")
        assert str(refused.value) == f"--state out: its folder cannot be written: {why}"
    with pytest.raises(SystemExit, match="--state taken: is a folder"):
        folder.state_file(tmp_path / "taken", tmp_path / "out")
    folder.check_free(tmp_path / "out")
    assert folder.state_file(None, tmp_path / "out") == tmp_path / "out.state"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "taken"]
