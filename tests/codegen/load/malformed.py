# SPDX-License-Identifier: Apache-2.0
"""One entry of the malformed-checkpoint corpus: a valid tiny folder, one change, and the refusal it must meet."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tiny_checkpoint import bert_shapes, read_raw_safetensors, write_raw_safetensors, write_tiny_checkpoint

from codegen.errors import EtchError, printable
from codegen.load.checkpoint import Checkpoint
from codegen.load.folder import load_checkpoint

WEIGHTS = "model.safetensors"
CONFIG = "config.json"
TOKENIZER = "tokenizer.json"
TOKENIZER_CONFIG = "tokenizer_config.json"
SENTENCE = "sentence_bert_config.json"
VOCAB = "vocab.txt"
MAX_SECONDS = 10.0


@dataclass(frozen=True)
class Case:
    """`change` spoils the folder; the refusal must have this code, file, tensor and stage, and these words in it."""

    name: str
    change: Callable[[Path], object]
    code: str
    file: str | None
    tensor: str | None = None
    words: str = ""
    stage: str = "load"

    @property
    def message(self) -> str:
        """How the line on stderr begins, without the program's name."""
        file = "" if self.file is None else f"{printable(self.file)}: "
        tensor = "" if self.tensor is None else f"tensor '{printable(self.tensor)}': "
        return f"error[{self.code}] {self.stage}: {file}{tensor}"


def parametrize(cases: Iterable[Case]) -> pytest.MarkDecorator:
    """One test a case, named after it."""
    return pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in cases])


def check_refused(case: Case, folder: Path) -> EtchError:
    """Write a tiny checkpoint, spoil it, and see that it is refused as the case says."""
    write_tiny_checkpoint(folder)
    load_and_take(folder)
    case.change(folder)
    start = time.process_time()
    with pytest.raises(EtchError) as caught:
        load_and_take(folder)
    assert time.process_time() - start < MAX_SECONDS
    error = caught.value
    assert (error.code, error.stage, error.file, error.tensor) == (case.code, "load", case.file, case.tensor)
    assert case.words in str(error)
    assert str(error).isprintable()
    assert (str(folder) in str(error)) == (
        case.code in ("pickle-refused", "not-a-checkpoint", "adapter-not-supported", "not-a-folder")
    )  # a command for the shell, or what the command line says
    return error


def load_and_take(folder: Path) -> Checkpoint:
    """Load, then take every tensor as a front-end does."""
    checkpoint = load_checkpoint(folder)
    config = checkpoint.config
    shapes = bert_shapes(
        hidden=config.positive_int("hidden_size"),
        layers=config.positive_int("num_hidden_layers", maximum=1000),
        intermediate=config.positive_int("intermediate_size"),
        labels=len(config.labels()),
        max_positions=config.positive_int("max_position_embeddings"),
        type_vocab=config.positive_int("type_vocab_size"),
        vocab_size=config.positive_int("vocab_size"),
    )
    for name, shape in shapes.items():
        legacy = None
        if "LayerNorm" in name:
            legacy = name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")
        checkpoint.tensors.take(name, shape, legacy=legacy)
    checkpoint.tensors.ignore("bert.embeddings.position_ids")
    checkpoint.tensors.finish()
    return checkpoint


def edit(name: str, change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    """A change to the parsed form of a JSON file."""

    def apply(folder: Path) -> None:
        values = json.loads((folder / name).read_text(encoding="utf-8"))
        change(values)
        (folder / name).write_text(json.dumps(values), encoding="utf-8")

    return apply


def put(name: str, **values: object) -> Callable[[Path], None]:
    """Set keys at the top of a JSON file, made anew where there is none."""

    def apply(folder: Path) -> None:
        path = folder / name
        old = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        path.write_text(json.dumps({**old, **values}), encoding="utf-8")

    return apply


def drop(name: str, key: str) -> Callable[[Path], None]:
    """Remove a key at the top of a JSON file."""
    return edit(name, lambda values: values.pop(key))


def raw(name: str, content: bytes) -> Callable[[Path], None]:
    """Replace a whole file."""
    return lambda folder: (folder / name).write_bytes(content)


def remove(*names: str) -> Callable[[Path], None]:
    """Delete files."""
    return lambda folder: [(folder / name).unlink() for name in names]


def both(*changes: Callable[[Path], object]) -> Callable[[Path], None]:
    """Several changes, in order."""
    return lambda folder: [change(folder) for change in changes] and None


def cased(folder: Path) -> None:
    """A tokenizer that does not lower-case."""
    edit(TOKENIZER, lambda values: values["normalizer"].update(lowercase=False))(folder)
    put(TOKENIZER_CONFIG, do_lower_case=False)(folder)


def edit_header(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    """A change to the parsed header of the weights; the data stay."""

    def apply(folder: Path) -> None:
        header, data = read_raw_safetensors(folder / WEIGHTS)
        change(header)
        write_raw_safetensors(folder / WEIGHTS, header, data)

    return apply


def edit_header_text(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    """A change to the text of the header of the weights; the data stay."""

    def apply(folder: Path) -> None:
        header, data = read_raw_safetensors(folder / WEIGHTS)
        write_raw_safetensors(folder / WEIGHTS, change(json.dumps(header, separators=(",", ":")).encode()), data)

    return apply
