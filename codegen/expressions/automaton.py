# SPDX-License-Identifier: Apache-2.0
"""Trees as deterministic automata that find what backtracking finds: the way that comes first, not the longest.

A state is the row of ways that are still open, the preferred one first. Where one of them has found something, those
behind it are closed (R. Cox, "Regular Expression Matching: the Virtual Machine Approach", 2009; Pike's machine). What a
way asks of the next character is decided when that is read: then it is known whether the text before it was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .syntax import Ahead, Characters, Choice, NotSupported, Repeat, Row, Tree

_MOST_STEPS = 1024  # with the states they bound the time: published expressions have about 100
_MOST_STATES = 512
END = 0  # the class of no character: the text ends

DEAD, START = 0, 1


@dataclass(frozen=True)
class Automaton:
    """`next[state][class]`: the state behind a character of this class, DEAD where nothing longer is found; and
    `found[state][class]`: whether the characters before it are what is looked for, unless more are."""

    next: tuple[tuple[int, ...], ...]
    found: tuple[tuple[bool, ...], ...]

    @property
    def states(self) -> int:
        return len(self.next)


@dataclass(frozen=True)
class _Take:
    classes: frozenset[int]
    then: int


@dataclass(frozen=True)
class _Fork:
    ways: tuple[int, ...]  # by preference


@dataclass(frozen=True)
class _Ask:
    classes: frozenset[int]  # END among them where the end is an answer, too
    then: int


_FOUND = 0

_Step = _Take | _Fork | _Ask | None  # None: found


def automaton_of(tree: Tree, classes_of: dict[str, frozenset[int]], class_count: int) -> Automaton:
    """`classes_of`: of each `Characters.of`, from 1 on; `class_count`: with END."""
    steps: list[_Step] = [None]
    first = _Writer(steps, classes_of, class_count).write(tree, _FOUND)
    numbers: dict[tuple[int, ...], int] = {(): DEAD, (first,): START}
    rows: list[tuple[tuple[int, ...], tuple[bool, ...]]] = []
    waiting = [(), (first,)]
    for ways in waiting:
        behind, found = [], []
        for one in range(class_count):
            ways_behind, is_found = _advance(steps, ways, one)
            if ways_behind not in numbers:
                numbers[ways_behind] = len(numbers)
                waiting.append(ways_behind)
                if len(numbers) > _MOST_STATES:
                    raise NotSupported(f"more than {_MOST_STATES} states")
            behind.append(numbers[ways_behind])
            found.append(is_found)
        rows.append((tuple(behind), tuple(found)))
    return _smallest(rows)


class _Writer:
    """Steps of a machine, from the last to the first."""

    def __init__(self, steps: list[_Step], classes_of: dict[str, frozenset[int]], class_count: int) -> None:
        self._steps = steps
        self._classes_of = classes_of
        self._every = frozenset(range(class_count))

    def write(self, tree: Tree, then: int) -> int:
        """The step that `tree` begins with."""
        if isinstance(tree, Characters):
            return self._add(_Take(self._classes_of[tree.of], then))
        if isinstance(tree, Ahead):
            classes = self._classes_of[tree.of.of]
            return self._add(_Ask(self._every - classes if tree.negated else classes, then))
        if isinstance(tree, Row):
            for part in reversed(tree.parts):
                then = self.write(part, then)
            return then
        if isinstance(tree, Choice):
            return self._add(_Fork(tuple(self.write(option, then) for option in tree.options)))
        return self._repeat(tree, then)

    def _repeat(self, tree: Repeat, then: int) -> int:
        if tree.most is None:
            again = self._add(None)
            self._steps[again] = _fork(self.write(tree.of, again), then, tree.lazy)
            then = again
        else:
            end = then
            for _ in range(tree.most - tree.least):
                then = self._add(_fork(self.write(tree.of, then), end, tree.lazy))
        for _ in range(tree.least):
            then = self.write(tree.of, then)
        return then

    def _add(self, step: _Step) -> int:
        if len(self._steps) == _MOST_STEPS:
            raise NotSupported(f"more than {_MOST_STEPS} characters, repetitions counted")
        self._steps.append(step)
        return len(self._steps) - 1


def _fork(more: int, then: int, lazy: bool) -> _Fork:
    return _Fork((then, more) if lazy else (more, then))


def _advance(steps: Sequence[_Step], ways: tuple[int, ...], one: int) -> tuple[tuple[int, ...], bool]:
    """The open ways behind a character, and whether one of them had found something before it."""
    behind: dict[int, None] = {}
    seen: set[int] = set()
    waiting = list(reversed(ways))
    while waiting:
        at = waiting.pop()
        if at in seen:
            continue
        seen.add(at)
        step = steps[at]
        if step is None:
            return tuple(behind), True
        if isinstance(step, _Fork):
            waiting += reversed(step.ways)
        elif one in step.classes:
            if isinstance(step, _Ask):
                waiting.append(step.then)
            else:
                behind.setdefault(step.then)
    return tuple(behind), False


def _smallest(rows: Sequence[tuple[tuple[int, ...], tuple[bool, ...]]]) -> Automaton:
    """States that nothing tells apart are one (Moore's algorithm)."""
    group_of = _numbered([(state == DEAD, found) for state, (_, found) in enumerate(rows)])
    while True:
        finer = _numbered([(group_of[state], *map(group_of.__getitem__, row)) for state, (row, _) in enumerate(rows)])
        if max(finer) == max(group_of):
            break
        group_of = finer
    first_of = {group: state for state, group in reversed(list(enumerate(group_of)))}
    kept = [first_of[group] for group in sorted(first_of)]
    return Automaton(
        tuple(tuple(group_of[state] for state in rows[one][0]) for one in kept), tuple(rows[one][1] for one in kept)
    )


def _numbered(keys: Sequence[object]) -> list[int]:
    """By first appearance: DEAD and START, the first two, stay what they are."""
    numbers: dict[object, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]
