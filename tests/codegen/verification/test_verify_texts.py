# SPDX-License-Identifier: Apache-2.0
"""`verify` of generative models, with a stand-in for the built program: right answers, and each thing that may be
wrong."""

from __future__ import annotations

import json
import stat
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen import pipeline
from codegen.emulate.generation import Generation
from codegen.ir.search import Sampling
from codegen.library_tokenizer.spelled import Speller
from codegen.library_tokenizer.wheel_tokenizer import text_tokenizer
from codegen.request import Reading
from codegen.verification.comparison_of_texts import options_of
from codegen.verification.verify import verify

FOLDERS = Path(__file__).parents[1] / "generation"
TEXTS = ["the cat sat", "", "0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 a b c d e f g h i j k l m n o"]

# Answers with prepared lines, like the program of a generated model.
STAND_IN = """#!{python}
import pathlib, sys
folder = pathlib.Path(__file__).parent
assert sys.argv[1] == "--file" and sys.argv[4:] == {options}[sys.argv[3]]
sys.stdout.write((folder / sys.argv[3]).read_text())
"""


class Case:
    """A generated folder whose program answers as the contract says, until a test changes an answer."""

    def __init__(self, family: str, folder: Path, recipe: str = "w8a8", beams: int = 1) -> None:
        self.checkpoint, self.directory = FOLDERS / family / "texts", folder / "model"
        self.directory.mkdir()
        loaded = pipeline.load(self.checkpoint, Reading(beams=beams))
        program = pipeline.lower(loaded, recipe, None)
        assert loaded.target is not None and program.target_rules is not None
        self.beams = beams
        self.file = folder / "texts"
        self.file.write_text("\n".join(TEXTS), encoding="utf-8")
        tokenizer, speller = text_tokenizer(loaded.tokenizer, program.max_tokens), Speller(loaded.target)
        self.tokens: list[dict[str, Any]] = []
        self.answers: list[dict[str, Any]] = []
        for text in TEXTS:
            encoding = tokenizer.encode(text)
            ids = list(program.target_rules.read_first(encoding.ids))
            found = [
                {
                    "text": speller.text(one.tokens, ids),
                    "score": float(one.score),
                    "reason": "end" if one.by_itself else "length",
                }
                for one in Generation(program, ids, [0] * len(ids)).written()
            ]
            others = {"nbest": found} if beams > 1 else {}
            self.answers.append({**found[0], **others, "tokens": len(ids), "truncated": bool(encoding.overflowing)})
            self.tokens.append({"ids": encoding.ids})
        self.manifest = {
            "generator": "0",
            "abi": 1,
            "name": "tiny",
            "task": program.task.name,
            "recipe": recipe,
            "target": "host",
            "checkpoint_sha256": loaded.digest,
            "max_tokens": program.max_tokens,
            **dict.fromkeys(("table_bytes", "arena_bytes", "stack_budget"), 0),
            "beams": beams,
            "max_target": program.target_rules.max_tokens,
            "files": {},
        }
        self.lines: list[str] = []

    def run(self) -> int:
        (self.directory / "etch.json").write_text(json.dumps(self.manifest))
        for form, rows in (("--json", self.answers), ("--tokens", self.tokens)):
            (self.directory / form).write_text("".join(json.dumps(row) + "\n" for row in rows))
        self.lines = []
        return verify(self.directory, self.checkpoint, self.file, self.lines.append, self.stand_in)

    def stand_in(self, directory: Path, echo: Callable[[str], None]) -> Path:
        program = directory / "program"
        options = {"--json": ["--nbest", str(self.beams)] if self.beams > 1 else [], "--tokens": []}
        program.write_text(STAND_IN.format(python=sys.executable, options=options))
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return program

    @property
    def report(self) -> str:
        return "\n".join(self.lines)


@pytest.mark.parametrize(
    ("family", "recipe", "beams"), [("gpt2", "w8a8", 1), ("llama", "fp32", 1), ("gpt2", "w4a8", 3)]
)
def test_right_answers(family: str, recipe: str, beams: int, tmp_path: Path) -> None:
    case = Case(family, tmp_path, recipe, beams)
    assert case.run() == 0, case.report
    search = "greedy" if beams == 1 else f"{beams} beams"
    assert case.lines[0].startswith(f"texts        3, recipe {recipe}, at most ")
    assert case.lines[0].endswith(f"written, {search}")
    assert "contract     0 with a text, score or end other than the contract's, bit for bit" in case.lines
    bound = "within the bound of fp32" if recipe == "fp32" else f"the contract's bits ({recipe} sets no bound"
    assert f"result       {bound}" in case.report
    if recipe == "fp32":
        assert "texts        0 of 3 other than the reference's" in case.lines


def test_what_is_drawn_is_asked_for_greedily(tmp_path: Path) -> None:
    loaded = pipeline.load(FOLDERS / "gpt2" / "texts")
    program = pipeline.lower(loaded, "w8a8", None)
    assert program.target_rules is not None
    drawn = replace(program, target_rules=replace(program.target_rules, sampling=Sampling()))
    assert options_of(drawn) == ("--temperature", "0")
    assert options_of(program) == ()


def one_step_up(answer: dict[str, Any]) -> None:
    answer["score"] = float(np.nextafter(np.float32(answer["score"]), np.float32(np.inf)))


@pytest.mark.parametrize("recipe", ["w8a8", "fp32"])
@pytest.mark.parametrize(
    "change",
    [
        one_step_up,
        lambda answer: answer.update(text=answer["text"] + " "),
        lambda answer: answer.update(reason="capacity"),
    ],
)
def test_a_wrong_answer(change: Callable[[dict[str, Any]], None], recipe: str, tmp_path: Path) -> None:
    case = Case("gpt2", tmp_path, recipe)
    change(case.answers[1])
    assert case.run() == 1
    assert "contract     1 (text 2) with a text, score or end" in case.report
    assert (
        "result       OUTSIDE the bound of fp32"
        if recipe == "fp32"
        else "result       NOT what the contract says: see above"
    ) in case.lines


def test_a_sequence_that_is_not_the_best(tmp_path: Path) -> None:
    case = Case("gpt2", tmp_path, beams=2)
    one_step_up(case.answers[0]["nbest"][1])
    assert case.run() == 1
    assert "contract     1 (text 1) with" in case.report


@pytest.mark.parametrize("key", ["ids", "tokens", "truncated"])
def test_other_tokens(key: str, tmp_path: Path) -> None:
    case = Case("gpt2", tmp_path)
    changed = case.tokens[2] if key == "ids" else case.answers[2]
    changed[key] = {"ids": [1], "tokens": 4, "truncated": not case.answers[2]["truncated"]}[key]
    assert case.run() == 1
    assert "ids          1 (text 3) other than" in case.report


def test_a_line_without_a_score(tmp_path: Path) -> None:
    case = Case("gpt2", tmp_path)
    del case.answers[0]["score"]
    assert case.run() == 1
    assert case.report == "the built program failed: a line without 'score'"


def test_texts_that_float64_writes_otherwise_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case("gpt2", tmp_path)
    monkeypatch.setattr("codegen.oracle.interpret.Interpreter.generate", lambda *_: [5, 6])
    assert case.run() == 0, case.report
    assert "texts        3 of 3 other than the reference's" in case.lines
    assert sum(line.startswith("  text ") and "; here " in line for line in case.lines) == len(TEXTS)
