# SPDX-License-Identifier: Apache-2.0
"""What of a budget's options is searched: the ways to prune, and the shortest texts that may be asked for."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from codegen.budget.choose import Chosen, choose
from codegen.budget.limits import ALLOWANCES, Limits
from codegen.budget.space import Form
from codegen.errors import EtchError
from codegen.ir.template_spec import Padding
from codegen.targets import TARGETS
from codegen.vocabulary.pruning import Bound

module = sys.modules["codegen.budget.choose"]  # the package has its function under that name
FOUND = Form(16, Bound(4, "unknown"), 4, frozenset("a"))
GRAPH = SimpleNamespace(max_tokens=32, target_rules=None)
PRUNE = "fewer pieces (--prune-vocabulary FILE)"
SHORTEN = "shorter texts (--min-tokens N)"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the search is called with, which finds FOUND."""
    calls: list[Any] = []

    class Space:
        def __init__(self, *given: object) -> None:
            calls.append(given)

        def bounds(self, kind: str) -> list[Bound]:
            return [Bound(count, kind) for count in (2, 9)]  # type: ignore[arg-type]

        def bits(self, form: Form) -> dict[str, int]:
            return dict.fromkeys(form.four, 4)

        def vocabulary(self, bound: Bound) -> Any:
            return SimpleNamespace(pruning=f"pruned by {bound.min_count}")

    def search(*given: object) -> Any:
        _, judge, limits, ladders, _, untried = given
        calls.append((judge, limits, ladders, untried))
        return SimpleNamespace(form=FOUND)

    monkeypatch.setattr(module, "Space", Space)
    monkeypatch.setattr(module, "Judge", lambda space, rows: f"judge of {rows}")
    monkeypatch.setattr(module, "search", search)
    monkeypatch.setattr(module, "rare_words_of", lambda model: ("spelled", "unknown"))
    monkeypatch.setattr(module, "is_prunable", lambda model: model == "model")
    monkeypatch.setattr(module, "chosen_lines", lambda found, space, calibrated: ["chosen"])
    return calls


def chosen(
    limits: Limits,
    texts: Any,
    min_count: int | None,
    rare_words: Any,
    padding: Padding | None = None,
    graph: Any = GRAPH,
    model: str = "model",
) -> tuple[Chosen, list[str]]:
    lines: list[str] = []
    tokenizer = SimpleNamespace(model=model, template=SimpleNamespace(padding=padding))
    checkpoint: Any = SimpleNamespace(tokenizer=tokenizer)
    rows: Any = "rows"
    target = TARGETS["host"]
    return choose(checkpoint, graph, target, limits, rows, texts, min_count, rare_words, lines.append), lines


@pytest.mark.parametrize(
    ("texts", "min_count", "rare_words", "ladders"),
    [
        (None, None, None, []),
        (["a"], None, None, [[(2, "spelled"), (9, "spelled")], [(2, "unknown"), (9, "unknown")]]),
        (["a"], None, "unknown", [[(2, "unknown"), (9, "unknown")]]),
        (["a"], 5, None, [[(5, "spelled")], [(5, "unknown")]]),
        (["a"], 5, "spelled", [[(5, "spelled")]]),
    ],
)
def test_ways_to_prune(asked: list[Any], texts: Any, min_count: Any, rare_words: Any, ladders: Any) -> None:
    limits = Limits(flash=1000, min_tokens=32)  # as many as the model takes
    found, lines = chosen(limits, texts, min_count, rare_words)
    (_, graph, target, allowance, given), (judge, searched, ways, _) = asked
    assert (graph, target, allowance, given) == (GRAPH, TARGETS["host"], ALLOWANCES["host"], texts)
    assert (judge, searched) == ("judge of rows", limits)
    assert ways == [[Bound(*each) for each in ladder] for ladder in ladders]
    assert found == Chosen(16, 4, {"a": 4}, "pruned by 4")  # type: ignore[arg-type]
    assert [line.split()[0] for line in lines] == ["budget", "allowed", "chosen"]


@pytest.mark.parametrize(
    ("texts", "least", "others", "untried"),
    [
        (None, None, {}, [PRUNE, SHORTEN]),
        (["a"], None, {}, [SHORTEN]),
        (None, 8, {}, [PRUNE]),
        (["a"], 8, {}, []),
        (None, None, {"model": "of bytes"}, [SHORTEN]),
        (None, None, {"padding": Padding(0, 32)}, [PRUNE]),
        (None, None, {"graph": SimpleNamespace(max_tokens=32, target_rules="it writes")}, []),
    ],
)
def test_options_that_were_not_tried(
    asked: list[Any], texts: Any, least: int | None, others: dict[str, Any], untried: list[str]
) -> None:
    chosen(Limits(flash=1000, min_tokens=least), texts, None, None, **others)
    assert asked[1][-1] == untried


def test_more_tokens_than_the_model_takes(asked: list[Any]) -> None:
    with pytest.raises(EtchError, match="--min-tokens 33: the model takes 32 at most") as refused:
        chosen(Limits(min_tokens=33), None, None, None)
    assert (refused.value.code, refused.value.stage, asked) == ("min-tokens", "arguments", [])


def test_fewer_tokens_than_texts_are_padded_to(asked: list[Any]) -> None:
    with pytest.raises(EtchError, match="--min-tokens: texts are padded to 32 tokens") as refused:
        chosen(Limits(min_tokens=16), None, None, None, Padding(0, 32))
    assert (refused.value.code, refused.value.stage, asked) == ("min-tokens", "arguments", [])
