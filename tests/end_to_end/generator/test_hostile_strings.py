# SPDX-License-Identifier: Apache-2.0
"""Strings of a checkpoint that would be code, comments or templates elsewhere: what they make compiles, and the program
gives them back byte for byte. That they change nothing but literals and arrays is in codegen/render/test_render.py."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from classify_program import Program
from folder_content import content
from generator_program import etch
from hostile import HOSTILE
from model_build import build_program, without_symbols
from tiny_checkpoint import (
    DEFAULT_VOCAB,
    bert_shapes,
    random_tensors,
    read_raw_safetensors,
    write_json,
    write_raw_safetensors,
    write_safetensors,
    write_tiny_checkpoint,
)
from tokenizers import Tokenizer

from codegen import cli, pipeline
from codegen.errors import EtchError
from codegen.tokenizer import compile_tokenizer

STRINGS = [text for text in dict.fromkeys(HOSTILE) if text != "\ud800"]  # JSON refuses half a character
SHORT = [text for text in STRINGS if len(text) < 1000]
HIDDEN, LABELS = 10, len(STRINGS)


def edit_json(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    values = json.loads(path.read_text(encoding="utf-8"))
    change(values)
    write_json(path, values)


def pieces_taken(folder: Path) -> list[str]:
    """The strings that the loader takes as a piece of the vocabulary."""
    taken = []
    for text in STRINGS:
        try:
            write_tiny_checkpoint(folder, vocab=(*DEFAULT_VOCAB, text))
            compile_tokenizer(pipeline.load(folder).tokenizer)
            taken.append(text)
        except EtchError:
            continue
    return [text for text in taken if text not in DEFAULT_VOCAB]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Program]:
    """A checkpoint of nothing but hostile strings, built in a folder with spaces and other alphabets in its name.

    Every label holds for every text, so that one answer names them all.
    """
    place = tmp_path_factory.mktemp("hostile") / "a place with  spaces" / "caf\u00e9 \u4e2d\u56fd \U0001f600"
    model = place / "model"
    vocab = (*DEFAULT_VOCAB, *pieces_taken(place / "one"))
    write_tiny_checkpoint(model, labels=LABELS, vocab=vocab)
    shape = {"hidden": HIDDEN, "layers": 1, "intermediate": 37, "max_positions": 32, "type_vocab": 2}
    tensors = random_tensors(bert_shapes(**shape, labels=LABELS, vocab_size=len(vocab)))
    tensors["classifier.weight"][:] = 0
    tensors["classifier.bias"][:] = np.arange(1, LABELS + 1)
    write_safetensors(model / "model.safetensors", tensors, metadata={text: text for text in SHORT})

    def rename(config: dict[str, Any]) -> None:
        config["id2label"] = {str(i): text for i, text in enumerate(STRINGS)}
        config["label2id"] = {text: i for i, text in enumerate(STRINGS)}
        config["problem_type"] = "multi_label_classification"
        config["architectures"] += SHORT
        config.update({f"extra {i}": text for i, text in enumerate(SHORT)})
        config.update(dict.fromkeys(("_name_or_path", "transformers_version", "finetuning_task"), '*/ " {{ x }}\n??/'))

    edit_json(model / "config.json", rename)
    edit_json(model / "tokenizer_config.json", lambda c: c.update(name_or_path='"; #include <x>'))
    outcome = etch("generate", model, "--out", place / "out", "--name", "hostile")
    assert (outcome.code, outcome.err) == (0, ""), outcome.err
    return place, build_program(place / "out")


@pytest.mark.sweep
@pytest.mark.long_case("CMake in a hostile folder")
@pytest.mark.skipif(shutil.which("cmake") is None, reason="no cmake")
def test_cmake_builds_in_such_a_folder(hostile: tuple[Path, Program], tmp_path: Path) -> None:
    """The same program as without CMake."""
    place, program = hostile
    outcome = etch("generate", place / "model", "--out", place / "by CMake", "--name", "hostile", "--build")
    assert (outcome.code, outcome.err) == (0, ""), outcome.err
    by_cmake = without_symbols(place / "by CMake/build/bin/classify-hostile", tmp_path / "by CMake")
    assert by_cmake == without_symbols(program.path, tmp_path / "without")


def test_labels_come_back_byte_for_byte(hostile: tuple[Path, Program]) -> None:
    (answer,) = hostile[1].well("--json", "the cat").objects
    assert len(STRINGS) >= 40
    assert answer["labels"] == STRINGS


def test_pieces_come_back_byte_for_byte(hostile: tuple[Path, Program]) -> None:
    """Where the text finds them, as the `tokenizers` library says."""
    place, program = hostile
    checkpoint = pipeline.load(place / "model")
    oracle = Tokenizer.from_str(checkpoint.tokenizer.json)
    texts = [text for text in SHORT if "\0" not in text and not text.startswith("-")]
    seen = set()
    for text, found in zip(texts, program.well("--tokens", *texts).objects, strict=True):
        expected = oracle.encode(text).ids[: len(found["ids"]) - 1]
        assert found["ids"][:-1] == expected
        assert found["pieces"] == [oracle.id_to_token(token) for token in found["ids"]]
        seen.update(found["pieces"])
    assert len(seen & set(SHORT)) >= 5  # most are not one word
    assert program.well("--self-test").code == 0


def test_generated_text_is_plain(hostile: tuple[Path, Program]) -> None:
    for path in (hostile[0] / "out").iterdir():
        if path.is_file() and path.suffix != ".tables":
            text = path.read_bytes().decode("ascii")
            assert all(c.isprintable() or c == "\n" for c in text), path.name


# --- strings that can only be refused ----------------------------------------------------------------------------


def name_of_a_tensor(folder: Path, text: str) -> None:
    header, data = read_raw_safetensors(folder / "model.safetensors")
    header[text] = {"dtype": "F32", "shape": [1], "data_offsets": [len(data), len(data) + 4]}
    write_raw_safetensors(folder / "model.safetensors", header, data + bytes(4))


def in_config(key: str) -> Callable[[Path, str], None]:
    return lambda folder, text: edit_json(folder / "config.json", lambda values: values.update({key: text}))


def in_tokenizer(part: str, key: str) -> Callable[[Path, str], None]:
    return lambda folder, text: edit_json(folder / "tokenizer.json", lambda values: values[part].update({key: text}))


def in_modules(folder: Path, text: str) -> None:
    write_json(folder / "modules.json", [{"idx": 0, "name": text, "path": text, "type": text}])


def in_an_index(folder: Path, text: str) -> None:
    (folder / "model.safetensors").unlink()
    write_json(folder / "model.safetensors.index.json", {"weight_map": {text: text}})


PLACES: dict[str, Callable[[Path, str], None]] = {
    "tensor": name_of_a_tensor,
    "model type": in_config("model_type"),
    "activation": in_config("hidden_act"),
    "problem type": in_config("problem_type"),
    "architecture": lambda folder, text: in_config("architectures")(folder, [text]),  # type: ignore[arg-type]
    "normalizer": in_tokenizer("normalizer", "type"),
    "unknown token": in_tokenizer("model", "unk_token"),
    "module": in_modules,
    "shard": in_an_index,
}


@pytest.mark.parametrize("place", PLACES)
def test_refused_in_one_printable_line(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, text in enumerate(STRINGS):
        folder = tmp_path / str(number)
        write_tiny_checkpoint(folder / "model")
        PLACES[place](folder / "model", text)
        before = content(folder)
        assert cli.main(["generate", str(folder / "model"), "--out", str(folder / "out")]) == 1
        printed = capsys.readouterr()
        assert printed.err.startswith("etch: error["), text
        assert "internal" not in printed.err
        assert printed.err.endswith("\n")
        assert printed.err[:-1].isprintable()
        assert len(printed.err) < 2100
        assert content(folder) == before
