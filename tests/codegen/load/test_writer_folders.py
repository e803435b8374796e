# SPDX-License-Identifier: Apache-2.0
"""Folders of tokenizers of models that write, as transformers 5.23 reads them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from codegen.errors import EtchError
from codegen.frontends import family_of
from codegen.ir.normalizer_spec import NormalFormNormalizer
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


DIGITS = {"type": "Digits", "individual_digits": True}
LLAMA_3 = json.loads((RECORDED / "llama" / "texts" / JSON).read_text(encoding="utf-8"))["pre_tokenizer"]


def described(place: Path, pre_tokenizer: dict[str, object], **config: object) -> CheckpointFolder:
    """Phi's files with another pre-tokenizer."""
    own = RECORDED / "phi" / "texts"
    values = json.loads((own / JSON).read_text(encoding="utf-8")) | {"pre_tokenizer": pre_tokenizer}
    (place / JSON).write_text(json.dumps(values), encoding="utf-8")
    settings = json.loads((own / CONFIG).read_text(encoding="utf-8")) | config
    (place / CONFIG).write_text(json.dumps(settings), encoding="utf-8")
    return CheckpointFolder(place)


def of_bytes(prefix: bool = False) -> dict[str, object]:
    return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": True}


@pytest.mark.parametrize("name", ["GPT2Tokenizer", "CodeGenTokenizer", "GPT2TokenizerFast"])
def test_digits_that_gpt2s_class_does_not_part(name: str, tmp_path: Path) -> None:
    """As SmolLM2's and StarCoder2's files do, of which version 4 made what they say, and 5 does not."""
    both = {"type": "Sequence", "pretokenizers": [DIGITS, of_bytes()]}
    spec = load_tokenizer(described(tmp_path, both, tokenizer_class=name), 1000, None, "TokenizersBackend")
    assert spec.notes[0] == "GPT2Tokenizer of transformers has another pre_tokenizer: tokenizer.json counts"
    library = Tokenizer.from_file(str(tmp_path / JSON))
    for text in ("x 10 100and the10", "10", " 10"):
        assert wheel_tokenizer(spec).encode(text).ids == library.encode(text).ids


@pytest.mark.parametrize("front", [[], [DIGITS]])
def test_a_space_before_texts_is_the_classs(front: list[object], tmp_path: Path) -> None:
    """As settings say: version 4 put it there, too."""
    steps = {"type": "Sequence", "pretokenizers": [*front, of_bytes()]}
    folder = described(tmp_path, steps, tokenizer_class="GPT2Tokenizer", add_prefix_space=True)
    with pytest.raises(EtchError, match="another pre_tokenizer") as caught:
        load_tokenizer(folder, 1000, None, "GPT2Tokenizer")
    assert caught.value.code == "tokenizer-conflict"


@pytest.mark.parametrize("name", ["GPT2Tokenizer", "LlamaTokenizerFast", "PreTrainedTokenizerFast", None])
@pytest.mark.parametrize("family", ["granite", "granitemoe", "granitemoehybrid", "olmo2", "olmo3", "phi3", "stablelm"])
def test_families_whose_class_is_never_asked_for(family: str, name: str | None, tmp_path: Path) -> None:
    """tokenizer.json as it is, as Phi 4's, OLMo 2's and Granite's folders need it, which name GPT2Tokenizer."""
    usual = family_of(family).tokenizer_class
    spec = load_tokenizer(described(tmp_path, LLAMA_3, tokenizer_class=name), 1000, None, usual)
    assert not any("of transformers" in note for note in spec.notes)
    library = Tokenizer.from_file(str(tmp_path / JSON))
    for text in ("it's 1000 and\n the", "THE's  cat"):
        assert wheel_tokenizer(spec).encode(text).ids == library.encode(text).ids
