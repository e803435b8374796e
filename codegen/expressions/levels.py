# SPDX-License-Identifier: Apache-2.0
"""Several expressions in a row, each of which parts what the ones before it left.

All but the last are `steady`: when a character is read it is known whether a part ends before it. These are one
automaton over the states of them all; the last one may look back to the longest that it has found so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .automaton import DEAD, END, START, Automaton
from .syntax import NotSupported

_MOST_STATES = 1024
# States of a level beside those of its automaton.
_FRESH, _BETWEEN = -1, -2  # a part begins; in what the expression does not find


@dataclass(frozen=True)
class Level:
    """An expression that parts a text, and what is dropped of it."""

    automaton: Automaton
    drops_found: bool = False
    drops_others: bool = False

    @property
    def drops(self) -> bool:
        return self.drops_found or self.drops_others


@dataclass(frozen=True)
class Front:
    """By state, from 0 on, and class: the state behind a character, whether a part ends before it, and whether the
    character is dropped, and so ends one."""

    next: tuple[tuple[int, ...], ...]
    parted: tuple[tuple[bool, ...], ...]
    dropped: tuple[tuple[bool, ...], ...]


def is_steady(automaton: Automaton) -> bool:
    """Whether what has begun is found, however it goes on: then nothing is ever read again."""
    reached, waiting = {DEAD}, [state for state in automaton.next[START] if state != DEAD]
    while waiting:
        state = waiting.pop()
        if state in reached:
            continue
        reached.add(state)
        waiting += automaton.next[state]
    return all(
        found or then != DEAD
        for state in reached - {DEAD}
        for then, found in zip(automaton.next[state], automaton.found[state], strict=True)
    )


def front_of(levels: Sequence[Level], class_count: int) -> Front:
    """`levels`: steady ones."""
    first = (_FRESH,) * len(levels)
    numbers = {first: 0}
    rows: list[list[tuple[int, bool, bool]]] = []
    waiting = [first]
    for states in waiting:
        row = []
        for one in range(class_count):
            behind, parted, dropped = _pass(levels, states, one)
            if behind not in numbers:
                numbers[behind] = len(numbers)
                waiting.append(behind)
                if len(numbers) > _MOST_STATES:
                    raise NotSupported(f"more than {_MOST_STATES} states of expressions in a row")
            row.append((numbers[behind], parted, dropped))
        rows.append(row)
    return Front(
        next=tuple(tuple(behind for behind, _, _ in row) for row in rows),
        parted=tuple(tuple(parted for _, parted, _ in row) for row in rows),
        dropped=tuple(tuple(dropped for _, _, dropped in row) for row in rows),
    )


def _pass(levels: Sequence[Level], states: tuple[int, ...], one: int) -> tuple[tuple[int, ...], bool, bool]:
    """A character of this class, at all levels from the first; END begins anew."""
    if one == END:
        return (_FRESH,) * len(levels), False, False
    behind: list[int] = []
    parted = False
    for level, before in zip(levels, states, strict=True):
        state, parts = _step(level.automaton, _FRESH if parted else before, one)
        parted |= parts
        behind.append(state)
        if level.drops_others if state == _BETWEEN else level.drops_found:
            return (*behind, *(_FRESH,) * (len(levels) - len(behind))), True, True
    return tuple(behind), parted, False


def _step(automaton: Automaton, state: int, one: int) -> tuple[int, bool]:
    """Of one level: the state behind the character, and whether a part ends before it."""
    if state >= 0:
        then = automaton.next[state][one]
        if then != DEAD:
            return then, False
    begun = automaton.next[START][one]
    if begun == DEAD:
        return _BETWEEN, state >= 0
    return begun, state != _FRESH


def words_of(automaton: Automaton, classes: Sequence[int]) -> list[int]:
    """The ends of the parts of a text, of which the class of each character is given: what `etch` does with it."""
    ends: list[int] = []
    begin = 0
    while begin < len(classes):
        end = _longest(automaton, classes, begin)
        if end == begin:
            begin += 1  # what is not found is one part, up to what is
            if begin == len(classes):
                ends.append(begin)
            continue
        if begin > (ends[-1] if ends else 0):
            ends.append(begin)
        ends.append(end)
        begin = end
    return ends


def _longest(automaton: Automaton, classes: Sequence[int], begin: int) -> int:
    state, end = START, begin
    for at in range(begin, len(classes) + 1):
        one = classes[at] if at < len(classes) else END
        if automaton.found[state][one]:
            end = at
        state = automaton.next[state][one]
        if state == DEAD:
            break
    return end
