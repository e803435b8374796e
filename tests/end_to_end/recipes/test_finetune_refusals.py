# SPDX-License-Identifier: Apache-2.0
"""tools/train/finetune on input that cannot be trained on: one line, nothing written. Needs no PyTorch."""

from __future__ import annotations

import gzip
import importlib.util
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from finetune_recipe import finetune, labelled, sentences, write_csv
from folder_content import content
from sampling import one_in
from tiny_checkpoint import read_raw_safetensors, write_raw_safetensors, write_tiny_checkpoint


@dataclass(frozen=True)
class Place:
    """A good checkpoint and a good table; a case breaks one thing."""

    folder: Path

    @property
    def checkpoint(self) -> Path:
        return self.folder / "checkpoint"

    @property
    def table(self) -> Path:
        return self.folder / "train.csv"

    def arguments(self, *more: str | Path) -> list[str | Path]:
        out = self.folder / "out"
        good = [
            self.checkpoint,
            "--train",
            self.table,
            "--text-columns",
            "text",
            "--label-column",
            "label",
            "--out",
            out,
        ]
        return [*good, *more]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    write_tiny_checkpoint(made.checkpoint)
    write_csv(made.table, labelled())
    return made


def refusal(place: Place, *arguments: str | Path, code: int = 1) -> str:
    """The message of a run that must fail and leave everything as it was."""
    before = content(place.folder)
    outcome = finetune(*(arguments or place.arguments()))
    assert outcome.code == code, (outcome.code, outcome.err)
    assert outcome.out == b""
    assert outcome.err.startswith("finetune: "), outcome.err
    assert outcome.err.endswith("\n"), outcome.err
    assert outcome.err.count("\n") == 1, outcome.err
    assert content(place.folder) == before
    return outcome.err.removeprefix("finetune: ")


Break = Callable[[Path], object]


def changed(line: int, row: tuple[str, ...]) -> Break:
    """A table whose row at `line` is another one."""

    def apply(path: Path) -> None:
        rows: list[tuple[str, ...]] = list(labelled())
        rows[line - 1] = row
        write_csv(path, rows)

    return apply


TABLES: dict[str, tuple[Break, str]] = {
    "missing file": (Path.unlink, "train.csv: No such file"),
    "empty file": (lambda path: path.write_bytes(b""), "train.csv: no rows"),
    "header only": (lambda path: write_csv(path, [("text", "label")]), "train.csv: no rows below the header"),
    "no text column": (changed(1, ("words", "label")), "no column is named 'text'"),
    "no label column": (changed(1, ("text", "class")), "no column is named 'label'"),
    "column named twice": (lambda path: write_csv(path, [("text", "label", "label")]), "two columns are named 'label'"),
    "ragged row": (changed(7, ("a cat", "yes", "x")), "line 7: 3 columns, the first row has 2"),
    "empty text": (changed(8, (" ", "yes")), "line 8: column 1 holds no text"),
    "empty label": (changed(9, ("a cat", "")), "line 9: an empty label"),
    "one class": (
        lambda path: write_csv(path, [("text", "label"), *((text, "yes") for text, _ in sentences(60))]),
        "there is one label only, 'yes'",
    ),
    "too many classes": (
        lambda path: write_csv(path, [("text", "label"), *(("a cat", str(i)) for i in range(1001))]),
        "1001 labels, at most 1000",
    ),
    "too few rows": (lambda path: write_csv(path, labelled(2)), "2 rows are too few to hold out"),
    "not UTF-8": (lambda path: path.write_bytes(b"text,label\na cat,yes\na \xff,no\n"), "line 3: not UTF-8"),
    "open quote": (lambda path: path.write_bytes(b'text,label\na cat,yes\n"a,no\n'), "line 3: a quote is opened"),
    "a folder": (lambda path: (path.unlink(), path.mkdir()), "train.csv: Is a directory"),
}


@pytest.mark.parametrize("case", one_in(3, TABLES))
def test_bad_table(place: Place, case: str) -> None:
    spoil, message = TABLES[case]
    spoil(place.table)
    assert message in refusal(place)


@pytest.mark.parametrize("value", ["high", "", "nan", "inf", "1e999"])
def test_not_a_number(place: Place, value: str) -> None:
    write_csv(place.table, [("text", "label"), ("a cat", "1"), ("a dog", value)])
    assert f"train.csv: line 3: '{value}' is not a number" in refusal(place, *place.arguments("--task", "regression"))


def test_numbers_all_equal(place: Place) -> None:
    write_csv(place.table, [("text", "label"), ("a cat", "1"), ("a dog", "1.0")])
    assert "every row has the value 1" in refusal(place, *place.arguments("--task", "regression"))


def test_broken_gzip(place: Place) -> None:
    packed = place.folder / "train.csv.gz"
    for raw in (b"text,label\n", gzip.compress(place.table.read_bytes())[:-9]):
        packed.write_bytes(raw)
        assert "train.csv.gz: this is not what gzip writes" in refusal(place, *place.arguments("--train", packed))


