# SPDX-License-Identifier: Apache-2.0
"""The tables of Splits by expressions, in the order of `etch::ExpressionSegmenter`.

Scalars of which all sets of all expressions think the same are a class; the wheel is asked which scalars a set has. The
automata that are made of the expressions are then compared with the wheel's own engine, on texts that they walk."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from tokenizers import Tokenizer
from tokenizers.pre_tokenizers import PreTokenizer

from ..errors import EtchError
from ..expressions.automaton import START, Automaton, automaton_of
from ..expressions.levels import Front, Level, front_of, is_steady, words_of
from ..expressions.syntax import Ahead, Characters, Choice, NotSupported, Repeat, Tree
from ..ir.split_spec import ExpressionSegmenter
from .character_sets import Arrays, class_tables, members
from .fields import Field, Part, unsigned
from .unicode_probe import SURROGATES

_MOST_SETS = 62
_MOST_CLASSES = 255
_FLAG, _DROPPED = 0x8000, 0x4000  # as in etch::ExpressionSegmenter
_TEXTS, _LENGTH = 1500, 12
_OF_A_CLASS = 3  # characters that stand for it

# What Oniguruma takes for two letters where case is ignored. Which expressions it does so in is for the wheel to say.
_LIGATURES = {"ss": "ß", "ff": "ﬀ", "fi": "ﬁ", "fl": "ﬂ", "st": "ﬆ"}
_LETTER_PAIR = re.compile("|".join(_LIGATURES), re.IGNORECASE)

_EVERYTHING = Repeat(Characters(json.dumps({"Regex": r"[\s\S]"})), 1, None)


@dataclass(frozen=True)
class _Machine:
    class_of: np.ndarray  # of each scalar, from 1 on; END is 0
    class_count: int
    front: Front | None
    words: Automaton


@cache
def compile_expressions(spec: ExpressionSegmenter) -> Part:
    """Of one row of Splits once: a search for a form makes the tables of many vocabularies."""
    try:
        machine = _machine(spec)
    except NotSupported as error:
        raise _refused(str(error)) from None
    _check_against_wheel(machine, spec)
    return _tables(machine)


def _machine(spec: ExpressionSegmenter) -> _Machine:
    trees = [level.of for level in spec.levels]
    class_of, classes_of, count = _classes([*trees, _EVERYTHING])
    levels = [
        Level(
            automaton_of(level.of, classes_of, count),
            drops_found=level.cut == "removed",
            drops_others=level.cut == "others_removed",
        )
        for level in spec.levels
    ]
    words = None if levels[-1].drops else levels.pop().automaton
    if not all(is_steady(level.automaton) for level in levels):
        raise NotSupported("one before the last, or one that drops text, may read on behind what it finds")
    return _Machine(
        class_of,
        count,
        front_of(levels, count) if levels else None,
        words or automaton_of(_EVERYTHING, classes_of, count),
    )


def _classes(trees: list[Tree]) -> tuple[np.ndarray, dict[str, frozenset[int]], int]:
    """The class of each scalar, the classes of each set, and how many there are with END."""
    sets = list(dict.fromkeys(found for tree in trees for found in _sets(tree)))
    if len(sets) > _MOST_SETS:
        raise NotSupported(f"{len(sets)} sets of characters, at most {_MOST_SETS}")
    codes = np.zeros(0x110000, np.int64)
    for bit, one in enumerate(sets):
        try:
            codes |= members(one).astype(np.int64) << bit
        except Exception as error:  # the wheel has one type for all that it does not read
            raise NotSupported(f"{one} is not read by tokenizers: {error}") from None
    codes[SURROGATES] = codes[SURROGATES.start - 1]
    kinds, class_of = np.unique(codes, return_inverse=True)
    if len(kinds) > _MOST_CLASSES:
        raise NotSupported(f"{len(kinds)} classes of characters, at most {_MOST_CLASSES}")
    classes_of = {one: frozenset(np.flatnonzero(kinds >> bit & 1) + 1) for bit, one in enumerate(sets)}
    return class_of + 1, classes_of, len(kinds) + 1


def _sets(tree: Tree) -> Iterator[str]:
    if isinstance(tree, Characters):
        yield tree.of
    elif isinstance(tree, Ahead | Repeat):
        yield from _sets(tree.of)
    else:
        for part in tree.options if isinstance(tree, Choice) else tree.parts:
            yield from _sets(part)


def _tables(machine: _Machine) -> Part:
    """Classes between which no table makes a difference are one."""
    front = machine.front
    words = np.array(machine.words.next) | np.where(machine.words.found, _FLAG, 0)
    steps = [words]
    if front is not None:
        steps += [np.array(front.next) | np.where(front.parted, _FLAG, 0) | np.where(front.dropped, _DROPPED, 0)]
    _, first, kind_of = np.unique(np.concatenate(steps), axis=1, return_index=True, return_inverse=True)
    number = np.argsort(np.argsort(first, kind="stable"), kind="stable")[kind_of]  # by first appearance: END stays 0
    order = np.sort(first)
    of_classes, class_arrays = class_tables(number[machine.class_of])
    names = ("word_steps", "front_steps")[: len(steps)]
    arrays: Arrays = (
        *class_arrays,
        *((name, table[:, order].astype(np.uint16).ravel()) for name, table in zip(names, steps, strict=True)),
    )
    fields = (
        of_classes,
        Field("front_steps", literal="nullptr") if front is None else Field("front_steps", array="front_steps"),
        Field("word_steps", array="word_steps"),
        unsigned("class_count", len(order)),
    )
    return Part("ExpressionSegmenter", fields, arrays)


def _check_against_wheel(machine: _Machine, spec: ExpressionSegmenter) -> None:
    """Raises where the wheel parts one of some texts otherwise."""
    wheel = _wheel(spec)
    stand_for, source = _characters(machine), random.Random(1)
    walked = [_walked(machine, stand_for, source) for _ in range(_TEXTS)]
    ligated = [_LETTER_PAIR.sub(lambda found: _LIGATURES[found[0].casefold()], text) for text in walked]
    for text in dict.fromkeys((*walked, *ligated)):
        expected = [place for _, place in wheel.pre_tokenize_str(text)]
        if list(_parts(machine, text)) != expected:
            raise _refused(f"tokenizers parts {text!r} otherwise than these expressions are read here")


def _wheel(spec: ExpressionSegmenter) -> PreTokenizer:
    described = {"version": "1.0", "pre_tokenizer": json.loads(spec.json)}
    described["model"] = {"type": "WordLevel", "vocab": {}, "unk_token": ""}
    try:
        return Tokenizer.from_str(json.dumps(described)).pre_tokenizer
    except Exception as error:  # as above
        raise _refused(f"they are not read by tokenizers: {error}") from None


def _characters(machine: _Machine) -> list[list[str]]:
    """Of each class some: the first, the last, and what lies between."""
    found: list[list[str]] = [[]]
    for one in range(1, machine.class_count):
        scalars = np.flatnonzero(machine.class_of == one)
        places = np.linspace(0, len(scalars) - 1, _OF_A_CLASS).astype(int)
        found.append([chr(scalar) for scalar in scalars[places]])
    return found


def _walked(machine: _Machine, stand_for: list[list[str]], source: random.Random) -> str:
    """A text whose characters lead on more often than not."""
    state, text = START, ""
    for _ in range(source.randint(1, _LENGTH)):
        row = machine.words.next[state]
        on = [one for one in range(1, machine.class_count) if row[one]]
        one = source.choice(on) if on and source.random() < 0.7 else source.randrange(1, machine.class_count)
        text += source.choice(stand_for[one])
        state = row[one] or machine.words.next[START][one] or START
    return text


def _parts(machine: _Machine, text: str) -> Iterator[tuple[int, int]]:
    """The places of the words."""
    classes = [int(machine.class_of[ord(character)]) for character in text]
    begin, state = 0, 0
    for at, one in enumerate(classes):
        if machine.front is None:
            break
        if machine.front.parted[state][one]:
            yield from _words(machine.words, classes, begin, at)
            begin = at
        begin += machine.front.dropped[state][one]
        state = machine.front.next[state][one]
    yield from _words(machine.words, classes, begin, len(classes))


def _words(words: Automaton, classes: list[int], begin: int, end: int) -> Iterator[tuple[int, int]]:
    ends = [begin + at for at in words_of(words, classes[begin:end])]
    yield from zip([begin, *ends], ends, strict=False)


def _refused(what: str) -> EtchError:
    message = f"Splits by these expressions are not supported: {what}"
    return EtchError("tokenizer-pre-tokenizer", "front-end", message)
