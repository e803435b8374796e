# SPDX-License-Identifier: Apache-2.0
"""Folders of tokenizers of models that write, as transformers 5.23 reads them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from codegen.errors import EtchError
from codegen.ir.tokenizer_spec import NormalFormNormalizer
from codegen.library_tokenizer.wheel_tokenizer import wheel_tokenizer
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.tokenizer import load_tokenizer

RECORDED = Path(__file__).resolve().parents[1] / "generation"
NEOX = RECORDED / "gpt_neox" / "texts"
CONFIG, JSON = "tokenizer_config.json", "tokenizer.json"


@pytest.mark.parametrize(
    ("family", "usual", "has_form"), [("gpt_neox", "GPTNeoXTokenizer", True), ("phi", "GPT2Tokenizer", False)]
)
@pytest.mark.parametrize("without_json", [False, True])
def test_ids_are_the_recorded_ones(family: str, usual: str, has_form: bool, without_json: bool, tmp_path: Path) -> None:
    """Whatever the family's class, the folder's counts."""
    own = RECORDED / family / "texts"
    for name in (CONFIG, JSON):
        shutil.copy(own / name, tmp_path / name)
    if without_json:
        model = json.loads((tmp_path / JSON).read_text(encoding="utf-8"))["model"]
        (tmp_path / "vocab.json").write_text(json.dumps(model["vocab"]), encoding="utf-8")
        lines = ["#version: 0.2", *(" ".join(pair) for pair in model["merges"]), ""]
        (tmp_path / "merges.txt").write_text("\n".join(lines), encoding="utf-8")
        (tmp_path / JSON).unlink()
    spec = load_tokenizer(CheckpointFolder(tmp_path), 1000, None, usual)
    assert (spec.normalizer == NormalFormNormalizer("NFC")) == has_form
    for text in json.loads((own / "texts.json").read_text(encoding="utf-8")):
        assert wheel_tokenizer(spec).encode(text["prompt"]).ids[: len(text["ids"])] == text["ids"]


@pytest.mark.parametrize("changes", [{}, {"add_bos_token": None}, {"add_bos_token": False, "add_eos_token": True}])
def test_ends_that_are_asked_for(changes: dict[str, object], tmp_path: Path) -> None:
    """As OPT's files do, which have no tokenizer.json."""
    own = RECORDED / "opt" / "texts"
    for name in ("vocab.json", "merges.txt"):
        shutil.copy(own / name, tmp_path / name)
    config = json.loads((own / CONFIG).read_text(encoding="utf-8")) | changes
    (tmp_path / CONFIG).write_text(json.dumps(config), encoding="utf-8")
    spec = load_tokenizer(CheckpointFolder(tmp_path), 1000, None, "GPT2Tokenizer")
    end = [2] if config.get("add_eos_token") else []
    for text in json.loads((own / "texts.json").read_text(encoding="utf-8")):
        ids = text["ids"] if config["add_bos_token"] else text["ids"][1:]
        found = wheel_tokenizer(spec).encode(text["prompt"]).ids
        assert found[: len(ids)] == ids
        assert found[len(found) - len(end) :] == end


def test_another_normalizer_than_the_classs(tmp_path: Path) -> None:
    """The class has NFC whatever the file says."""
    shutil.copy(NEOX / CONFIG, tmp_path / CONFIG)
    described = json.loads((NEOX / JSON).read_text(encoding="utf-8"))
    (tmp_path / JSON).write_text(json.dumps(described | {"normalizer": None}), encoding="utf-8")
    with pytest.raises(EtchError) as caught:
        load_tokenizer(CheckpointFolder(tmp_path), 1000, None, "GPTNeoXTokenizer")
    assert caught.value.code == "tokenizer-conflict"
