# SPDX-License-Identifier: Apache-2.0
"""Expressions in Oniguruma's syntax of Ruby, which the wheel's Split has, as trees.

What one character is compared with stays as it is written, for the wheel to answer; only how these follow each other is
read here. Of what looks around, one character ahead is supported, which a text may also have ended before."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

_MOST_REPEATS = 256
_DEEPEST = 32  # groups in each other
_INTERVAL = re.compile(r"\{(\d{1,4})?(,)?(\d{1,4})?\}")
# An escape that stands for one character of some set, or for one character.
_ESCAPE = re.compile(
    r"\\(?:[pP]\{\^?[\w ]+\}|[sSdDwWhHrntfvae]|x\{[0-9A-Fa-f]{1,6}\}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[^\w])"
)
_SPECIAL = frozenset("\\[]{}()*+?|^$.")
# One character ignores case as these two do, which no automaton over characters sees: ß, ﬀ, ﬁ, ﬂ, ﬅ.
_FOLDED_PAIRS = ("ss", "ff", "fi", "fl", "st")


class NotSupported(ValueError):
    """What of an expression has no form here; the message names it."""


@dataclass(frozen=True)
class Characters:
    """One of these characters."""

    of: str  # as `CharacterSplit.of`: a pattern that finds them, or the name of what does


@dataclass(frozen=True)
class Row:
    """One behind the other; an empty one is found everywhere."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True)
class Choice:
    """The first that leads to something found."""

    options: tuple[Tree, ...]


@dataclass(frozen=True)
class Repeat:
    """As often as possible, or as seldom."""

    of: Tree
    least: int
    most: int | None
    lazy: bool = False


@dataclass(frozen=True)
class Ahead:
    """Whether the next character, which is not passed, is one of these, or is not; at the end of a text it is not."""

    of: Characters
    negated: bool


Tree = Characters | Row | Choice | Repeat | Ahead


def characters(expression: str) -> Characters:
    """Those that an expression finds, each alone."""
    return Characters(json.dumps({"Regex": expression}))


def parse(expression: str) -> Tree:
    """Raises `NotSupported`."""
    parser = _Parser(expression)
    tree = parser.choice()
    if parser.at < len(expression):
        raise NotSupported(f"'{expression[parser.at]}' at {parser.at} closes nothing")
    if may_be_empty(tree):
        raise NotSupported("it also finds nothing, between two characters")
    return tree


def literal(text: str) -> Tree:
    """What finds this text."""
    return Row(tuple(_one(character) for character in text))


def may_be_empty(tree: Tree) -> bool:
    """Whether it may be found without a character."""
    if isinstance(tree, Characters):
        return False
    if isinstance(tree, Row):
        return all(map(may_be_empty, tree.parts))
    if isinstance(tree, Choice):
        return any(map(may_be_empty, tree.options))
    return isinstance(tree, Ahead) or tree.least == 0 or may_be_empty(tree.of)


def _one(character: str) -> Characters:
    return characters(f"\\{character}" if character in _SPECIAL else character)


