# SPDX-License-Identifier: Apache-2.0
"""The tables of steps in a row, each of which may be missing."""

from __future__ import annotations

import string
from dataclasses import fields

import numpy as np

from ..ir.normalizer_spec import Folds, RunRule, SequenceNormalizer
from .fields import Field, Part, boolean, unsigned
from .folding import FoldingTables, compile_folding
from .normal_form import compile_normal_form

Arrays = tuple[tuple[str, np.ndarray], ...]

# Its streams are stages within stages, and looking ahead copies them.
_STACK = 10_240
_FOLDING_ARRAYS = ("top", "middle", "leaves", "folded")
_FORM_ARRAYS = ("top", "middle", "leaves", "entries", "texts", "pairs")


def folding_field(name: str, folds: Folds | None, prefix: str = "") -> tuple[Field, Arrays]:
    """The initializer of an `etch::Folding`, and its arrays, whose names get a prefix."""
    tables = None if folds is None else compile_folding(folds.steps)
    return tables_field(name, tables, prefix, joins_quotes=folds is not None and folds.joins_quotes)


def tables_field(
    name: str, tables: FoldingTables | None, prefix: str, *, joins_quotes: bool = False
) -> tuple[Field, Arrays]:
    """The same of tables."""
    if tables is None:
        nothing = (Field(array, literal="nullptr") for array in _FOLDING_ARRAYS)
        return Field(name, group=(*nothing, boolean("decomposes_hangul", False), boolean("joins_quotes", False))), ()
    arrays = tuple((f"{prefix}{array}", getattr(tables, array)) for array in _FOLDING_ARRAYS)
    group = (
        *(Field(array, array=f"{prefix}{array}") for array in _FOLDING_ARRAYS),
        boolean("decomposes_hangul", tables.decomposes_hangul),
        boolean("joins_quotes", joins_quotes),
    )
    return Field(name, group=group), arrays


def compile_sequence(spec: SequenceNormalizer) -> Part:
    parts: list[Field] = []
    arrays: list[tuple[str, np.ndarray]] = []
    for field in fields(spec):
        value, kind = getattr(spec, field.name), field.name.rpartition("_")[2]
        if kind == "folding":
            part, more = folding_field(field.name, value, f"{field.name}_")
        elif kind == "form":
            part, more = _form(value)
        else:
            part, more = (_strip if kind == "strip" else _run)(field.name, value), ()
        parts.append(part)
        arrays += more
    plain = _plain(spec)
    letters_stay = all(plain[ord(letter)] == ord(letter) for letter in string.ascii_letters)
    parts += [Field("plain", array="plain"), boolean("letters_stay", letters_stay)]
    return Part("SequenceNormalizer", tuple(parts), (*arrays, ("plain", plain)), stack_bytes=_STACK)


def _form(form: str | None) -> tuple[Field, Arrays]:
    if form is not None:
        group, arrays = compile_normal_form(form)
        return Field("form", group=group), arrays
    nothing = (Field(array, literal="nullptr") for array in _FORM_ARRAYS)
    return Field("form", group=(*nothing, unsigned("pair_count", 0), boolean("composes", False))), ()


def _strip(name: str, sides: tuple[bool, bool]) -> Field:
    left, right = sides
    return Field(name, group=(boolean("left", left), boolean("right", right)))


def _run(name: str, rule: RunRule | None) -> Field:
    of, least, content = (rule.of, rule.least, rule.content) if rule is not None else (None, 0, "")
    numbers = {"of": ord(of or "\0"), "least": least, "content": ord(content or "\0")}
    return Field(name, group=tuple(unsigned(key, value) for key, value in numbers.items()))


def _plain(spec: SequenceNormalizer) -> np.ndarray:
    """As `etch::SequenceNormalizer` has it: no normal form changes ASCII."""
    every = [getattr(spec, field.name) for field in fields(spec)]
    quotes = "`'" if any(isinstance(step, Folds) and step.joins_quotes for step in every) else ""
    plain = np.zeros(128, np.uint8)
    for byte in range(0x20, 0x7F):
        text = chr(byte)
        for step in every:
            if isinstance(step, Folds):
                becomes = compile_folding(step.steps).ascii
                text = "".join(becomes.get(ord(c), "\0") for c in text)
            elif isinstance(step, RunRule) and text == " " and (step.least == 1 or not step.content):
                text = step.content
        if len(text) == 1 and 0x20 <= ord(text) < 0x7F and (text == " ") == (byte == 0x20) and chr(byte) not in quotes:
            plain[byte] = ord(text)
    return plain
