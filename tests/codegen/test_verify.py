# SPDX-License-Identifier: Apache-2.0
"""`verify` with a stand-in for the built program: what it accepts, what it refuses, what it prints."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_checkpoint import write_tiny_checkpoint

from codegen import pipeline
from codegen.emulate import emulate
from codegen.errors import EtchError
from codegen.golden import golden_texts, text_tokenizer
from codegen.reference import Reference
from codegen.verify import verify

TEXTS = [b"the cat sat on a mat", b"", b"caf\xe9 \xe4\xb8\xad!", b"dogs\tran [SEP] good", b"x y " * 40, b"bad\r"]
MAX_TOKENS = 24

# Answers with prepared lines, like the program of a generated model.
STAND_IN = """#!{python}
import pathlib, sys
folder = pathlib.Path(__file__).parent
assert sys.argv[1] == "--file" and sys.argv[3] in ("--json", "--tokens")
(folder / "texts").write_bytes(pathlib.Path(sys.argv[2]).read_bytes())
sys.stdout.write((folder / sys.argv[3]).read_text())
sys.stderr.write("text cut\\n")
sys.exit(int((folder / "code").read_text()))
"""


class Case:
    """A generated folder whose program answers as the contract says, until a test changes an answer."""

    def __init__(self, folder: Path, recipe: str, texts: list[bytes] | None) -> None:
        self.checkpoint = folder / "checkpoint"
        write_tiny_checkpoint(self.checkpoint, hidden=32, layers=2, seed=5)
        self.directory = folder / "model"
        self.directory.mkdir()
        loaded = pipeline.load(self.checkpoint)
        self.program = pipeline.lower(loaded, recipe, MAX_TOKENS)
        self.manifest: dict[str, Any] = {
            "generator": "0",
            "abi": 1,
            "name": "tiny",
            "recipe": recipe,
            "target": "host",
            "checkpoint_sha256": loaded.digest,
            "max_tokens": MAX_TOKENS,
            "files": {},
        }
        self.file = None if texts is None else folder / "my texts"
        if texts is None:
            texts = [text.encode() for text in golden_texts(self.program, loaded.tokenizer)]
        else:
            self.file.write_bytes(b"\n".join(texts))
        self.texts = texts
        tokenizer = text_tokenizer(loaded.tokenizer, MAX_TOKENS)
        self.encodings = [tokenizer.encode(text.decode("utf-8", "replace")) for text in texts]
        self.logits = [emulate(self.program, e.ids, e.type_ids) for e in self.encodings]
        self.labels: dict[int, str] = {}
        self.ids = [list(e.ids) for e in self.encodings]
        self.code = 0
        self.lines: list[str] = []

    def reference(self, text: int) -> np.ndarray:
        encoding = self.encodings[text]
        return Reference(self.checkpoint).logits(encoding.ids, encoding.type_ids)

    def run(self) -> int:
        (self.directory / "etch.json").write_text(json.dumps(self.manifest))
        answers = [self.answer(i, logits) for i, logits in enumerate(self.logits)]
        (self.directory / "--json").write_text("".join(answers))
        (self.directory / "--tokens").write_text("".join(json.dumps({"ids": ids}) + "\n" for ids in self.ids))
        (self.directory / "code").write_text(str(self.code))
        self.lines = []
        return verify(self.directory, self.checkpoint, self.file, self.lines.append, self.stand_in)

    def answer(self, i: int, logits: np.ndarray) -> str:
        label = self.labels.get(i, self.program.labels[int(np.argmax(logits))])
        numbers = ", ".join("NaN" if np.isnan(value) else f"{value:.9g}" for value in logits)
        truncated = json.dumps(bool(self.encodings[i].overflowing))
        tokens = len(self.encodings[i].ids)
        return f'{{"label": "{label}", "logits": [{numbers}], "tokens": {tokens}, "truncated": {truncated}}}\n'

    def stand_in(self, directory: Path, echo: Callable[[str], None]) -> Path:
        program = directory / "program"
        program.write_text(STAND_IN.format(python=sys.executable))
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return program

    @property
    def report(self) -> str:
        return "\n".join(self.lines)


@pytest.fixture(params=["w8a8", "fp32"])
def recipe(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def case(tmp_path: Path, recipe: str) -> Case:
    return Case(tmp_path, recipe, TEXTS)


@pytest.fixture
def w8a8(tmp_path: Path) -> Case:
    return Case(tmp_path, "w8a8", TEXTS)


@pytest.fixture
def fp32(tmp_path: Path) -> Case:
    return Case(tmp_path, "fp32", TEXTS)


def one_step_up(value: np.float32) -> np.float32:
    return np.nextafter(value, np.float32(np.inf))


def test_right_answers_are_within_the_bound(case: Case, recipe: str) -> None:
    assert case.run() == 0, case.report
    assert (case.directory / "texts").read_bytes() == b"\n".join(TEXTS) + b"\n"
    assert f"within the bound of {recipe}" in case.report
    differences = [np.abs(ours - case.reference(i)) for i, ours in enumerate(case.logits)]
    assert f"max {np.max(differences):.3g}" in case.report
    assert f"mean {np.mean(differences):.3g}" in case.report


def test_without_texts_the_golden_texts_are_taken(tmp_path: Path, recipe: str) -> None:
    case = Case(tmp_path, recipe, None)
    assert case.run() == 0, case.report
    assert (case.directory / "texts").read_bytes() == b"".join(text + b"\n" for text in case.texts)
    assert any(e.overflowing for e in case.encodings)


def test_one_wrong_bit_is_seen_in_an_integer_recipe(w8a8: Case) -> None:
    w8a8.logits[2][1] = one_step_up(w8a8.logits[2][1])
    assert w8a8.run() == 1
    assert "1 texts (number 3) with logits other than the contract's" in w8a8.report
    assert "OUTSIDE the bound" in w8a8.report


def test_one_wrong_bit_is_within_the_bound_of_floats(fp32: Case) -> None:
    fp32.logits[2][1] = one_step_up(fp32.logits[2][1])
    assert fp32.run() == 0, fp32.report


def test_a_difference_above_the_bound(fp32: Case) -> None:
    fp32.logits[0][:] = fp32.reference(0) + 0.9e-4
    assert fp32.run() == 0, fp32.report
    fp32.logits[0][:] = fp32.reference(0) + 1.1e-4
    assert fp32.run() == 1
    assert "max 0.00011 (bound 0.0001)" in fp32.report


def test_changed_labels_are_listed_with_the_references_top_two(fp32: Case) -> None:
    exact = fp32.reference(3)
    second, first = np.argsort(exact)[-2:]
    fp32.logits[3][[first, second]] = fp32.logits[3][[second, first]]
    assert fp32.run() == 1
    names = fp32.program.labels
    assert "labels       1 of 6 other than the reference's" in fp32.report
    assert (
        f"  text 4: reference {names[first]} {exact[first]:.6f}, {names[second]} {exact[second]:.6f}; "
        f"here {names[second]} {fp32.logits[3][second]:.6f}"
    ) in fp32.lines


def test_other_ids_are_counted(case: Case) -> None:
    case.ids[1].append(3)
    assert case.run() == 1
    assert "ids          1 texts (number 2) other than" in case.report


def test_a_label_that_is_not_the_largest_logits(case: Case) -> None:
    case.labels[0] = case.program.labels[int(np.argmin(case.logits[0]))]
    assert case.run() == 1
    assert "1 texts (number 1) with a label that is not" in case.report


def test_a_program_that_fails(case: Case) -> None:
    case.code = 3
    assert case.run() == 1
    assert case.report == "the built program failed: program --json: exit code 3: text cut"


def test_a_program_that_answers_too_little(case: Case) -> None:
    case.logits.pop()
    assert case.run() == 1
    assert case.report == "the built program failed: program --json: 5 lines for 6 texts"


def test_not_a_number_is_outside_every_bound(case: Case) -> None:
    case.logits[0][0] = np.nan
    assert case.run() == 1
    assert "max nan" in case.report


def refusal(case: Case) -> EtchError:
    with pytest.raises(EtchError) as caught:
        case.run()
    assert caught.value.stage == "verify"
    return caught.value


def test_another_checkpoint_is_refused(case: Case) -> None:
    write_tiny_checkpoint(case.checkpoint, hidden=32, layers=2, seed=6)
    assert refusal(case).code == "other-checkpoint"


def test_a_folder_that_etch_did_not_write_is_refused(case: Case, tmp_path: Path) -> None:
    del case.manifest["recipe"]
    assert refusal(case).code == "not-generated"
    case.directory = tmp_path
    with pytest.raises(EtchError, match="not a folder that etch generated"):
        verify(tmp_path, case.checkpoint, None, print, case.stand_in)


def test_an_unknown_recipe_is_refused(case: Case) -> None:
    case.manifest["recipe"] = "w3a3"
    assert refusal(case).code == "unknown-recipe"


@pytest.mark.parametrize(("content", "code"), [(None, "texts-unreadable"), (b"", "no-texts")])
def test_a_texts_file_without_texts_is_refused(case: Case, content: bytes | None, code: str) -> None:
    assert case.file is not None
    case.file.unlink()
    if content is not None:
        case.file.write_bytes(content)
    assert refusal(case).code == code


def test_one_empty_line_is_one_empty_text(tmp_path: Path, recipe: str) -> None:
    case = Case(tmp_path, recipe, [b"", b""])  # joined: a single line feed
    case.logits, case.ids = case.logits[:1], case.ids[:1]
    assert case.run() == 0, case.report
    assert (case.directory / "texts").read_bytes() == b"\n"


def test_a_program_that_is_not_there(case: Case) -> None:
    case.stand_in = lambda directory, echo: directory / "none"
    assert case.run() == 1
    assert case.report == f"the built program failed: none: {os.strerror(2)}"
