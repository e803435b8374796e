# SPDX-License-Identifier: Apache-2.0
"""How a budget's forms are judged, over a space that is made up: on how many rows, by which error, once each."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from codegen.budget import judge as module
from codegen.budget.judge import Judge
from codegen.budget.space import Form
from codegen.evaluate import Rows, Score
from codegen.ir.task import Measure
from codegen.ir.text import Text

WHOLE = Form(16, None, 8, frozenset())
FOUR = Form(16, None, 8, frozenset("a"))
ACCURACY = Measure("accuracy", percent=True)


@dataclass
class Space:
    """Programs are the forms themselves; what is encoded and emulated is written down."""

    writes: bool = False
    whole = WHOLE
    checkpoint = SimpleNamespace(target=None)

    def program(self, form: Form) -> Any:
        return SimpleNamespace(form=form, target_rules="rules" if self.writes else None)

    judged_program = program

    def vocabulary(self, bound: object) -> Any:
        return SimpleNamespace(checkpoint=SimpleNamespace(tokenizer=f"tokenizer of {bound}"))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Any]]:
    """What the judge asks of the rest, which answers from the form and the row's number alone."""
    calls: dict[str, list[Any]] = {"seconds": [], "encoded": [], "emulated": [], "scored": []}
    seconds = {"each": 0.08}

    def estimated(program: Any, tokens: int) -> float:
        calls["seconds"].append(tokens)
        return seconds["each"]

    def encoded(program: Any, spec: str, rows: Rows) -> list[Text]:
        calls["encoded"].append((program.form, spec, rows.rows))
        return [Text([number] * lengths[number % 2], []) for number in rows.rows]  # type: ignore[list-item]

    def emulated(program: Any, texts: list[Text]) -> np.ndarray:
        calls["emulated"].append(program.form)
        rows = [[text.ids[0], 1] for text in texts]
        return np.array(rows, np.float32) + (np.float32([1, -2]) if program.form.four else 0)

    def score(program: Any, spec: str, rows: Rows, target: object) -> Score:
        calls["scored"].append((program.form, spec, len(rows.rows), target))
        return Score(ACCURACY, 100 / 3, np.zeros(0), 1.0)

    lengths = [3, 6]
    calls["set"] = [seconds]
    for name, replaced in (("emulated", emulated), ("score", score), ("encoded", encoded)):
        monkeypatch.setattr(module.evaluate, name, replaced)
    monkeypatch.setattr(module, "estimated_seconds", estimated)
    return calls


def table(count: int) -> Rows:
    return Rows(tuple(range(count)), np.arange(count) * 10, count, ACCURACY)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("count", "each", "rows"),
    [
        (1000, 0.08, 100),
        (1000, 10.0, 32),
        (1000, 0.001, 256),
        (1000, 0.0, 256),
        (20, 0.001, 20),
        (20, 10.0, 20),
        (200, 0.25, 32),
    ],
)
def test_as_many_rows_as_take_eight_seconds(asked: dict[str, list[Any]], count: int, each: float, rows: int) -> None:
    asked["set"][0]["each"] = each
    made = Judge(Space(), table(count))  # type: ignore[arg-type]
    assert (made.rows, made.measure) == (rows, "accuracy")
    assert asked["seconds"] == [round(4.5)]  # tokens of a text on average
    assert made.error(WHOLE) == 0
    form, spec, chosen = asked["encoded"][-1]
    assert (form, spec) == (WHOLE, "tokenizer of None")
    assert chosen == tuple(i * count // rows for i in range(rows))  # from the first on, evenly


def test_a_text_of_nothing_counts_as_one_token(asked: dict[str, list[Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.evaluate, "encoded", lambda *_: [Text([], [])] * 40)
    Judge(Space(), table(40))  # type: ignore[arg-type]
    assert asked["seconds"] == [1]


def test_what_writes_is_judged_on_the_least_rows(asked: dict[str, list[Any]]) -> None:
    assert Judge(Space(writes=True), table(1000)).rows == 32  # type: ignore[arg-type]
    assert Judge(Space(writes=True), table(7)).rows == 7  # type: ignore[arg-type]
    assert asked["seconds"] == []


def test_the_error_is_the_mean_of_squares(asked: dict[str, list[Any]]) -> None:
    """Of two outputs of each row one is 1 off, the other 2; each form is emulated once."""
    made = Judge(Space(), table(50))  # type: ignore[arg-type]
    assert made.error(FOUR) == (1 + 4) / 2
    assert made.error(FOUR) == 2.5 and made.error(WHOLE) == 0
    assert asked["emulated"] == [WHOLE, FOUR, WHOLE]


def test_texts_are_tokenized_once_for_each_vocabulary_and_length(asked: dict[str, list[Any]]) -> None:
    made = Judge(Space(), table(300))  # type: ignore[arg-type]
    made.error(FOUR)
    made.error(Form(16, None, 4, frozenset()))
    assert [len(rows) for _, _, rows in asked["encoded"]] == [300, 100]
    made.error(Form(8, None, 8, frozenset()))
    assert [(form.tokens, len(rows)) for form, _, rows in asked["encoded"][2:]] == [(8, 100)]


def test_a_score_is_of_all_rows_and_rounded(asked: dict[str, list[Any]]) -> None:
    made = Judge(Space(), table(300))  # type: ignore[arg-type]
    assert made.score(FOUR).value == 33.333333333
    assert made.score(FOUR) is made.score(FOUR)
    assert asked["scored"] == [(FOUR, "tokenizer of None", 300, None)]
