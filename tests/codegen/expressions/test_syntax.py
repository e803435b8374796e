# SPDX-License-Identifier: Apache-2.0
"""What of the syntax of expressions is read, and what is refused by name."""

from __future__ import annotations

import pytest

from codegen.expressions.syntax import (
    Ahead,
    Choice,
    NotSupported,
    Repeat,
    Row,
    Tree,
    characters,
    literal,
    may_be_empty,
    parse,
)

A, B, SPACE = characters("a"), characters("b"), characters(r"\s")


@pytest.mark.parametrize(
    ("expression", "tree"),
    [
        ("a", A),
        ("ab|b", Choice((Row((A, B)), B))),
        ("(a|b)a", Row((Choice((A, B)), A))),
        (r"\s+(?!\S)", Row((Repeat(SPACE, 1, None), Ahead(characters(r"\S"), negated=True)))),
        ("a(?=b)", Row((A, Ahead(B, negated=False)))),
        (r"[^\s\]a[b-c]]", characters(r"[^\s\]a[b-c]]")),
        (r"\p{Lu}\P{^L}\.", Row((characters(r"\p{Lu}"), characters(r"\P{^L}"), characters(r"\.")))),
        ("a{2}", Repeat(A, 2, 2)),
        ("a{1,}?", Repeat(A, 1, None, lazy=True)),
        ("a{,3}b", Row((Repeat(A, 0, 3), B))),
        ("ba??", Row((B, Repeat(A, 0, 1, lazy=True)))),
        ("a{1,3}+", Repeat(Repeat(A, 1, 3), 1, None)),  # no sign of its own behind an interval
        ("a++", Row((Repeat(A, 1, None), Ahead(A, negated=True)))),
        ("ba?+", Row((B, Choice((A, Ahead(A, negated=True)))))),
        ("(?>a+)b", Row((Row((Repeat(A, 1, None), Ahead(A, negated=True))), B))),
        ("(?i:'S)", Row((characters("(?i:')"), characters("(?i:S)")))),
        ("(?i:[a-c])", characters("(?i:[a-c])")),
        ("a$", Row((A, Ahead(characters("."), negated=True)))),
        (r"a\z", Row((A, Ahead(characters(r"[\s\S]"), negated=True)))),
        ("中\n", Row((characters("中"), characters("\n")))),
    ],
)
def test_what_is_read(expression: str, tree: Tree) -> None:
    assert parse(expression) == tree


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("", "also finds nothing"),
        ("a*", "also finds nothing"),
        ("a|(?!b)", "also finds nothing"),
        ("(a", "the group at 0 has no end"),
        ("a)b", r"'\)' at 1 closes nothing"),
        ("(" * 33 + "a" + ")" * 33, "more than 32 groups in each other"),
        ("[a", "the class at 0 has no end"),
        ("*a", r"'\*' at 0"),
        ("a**", "two signs of repetition, at 2"),
        ("a{2}?", "two signs of repetition"),
        ("a{2,1}", "at least 2 and at most 1"),
        ("a{300}", "more than 256 repetitions"),
        ("a{,}", "'{,}' at 1"),
        ("a{b}", "'{' at 1"),
        ("(a?)+b", "a repetition of what may be empty"),
        ("(ab)++", "a possessive repetition of more than one character"),
        ("(?>ab)", "the atomic group at 0"),
        ("(?<=a)b", r"'\(\?<' at 0"),
        ("(?<!a)b", r"'\(\?<' at 0"),
        ("a(?=bc)", "looks at more than one character"),
        ("(?i)a", r"'\(\?i' at 0"),
        ("(?i:ss)", "two letters where case is ignored"),
        ("(?i:é)", "é where case is ignored"),
        (r"(?i:\p{L})", "where case is ignored"),
        ("(?i:(?:a))", "the group at 4 where case is ignored"),
        (r"a\b", r"'\\b' at 1"),
        (r"(a)\1", r"'\\1' at 3"),
        ("^a", r"'\^' at 0"),
        ("a\\", r"'\\' at 1"),
    ],
)
def test_what_is_refused(expression: str, message: str) -> None:
    with pytest.raises(NotSupported, match=message):
        parse(expression)


def test_texts_as_they_are() -> None:
    assert literal("a.") == Row((A, characters(r"\.")))
    assert not may_be_empty(literal("a"))
    assert may_be_empty(literal(""))