class _Parser:
    def __init__(self, expression: str) -> None:
        self.text = expression
        self.at = 0
        self.ignores_case = False
        self.depth = 0  # of groups

    def choice(self) -> Tree:
        options = [self._row()]
        while self._take("|"):
            options.append(self._row())
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def _row(self) -> Tree:
        parts: list[Tree] = []
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            parts.append(self._repeated())
        return parts[0] if len(parts) == 1 else Row(tuple(parts))

    def _take(self, text: str) -> bool:
        found = self.text.startswith(text, self.at)
        self.at += len(text) * found
        return found

    def _repeated(self) -> Tree:
        one = self._one()
        interval = _INTERVAL.match(self.text, self.at)
        for sign, least, most in (("?", 0, 1), ("*", 0, None), ("+", 1, None)):
            if self._take(sign):
                return self._ended(one, least, most)
        if interval is None:
            return one
        lower, comma, upper = interval.groups()
        if lower is None and upper is None:
            raise NotSupported(f"'{interval[0]}' at {self.at}")
        self.at = interval.end()
        upper = upper if comma else lower
        found = self._times(one, int(lower or 0), None if upper is None else int(upper), comma is not None)
        # Behind an interval + is no sign of its own, but repeats what was repeated.
        return self._times(found, 1, None) if self._take("+") else found

    def _ended(self, one: Tree, least: int, most: int | None) -> Tree:
        if not self._take("+"):
            return self._times(one, least, most, may_be_lazy=True)
        if not isinstance(one, Characters):
            raise NotSupported("a possessive repetition of more than one character")
        return _possessive(one, least, most)

    def _times(self, one: Tree, least: int, most: int | None, may_be_lazy: bool = False) -> Tree:
        if may_be_empty(one):
            raise NotSupported("a repetition of what may be empty")
        if most is not None and most < least:
            raise NotSupported(f"a repetition of at least {least} and at most {most}")
        if max(least, most or 0) > _MOST_REPEATS:
            raise NotSupported(f"more than {_MOST_REPEATS} repetitions")
        lazy = may_be_lazy and self._take("?")
        if self.text.startswith(("?", "*"), self.at):
            raise NotSupported(f"two signs of repetition, at {self.at}")
        return Repeat(one, least, most, lazy)

    def _one(self) -> Tree:
        character = self.text[self.at]
        if character == "(":
            return self._group()
        if character == "[":
            return self._cased(self._class())
        if character == "\\":
            return self._escape()
        self.at += 1
        if character == ".":
            return characters(".")
        if character == "$":
            return Ahead(characters("."), negated=True)
        if character in _SPECIAL:
            raise NotSupported(f"'{character}' at {self.at - 1}")
        return self._cased(character)

    def _cased(self, source: str) -> Characters:
        if not self.ignores_case:
            return characters(source)
        if not source.isascii() or "\\" in source:
            raise NotSupported(f"{source} where case is ignored")
        return characters(f"(?i:{source})")

    def _escape(self) -> Tree:
        if self._take("\\z"):
            return Ahead(characters(r"[\s\S]"), negated=True)
        found = _ESCAPE.match(self.text, self.at)
        if found is None:
            raise NotSupported(f"'{self.text[self.at : self.at + 2]}' at {self.at}")
        self.at = found.end()
        if self.ignores_case and found[0][1].isalnum():
            raise NotSupported(f"{found[0]} where case is ignored")
        return characters(found[0])

    def _class(self) -> str:
        begin, depth = self.at, 0
        while self.at < len(self.text):
            character = self.text[self.at]
            depth += (character == "[") - (character == "]")
            self.at += 2 if character == "\\" else 1
            if depth == 0:
                return self.text[begin : self.at]
        raise NotSupported(f"the class at {begin} has no end")

    def _group(self) -> Tree:
        begin = self.at
        if self.depth == _DEEPEST:
            raise NotSupported(f"more than {_DEEPEST} groups in each other")
        if self._take("(?!") or self._take("(?="):
            return self._ahead(begin)
        atomic = self._take("(?>")
        ignores_case = not atomic and self._take("(?i:")
        if self.ignores_case:
            raise NotSupported(f"the group at {begin} where case is ignored")
        if not atomic and not ignores_case and not self._take("(?:"):
            self._take("(")
            if self.text.startswith(("?", "*"), self.at):
                raise NotSupported(f"'{self.text[begin : begin + 3]}' at {begin}")
        self.ignores_case = ignores_case
        inside = self._inside(begin)
        self.ignores_case = False
        source = self.text[begin : self.at].lower()
        if ignores_case and any(pair in source for pair in _FOLDED_PAIRS):
            raise NotSupported(f"two letters where case is ignored that one character is the same as: {source}")
        return self._atomic(inside, begin) if atomic else inside

    def _inside(self, begin: int) -> Tree:
        self.depth += 1
        tree = self.choice()
        self.depth -= 1
        if not self._take(")"):
            raise NotSupported(f"the group at {begin} has no end")
        return tree

    def _ahead(self, begin: int) -> Ahead:
        negated = self.text[self.at - 1] == "!"
        inside = self._inside(begin)
        if not isinstance(inside, Characters):
            raise NotSupported(f"{self.text[begin : self.at]} looks at more than one character")
        return Ahead(inside, negated)

    def _atomic(self, inside: Tree, begin: int) -> Tree:
        if isinstance(inside, Characters):
            return inside
        if not isinstance(inside, Repeat) or not isinstance(inside.of, Characters) or inside.lazy:
            raise NotSupported(f"the atomic group at {begin}")
        if (inside.least, inside.most) in ((0, 1), (0, None), (1, None)):
            return _possessive(inside.of, inside.least, inside.most)
        raise NotSupported(f"the atomic group at {begin}")


def _possessive(one: Characters, least: int, most: int | None) -> Tree:
    """It gives nothing back: behind it stands none of these, but where one was the most."""
    ends = Ahead(one, negated=True)
    if most == 1:
        return Choice((one, ends))
    return Row((Repeat(one, least, None), ends))