def test_packed_table_is_read(place: Place) -> None:
    packed = place.folder / "train.csv.gz"
    packed.write_bytes(gzip.compress(write_csv(place.table, labelled(2)).read_bytes()))
    assert "2 rows are too few to hold out" in refusal(place, *place.arguments("--train", packed))


def test_other_format(place: Place) -> None:
    other = place.folder / "train.json"
    other.write_text("{}")
    assert "expected a file named .csv" in refusal(place, *place.arguments("--train", other))


@pytest.mark.parametrize("option", ["--validation", "--test"])
def test_unknown_label_of_other_rows(place: Place, option: str) -> None:
    other = write_csv(place.folder / "other.csv", [("text", "label"), ("a cat", "perhaps")])
    message = refusal(place, *place.arguments(option, other))
    assert message == "other.csv: line 2: label 'perhaps' does not occur in the training rows\n"


def test_label_is_no_text_column(place: Place) -> None:
    assert "must be different columns" in refusal(place, *place.arguments("--text-columns", "text,label"))


def test_column_number_out_of_range(place: Place) -> None:
    message = refusal(place, *place.arguments("--text-columns", "3"))
    assert message == "train.csv: there is no column 3, the file has 2\n"


def without(name: str) -> Break:
    return lambda folder: (folder / name).unlink()


def with_config(**values: object) -> Break:
    def apply(folder: Path) -> None:
        path = folder / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | values))

    return apply


def without_tensor(folder: Path) -> None:
    header, data = read_raw_safetensors(folder / "model.safetensors")
    header["bert.embeddings.other.weight"] = header.pop("bert.embeddings.word_embeddings.weight")
    write_raw_safetensors(folder / "model.safetensors", header, data)


CHECKPOINTS: dict[str, tuple[Break, str]] = {
    "no folder": (shutil.rmtree, "not-a-folder"),
    "no config": (without("config.json"), "config-file-missing"),
    "broken config": (lambda folder: (folder / "config.json").write_text("{"), "error[json"),
    "other family": (with_config(model_type="reformer"), "model type 'reformer'"),
    "decoder": (with_config(is_decoder=True), "decoder-not-supported"),
    "wrong width": (with_config(hidden_size=12), "wrong-shape"),
    "layers missing": (with_config(num_hidden_layers=2), "missing-tensor"),
    "no weights": (without("model.safetensors"), "weights-missing"),
    "cut weights": (
        lambda folder: (folder / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:-9]),
        "safetensors-data-truncated",
    ),
    "tensor missing": (without_tensor, "missing-tensor"),
    "no tokenizer": (without("tokenizer.json"), "tokenizer-missing"),
}


@pytest.mark.parametrize("case", one_in(3, CHECKPOINTS))
def test_bad_checkpoint(place: Place, case: str) -> None:
    spoil, message = CHECKPOINTS[case]
    spoil(place.checkpoint)
    assert message in refusal(place)


def test_more_tokens_than_positions(place: Place) -> None:
    assert "max-tokens-out-of-range" in refusal(place, *place.arguments("--max-tokens", "33"))


def test_pairs_need_two_segments(place: Place) -> None:
    write_tiny_checkpoint(place.checkpoint, type_vocab=1)
    write_csv(place.table, [("a", "b", "label"), ("a cat", "a dog", "1"), ("a cat", "a cat", "0")])
    message = refusal(place, *place.arguments("--pairs", "--text-columns", "a,b"))
    assert "one segment only" in message


@pytest.mark.parametrize("what", ["file", "folder", "dangling link"])
def test_out_is_taken(place: Place, what: str) -> None:
    out = place.folder / "out"
    if what == "file":
        out.write_text("mine")
    elif what == "folder":
        out.mkdir()
    else:
        out.symlink_to("nowhere")
    assert "--out out: exists already" in refusal(place)


def test_folder_of_out_is_missing(place: Place) -> None:
    message = refusal(place, *place.arguments("--out", place.folder / "none" / "out"))
    assert "--out out: its folder cannot be written: No such file" in message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--pairs",), "--pairs needs two text columns"),
        (("--no-header",), "--no-header: column 'text' is not a number"),
        (("--epochs", "0"), "argument --epochs: expected a number from 1 to 1000, got '0'"),
        (("--rate", "nan"), "argument --rate: expected a number"),
        (("--held-out", "0.9"), "argument --held-out: expected a number"),
        (("--task", "ranking"), "argument --task: invalid choice"),
        (("--freeze", "half"), "argument --freeze: invalid choice"),
        (("--colour",), "unrecognized arguments: --colour"),
    ],
)
def test_wrong_use(place: Place, arguments: tuple[str, ...], message: str) -> None:
    assert message in refusal(place, *place.arguments(*arguments), code=2)


@pytest.mark.skipif(importlib.util.find_spec("torch") is not None, reason="PyTorch is installed")
def test_without_pytorch(place: Place) -> None:
    assert "install tools/train/requirements.txt" in refusal(place)
