# SPDX-License-Identifier: Apache-2.0
"""The search for a budget, on made-up sizes and errors: what it chooses fits and is the best of what was tried, and
where it refuses, the limits that it names do."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from codegen.budget.limits import Limits, Size
from codegen.budget.search import _growing, search
from codegen.budget.space import Form, Found
from codegen.errors import EtchError
from codegen.evaluate import Score
from codegen.ir.task import Measure
from codegen.sizes import parse_size
from codegen.vocabulary.prunable import RARE_WORDS
from codegen.vocabulary.pruning import Bound

TOKENS = 16
LADDERS = [[Bound(count, kind) for count in (2, 5, 9)] for kind in RARE_WORDS]
PIECES = {2: 700, 5: 400, 9: 150}


@dataclass
class Model:
    """A space and its judge at once: sizes add up, and so do errors."""

    saved: dict[str, int]  # by a linear that goes to 4 bits
    damage: dict[str, float]
    ram_of_four: int = 0  # what linears in 4 bits need
    right: float = 95.0  # the whole model's answers

    tokens = TOKENS
    rows = 10
    measure = "accuracy"

    @property
    def linears(self) -> tuple[str, ...]:
        return tuple(self.saved)

    @property
    def places(self) -> dict[str, str]:
        return {name: name for name in self.saved}

    @property
    def whole(self) -> Form:
        return Form(TOKENS, None, 8, frozenset())

    def pieces(self, form: Form) -> int:
        return 1000 if form.bound is None else PIECES[form.bound.min_count]

    def size(self, form: Form) -> Size:
        flash = 3000 + sum(self.saved.values()) - sum(self.saved[name] for name in form.four)
        ram = 100 + 10 * form.tokens + (self.ram_of_four if form.four else 0)
        return Size(flash + self.pieces(form) * form.embedding_bits, ram, 30)

    def vocabulary(self, bound: Bound | None) -> Any:
        return SimpleNamespace(rows=np.zeros(self.pieces(Form(TOKENS, bound, 8, frozenset()))))

    def bits(self, form: Form) -> dict[str, int]:
        return dict.fromkeys(sorted(form.four), 4)

    def error(self, form: Form) -> float:
        error = sum(self.damage[name] for name in form.four) + (0.5 if form.embedding_bits == 4 else 0)
        letters = 1.5 if form.bound is not None and form.bound.rare_words == "spelled" else 1.0
        return error + (1000 - self.pieces(form)) / 100 * letters + (TOKENS - form.tokens) / 4

    def score(self, form: Form) -> Score:
        accuracy = Measure("accuracy", percent=True)
        return Score(accuracy, round(self.right - self.error(form), 9), np.zeros(0), 1.0)

    def all_forms(self, least_tokens: int) -> Iterator[Form]:
        for bound in (None, *LADDERS[0], *LADDERS[1]):
            for bits in (8, 4):
                for count in range(len(self.linears) + 1):
                    for four in combinations(self.linears, count):
                        for tokens in range(least_tokens, TOKENS + 1):
                            yield Form(tokens, bound, bits, frozenset(four))


def run(model: Any, limits: Limits) -> tuple[Found, list[str]]:
    lines: list[str] = []
    return search(model, model, limits, LADDERS, lines.append), lines


def some_model(rng: random.Random) -> Model:
    names = "abcde"[: rng.randint(0, 5)]
    saved = {name: rng.randint(1, 900) for name in names}
    return Model(saved, {name: rng.random() * 4 for name in names}, rng.choice((0, 40)))


@pytest.mark.parametrize("seed", range(60))
def test_what_is_chosen_fits_and_what_is_named_would(seed: int) -> None:
    rng = random.Random(seed)
    model = some_model(rng)
    least = rng.choice((None, 5, 12))
    whole, smallest = model.size(model.whole).flash, model.size(Form(1, LADDERS[0][-1], 4, frozenset(model.linears)))
    limits = Limits(rng.randint(smallest.flash - 300, whole + 100), rng.randint(140, 330), 30, None, least)
    possible = [form for form in model.all_forms(least or TOKENS) if limits.hold(model.size(form))]
    try:
        found, lines = run(model, limits)
    except EtchError as error:
        assert error.code == "budget-too-small"
        named = re.search(r"--max-flash (\d+K) --max-ram (\d+K) --max-stack (\d+)", error.message)
        assert named
        larger = replace(limits, flash=parse_size(named[1]), ram=parse_size(named[2]), stack=int(named[3]))
        assert run(model, larger)[0].size <= Size(larger.flash, larger.ram, larger.stack)
        # Only what needs no linear in 4 bits may have been passed over.
        assert not any(form.four == frozenset(model.linears) for form in possible if model.linears)
        return
    form = found.form
    assert (found.size, found.score.value) == (model.size(form), model.score(form).value)
    assert limits.hold(found.size)
    for name in form.four:
        back = replace(form, four=form.four - {name}, tokens=TOKENS)
        assert model.size(back).flash > limits.flash, "a linear went to 4 bits that need not have"
    if form.tokens < TOKENS:
        assert not limits.hold(model.size(replace(form, tokens=form.tokens + 1)))
    assert len([line for line in lines if line.startswith("tried")]) == 1
    if limits.hold(model.size(model.whole)):
        assert form == model.whole
    assert found.score.value >= max(model.score(other).value for other in possible) - 6, "far from the best"


@pytest.mark.parametrize("seed", range(20))
def test_where_all_are_too_large_no_answer_is_asked_for(seed: int) -> None:
    """And of the smallest form it is not said, whose linears go to 4 bits but for one that only grows there."""
    model = some_model(random.Random(seed))
    model.saved |= {"larger in 4 bits": -70}
    model.damage |= {"larger in 4 bits": 0.1}
    least = min(model.size(form).flash for form in model.all_forms(TOKENS))
    assert run(model, Limits(least))[0].size.flash == least
    model.error = None  # type: ignore[assignment, method-assign]
    with pytest.raises(EtchError, match="nothing fits"):
        run(model, Limits(least - 1))


def test_the_damage_per_byte_decides() -> None:
    model = Model({"a": 400, "b": 800, "c": 400}, {"a": 0.1, "b": 0.15, "c": 0.12})
    whole = model.size(model.whole)
    found = search(model, model, Limits(whole.flash - 750), [], lambda _: None)  # type: ignore[arg-type]
    assert found.form.embedding_bits == 8
    assert found.form.four == {"b"}


def test_equals_go_to_the_smaller() -> None:
    model = Model({"a": 5}, {"a": 0.0})
    model.error = lambda form: 0.0  # type: ignore[method-assign]
    found, _ = run(model, Limits(model.size(model.whole).flash - 1))
    assert found.form == replace(model.whole, embedding_bits=4)


def test_linears_that_need_not_go_come_back() -> None:
    """The small one goes first, then the large one alone is enough."""
    model = Model({"a": 10, "b": 500}, {"a": 0.001, "b": 0.1})
    found = search(model, model, Limits(model.size(model.whole).flash - 400), [], lambda _: None)  # type: ignore[arg-type]
    assert found.form == replace(model.whole, four=frozenset("b"))


def test_accuracy_that_is_not_reached() -> None:
    model = Model({"a": 500, "b": 500}, {"a": 2.0, "b": 3.0})
    limits = Limits(4800, 300, None, 0.93)
    with pytest.raises(EtchError) as refused:
        run(model, limits)
    assert refused.value.code == "accuracy-not-reached"
    assert re.match(r"the best that fits has accuracy \d+\.\d\d %, 0.93 is asked for; ", refused.value.message)
    named = re.search(r"--max-flash (\d+K)", refused.value.message)
    assert named
    assert run(model, replace(limits, flash=parse_size(named[1])))[0].score.value >= 93
    with pytest.raises(EtchError, match="the whole model does not reach it, either"):
        run(model, replace(limits, accuracy=0.96))


def test_more_ram_where_it_is_what_costs_the_accuracy() -> None:
    model = Model({}, {})
    limits = Limits(None, 200, None, 0.94, 4)
    with pytest.raises(EtchError) as refused:
        run(model, limits)
    named = re.search(r"--max-ram (\d+K)", refused.value.message)
    assert named
    assert run(model, replace(limits, ram=parse_size(named[1])))[0].form == model.whole


def test_the_table_has_a_line_for_each_form() -> None:
    model = Model({"a": 300, "b": 400, "c": 10}, {"a": 0.5, "b": 0.3, "c": 0.1})
    found, lines = run(model, Limits(model.size(model.whole).flash - 3000))
    assert lines == run(model, Limits(model.size(model.whole).flash - 3000))[1]
    tried = lines[lines.index(next(line for line in lines if line.startswith("tried"))) + 1 :]
    assert len({line[:70] for line in tried}) == len(tried) >= 4
    best = next(line for line in tried if f"{found.score.value:.2f} %" in line)
    assert f"{found.size.flash:,}" in best
    assert [line.split()[0] for line in lines[2:5]] == ["a", "b", "c"]
    assert len([line for line in lines if line.startswith("searched ")]) in (len(LADDERS), 2 * len(LADDERS))


def test_nothing_else_is_tried_where_the_whole_model_fits() -> None:
    model = Model({"a": 5}, {"a": 0.1})
    found, lines = run(model, Limits(model.size(model.whole).flash))
    assert found.form == model.whole
    assert [line.split()[0] for line in lines] == ["tried", "1,000"]


def crowded() -> Model:
    """Whichever vocabulary and embedding fit, one linear at least has to go to 4 bits."""
    return Model(dict.fromkeys("abcde", 1800), dict.fromkeys("abcde", 0.001))


def test_four_of_each_way_to_prune_are_scored() -> None:
    """Those of the least errors: of six, those with the fewest pieces are not."""
    model, scored = crowded(), []

    def score(form: Form) -> Score:
        scored.append(form)
        return Model.score(model, form)

    model.score = score  # type: ignore[method-assign]
    found, lines = run(model, Limits(11_200))
    assert found.form.bound is None
    ways = [form.bound and (form.bound.min_count, form.bound.rare_words) for form in scored]
    pruned = [(count, kind) for kind in RARE_WORDS for count in (2, 2, 5, 5)]
    assert sorted(way for way in ways if way) == sorted(pruned)
    assert ways.count(None) == 2
    tried = [line for line in lines if re.match(r" +\d", line)]
    assert len(tried) == 14
    assert sum(line.endswith(" -") and " 150 " in line for line in tried) == 4


def test_pruning_ends_where_three_in_a_row_are_worse() -> None:
    @dataclass
    class Steps(Model):
        def pieces(self, form: Form) -> int:
            return 1000 if form.bound is None else 1000 - 50 * form.bound.min_count

    model = Steps(dict.fromkeys("abcde", 1800), dict.fromkeys("abcde", 0.001))
    lines: list[str] = []
    search(model, model, Limits(11_200), [[Bound(count, "unknown") for count in (2, 3, 4, 5, 6, 9)]], lines.append)  # type: ignore[arg-type]
    assert [line for line in lines if line.startswith("searched")] == [
        f"searched     {bits}-bit embeddings, rare words unknown: 4 forms fit" for bits in (8, 4)
    ]


def test_a_tenth_more_flash_is_tried_each_time() -> None:
    """What is named is the first of those limits that does; at the end any is allowed."""
    whole = Size(1000, 70, 0)
    assert [limits.flash for limits in _growing(Limits(800, 50), whole)] == [880, 968, 1000, None]
    assert [(limits.flash, limits.ram) for limits in _growing(Limits(None, 50), whole)] == [(None, None)]


def test_nothing_is_judged_where_its_order_could_not_matter() -> None:
    """All pieces do not fit with all linears in 4 bits, few of them do with all in 8."""
    model = Model({"a": 100, "b": 100}, {"a": 1.0, "b": 2.0})
    found, lines = run(model, Limits(8000))
    assert not found.form.four and found.size.flash <= 8000
    assert not any("sensitivity" in line for line in lines)
    assert any("sensitivity" in line for line in run(model, Limits(11_150))[1])
