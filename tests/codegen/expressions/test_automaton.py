# SPDX-License-Identifier: Apache-2.0
"""Automata and rows of them find what Python's engine finds, which goes back where it has to."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator

import pytest

from codegen.expressions.automaton import DEAD, START, Automaton, automaton_of
from codegen.expressions.levels import Level, front_of, is_steady, words_of
from codegen.expressions.syntax import NotSupported, parse

ALPHABET = "abc"
COUNT = len(ALPHABET) + 1
ATOMS = ("a", "b", "c", "[ab]", "[^b]", ".", "(?:ab|a)", "(?:a|b|)c", "(?:bc)")
SIGNS = ("", "", "?", "+", "*", "{2}", "{1,3}", "{2,}", "+?", "*?", "??", "{0,2}?")
BEHIND = ("", "", "(?!a)", "(?=b)", "(?![ab])")


def made(expression: str) -> Automaton:
    """Of the three letters only."""
    found = re.findall(r"\[[^]]*\]|\.|[abc]", expression)
    classes_of = {
        json.dumps({"Regex": one}): frozenset(i for i, c in enumerate(ALPHABET, 1) if re.fullmatch(one, c))
        for one in found
    }
    return automaton_of(parse(expression), classes_of, COUNT)


def classes(text: str) -> list[int]:
    return [1 + ALPHABET.index(c) for c in text]


def parted(expression: str, text: str) -> Iterator[int]:
    """The ends of what Python finds, and of what lies between."""
    at = 0
    for found in re.finditer(expression, text):
        if found.start() > at:
            yield found.start()
        at = found.end()
        yield at
    if at < len(text):
        yield len(text)


def random_expression(source: random.Random) -> str:
    rows = (
        "".join(source.choice(ATOMS) + source.choice(SIGNS) for _ in range(source.randint(1, 3)))
        + source.choice(BEHIND)
        for _ in range(source.randint(1, 4))
    )
    return "|".join(rows)


def random_letters(source: random.Random) -> str:
    return "".join(source.choices(ALPHABET, k=source.randint(0, 14)))


def test_what_comes_first_is_found() -> None:
    source = random.Random(3)
    read = 0
    for _ in range(1500):
        expression = random_expression(source)
        try:
            automaton = made(expression)
        except NotSupported:
            continue
        read += 1
        for text in (random_letters(source) for _ in range(20)):
            assert words_of(automaton, classes(text)) == list(parted(expression, text)), (expression, text)
    assert read > 700


def test_the_smallest() -> None:
    """Runs of one letter, however they are spelled: nothing, the beginning, and within."""
    for expression in ("a+", "aa*", "a{1}a*", "a+|a"):
        automaton = made(expression)
        assert automaton.states == 3, expression
        assert automaton.next[DEAD] == (DEAD,) * COUNT
        assert not any(automaton.found[DEAD])
        assert not any(automaton.found[START])


@pytest.mark.parametrize(
    ("expression", "steady"),
    [("a", True), ("a+", True), ("a{1,3}", True), ("a|b", True), ("ab", False), ("a(?:bc)?", False), ("a(?!b)", False)],
)
def test_steady_ones(expression: str, steady: bool) -> None:
    assert is_steady(made(expression)) == steady


def parts(levels: list[tuple[str, str]], text: str) -> list[str]:
    """One level after the other, as the wheel does it."""
    found = [text]
    for expression, drops in levels:
        behind = []
        for one in found:
            begin = 0
            for end in parted(expression, one):
                matches = re.fullmatch(expression, one[begin:end]) is not None
                if {"found": not matches, "others": matches}.get(drops, True):
                    behind.append(one[begin:end])
                begin = end
        found = behind
    return found


@pytest.mark.parametrize(
    "levels",
    [
        [("a", "")],
        [("a{1,3}", ""), ("b+", "")],
        [("a+", "found"), ("b{1,2}", "")],
        [("b", ""), ("[^b]+", "others"), ("a", "")],
        [("[ab]+", ""), ("b{1,2}", "found"), ("a{1,2}", "")],
    ],
    ids=str,
)
def test_rows(levels: list[tuple[str, str]]) -> None:
    front = front_of([Level(made(text), drops == "found", drops == "others") for text, drops in levels], COUNT)
    source = random.Random(5)
    for text in (random_letters(source) for _ in range(300)):
        state, found = 0, [""]
        for letter, one in zip(text, classes(text), strict=True):
            if front.parted[state][one]:
                found.append("")
            found[-1] += "" if front.dropped[state][one] else letter
            state = front.next[state][one]
        assert [one for one in found if one] == parts(levels, text), text


def test_what_is_too_large() -> None:
    with pytest.raises(NotSupported, match="more than 1024 characters"):
        made("a{200}" * 8)
    with pytest.raises(NotSupported, match="more than 512 states"):
        made("(?:[ab]{0,9}c|.{0,9}a){20}b")
