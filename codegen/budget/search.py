# SPDX-License-Identifier: Apache-2.0
"""The search: which form of a model is the most accurate of those that fit.

Sizes are exact and cheap, answers are not, so that sizes are computed first and only what fits is judged:

1. Each linear alone in 4 bits is judged once, by how far it moves the outputs. Errors of single tensors nearly add up,
   so that linears are taken to 4 bits in the order of damage per byte saved, the least first: the greedy answer to a
   knapsack problem, and far fewer forms than there are subsets.
2. For each vocabulary and embedding width just so many linears go to 4 bits that the form fits; a linear that need not
   have gone comes back. That leaves one form for each pair, and none where even all in 4 bits is too large.
3. Those forms are ranked by the error of their outputs on a few rows, the best of them by right answers to all rows.
   Equally good ones: the smaller. The two ways to prune are ranked apart, for an unknown word moves the outputs
   further than one that is spelled, and the answers less.

Pruning goes on only until all the rest fits in 8 bits, or the errors rise. Whatever decides is an integer or an exact
sum, so that the same input gives the same answer on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ..errors import EtchError
from ..evaluate import Score
from ..vocabulary.pruning import Bound
from .judge import Judge
from .limits import STAGE, Limits, Size
from .space import Form, Found, Space
from .told import (
    accuracy_missed,
    limits_missed,
    searched_line,
    sensitivity_heading,
    sensitivity_line,
    tried_heading,
    tried_line,
)

Echo = Callable[[str], None]

_FINALISTS = 4  # of each way to prune
_WORSE = 3  # forms in a row, and no more pieces are dropped
_LARGER = 1.1  # how much more flash is tried where the accuracy is not reached


def search(
    space: Space,
    judge: Judge,
    limits: Limits,
    ladders: Sequence[Sequence[Bound]],
    echo: Echo,
    untried: Sequence[str] = (),
) -> Found:
    """`ladders` are ways to prune, each from more pieces to fewer. EtchError where nothing fits or is accurate enough,
    with what would, or with the options that were `untried`."""
    run = _Search(space, judge, ladders, echo)
    forms = [] if run.all_too_large(limits) else run.forms(limits)
    if not forms:
        raise EtchError("budget-too-small", STAGE, limits_missed(space, run.nearest(limits), untried))
    best = run.best(forms)
    if limits.accuracy is not None and best.score.share < limits.accuracy:
        raise EtchError("accuracy-not-reached", STAGE, accuracy_missed(limits, best, space, run.accurate(limits)))
    return best


class _Search:
    def __init__(self, space: Space, judge: Judge, ladders: Sequence[Sequence[Bound]], echo: Echo) -> None:
        self._space, self._judge, self._ladders, self._echo = space, judge, ladders, echo
        self._order: tuple[str, ...] | None = None
        self._saving: frozenset[str] | None = None
        self._told: set[Form] = set()

    def forms(self, limits: Limits) -> list[Form]:
        """One that fits for each vocabulary and embedding width, or the whole model alone."""
        found: list[Form] = []
        for bits in (8, 4):
            whole = replace(self._space.whole, embedding_bits=bits)
            forms = self._along([None], whole, limits)
            if not forms or forms[0].four:
                for bounds in self._ladders:
                    fitting = self._along(bounds, whole, limits)
                    self._echo(searched_line(bits, bounds, len(fitting)))
                    forms += fitting
            found += forms
            if whole in found:
                break
        return found

    def _along(self, bounds: Sequence[Bound | None], whole: Form, limits: Limits) -> list[Form]:
        """Until one has nothing in 4 bits: fewer pieces bring nothing then, and RAM does not depend on them. Or until a
        few in a row have larger errors than one before."""
        forms: list[Form] = []
        least, worse = math.inf, 0
        for bound in bounds:
            form = self._fitted(replace(whole, bound=bound), limits)
            if form is None:
                continue
            forms.append(form)
            error = self._judge.error(form)
            least, worse = (error, 0) if error < least else (least, worse + 1)
            if not form.four or worse == _WORSE:
                break
        return forms

    def best(self, forms: Sequence[Form]) -> Found:
        """The most accurate; of equals the smaller."""
        finalists: list[Form] = []
        ways = dict.fromkeys(form.bound and form.bound.rare_words for form in forms)
        for way in ways:
            ranked = [form for form in forms if (form.bound and form.bound.rare_words) == way]
            if len(forms) > _FINALISTS:
                ranked.sort(key=lambda form: (self._judge.error(form), self._space.size(form)))
            finalists += ranked[:_FINALISTS]
        for form in forms:
            if form not in finalists:
                self._tell(form, None)
        scored = [(form, self._judge.score(form)) for form in finalists]
        for form, score in scored:
            self._tell(form, score)
        form, score = min(scored, key=lambda each: (-each[1].value, self._space.size(each[0])))
        return Found(form, self._space.size(form), score)

    def all_too_large(self, limits: Limits) -> bool:
        """Whether even the forms of the least flash have too much, which takes no answers to find out."""
        flash, smaller = Limits(flash=limits.flash), self._smaller()
        # The fewest pieces first: where these fit, no other vocabulary is looked at.
        bounds = [*(bound for ladder in self._ladders for bound in reversed(ladder)), None]
        smallest = (Form(self._least(limits), bound, 4, smaller) for bound in bounds)
        return not any(flash.hold(self._space.size(form)) for form in smallest)

    def _smaller(self) -> frozenset[str]:
        """The linears that take less flash in 4 bits."""
        if self._saving is None:
            whole = self._space.whole
            before = self._space.size(whole).flash
            alone = {
                each: self._space.size(replace(whole, four=frozenset([each]))).flash for each in self._space.linears
            }
            self._saving = frozenset(name for name, size in alone.items() if size < before)
        return self._saving

    def nearest(self, limits: Limits) -> Form:
        """Of the smallest forms the one that passes a limit the least."""
        smallest = [
            Form(self._least(limits), bound, 4, four)
            for bound in (None, *(bound for ladder in self._ladders for bound in ladder))
            for four in (frozenset(self._space.linears), frozenset[str]())
        ]
        return min(smallest, key=lambda form: (limits.excess(self._space.size(form)), self._space.size(form)))

    def accurate(self, limits: Limits) -> Found | None:
        """The first form that is accurate enough where more and more flash is allowed, then RAM, too; or none."""
        assert limits.accuracy is not None
        whole = self._space.size(self._space.whole)
        for larger in _growing(limits, whole):
            forms = self.forms(larger)
            if forms and (best := self.best(forms)).score.share >= limits.accuracy:
                return best
        return None

    def _fitted(self, form: Form, limits: Limits) -> Form | None:
        flash = Limits(flash=limits.flash)
        gone: list[str] = []
        if not flash.hold(self._space.size(form)):
            if not flash.hold(self._space.size(replace(form, four=self._smaller()))):
                # Whatever the order, all would go: no answers are needed to find it out.
                return self._shortened(replace(form, four=frozenset(self._space.linears)), limits)
            for name in self._ordered():
                gone.append(name)
                if flash.hold(self._space.size(replace(form, four=frozenset(gone)))):
                    break
        for name in gone[::-1]:
            if flash.hold(self._space.size(replace(form, four=frozenset(gone) - {name}))):
                gone.remove(name)
        return self._shortened(replace(form, four=frozenset(gone)), limits)

    def _shortened(self, form: Form, limits: Limits) -> Form | None:
        """With as many tokens as the limits leave room for."""
        if limits.hold(self._space.size(form)):
            return form
        least = self._least(limits)
        low, high = least - 1, self._space.tokens  # low fits, but where it is less than the least
        while high - low > 1:
            middle = (low + high) // 2
            fits = limits.hold(self._space.size(replace(form, tokens=middle)))
            low, high = (middle, high) if fits else (low, middle)
        return replace(form, tokens=low) if low >= least else None

    def _least(self, limits: Limits) -> int:
        return self._space.tokens if limits.min_tokens is None else limits.min_tokens

    def _ordered(self) -> tuple[str, ...]:
        """The linears by damage per byte saved, the least first."""
        if self._order is None:
            whole = self._space.whole
            before = self._space.size(whole).flash
            damages: list[tuple[float, str]] = []
            for line in sensitivity_heading(self._judge.rows):
                self._echo(line)
            for name in self._space.linears:
                form = replace(whole, four=frozenset([name]))
                error, saved = self._judge.error(form), before - self._space.size(form).flash
                self._echo(sensitivity_line(self._space.places[name], error, saved))
                damages.append((error / max(saved, 1), name))
            self._order = tuple(name for _, name in sorted(damages))
        return self._order

    def _tell(self, form: Form, score: Score | None) -> None:
        if not self._told:
            self._echo(tried_heading(self._judge.measure))
        if form not in self._told:
            self._echo(tried_line(form, self._space, self._judge.error(form), score))
            self._told.add(form)


def _growing(limits: Limits, whole: Size) -> Iterator[Limits]:
    flash = whole.flash if limits.flash is None else limits.flash
    while flash < whole.flash:
        flash = min(int(flash * _LARGER), whole.flash)
        yield replace(limits, flash=flash)
    yield replace(limits, flash=None, ram=None)
