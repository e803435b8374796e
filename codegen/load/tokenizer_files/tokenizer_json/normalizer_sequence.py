# SPDX-License-Identifier: Apache-2.0
"""A normalizer of tokenizer.json that is several steps in a row: normal forms, what becomes of single characters, runs
of white space, and the ends of a text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, Literal

from ....ir.normalizer_spec import Folds, RunRule, SequenceNormalizer
from ...refusal import refusal, shown
from .fields import FILE, only_fields
from .normalizer import FOLDS, quote_of, strip_of

FORMS = ("NFC", "NFD", "NFKC", "NFKD")
STEPS = (*FORMS, "StripAccents", "Lowercase", "Nmt", "Strip", "Replace", "BertNormalizer")
_SPACE, _WHITE_SPACE = " ", None
# What an expression finds as runs, and the characters that it finds alone; the first of two that fit counts.
_RUNS: dict[str, tuple[str | None, Literal[1, 2], str | None]] = {
    " {2,}": (_SPACE, 2, None),
    " +": (_SPACE, 1, None),
    r"\s{2,}": (_WHITE_SPACE, 2, None),
    r"\s+": (_WHITE_SPACE, 1, None),
    r"\s{2,}|[\n\r\t]": (_WHITE_SPACE, 2, r"[\n\r\t]"),
}
# One character, whichever: a class without another one in it, an escape, or itself.
ONE_CHARACTER = re.compile(r"\[(?:[^\[\]\\]|\\.)+\]|\\[sdwnrt]|\\p\{\w+\}|[^\\\[\](){}.*+?^$|]", re.DOTALL)
_BERT = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")

Step = tuple[str, Any]  # kind of a field of SequenceNormalizer, and its value


def read_sequence(steps: list[dict[str, Any]]) -> SequenceNormalizer:
    """Each step at the first place where it can stand behind the one before it."""
    places = [(field.name, field.name.rpartition("_")[2]) for field in fields(SequenceNormalizer)]
    placed: dict[str, Any] = {}
    for kind, value in _joined(_read(steps)):
        while places and places[0][1] != kind:
            del places[0]
        if not places:
            names = ", ".join(step["type"] for step in steps)
            message = f"normalizers in this order are not supported: {names}"
            raise refusal("tokenizer-normalizer", message, file=FILE)
        placed[places.pop(0)[0]] = value
    return SequenceNormalizer(**placed)


def _joined(steps: Iterator[Step]) -> Iterator[Step]:
    """Neighbours that are about single characters as one, if quotation marks are joined before all of them."""
    held: Folds | None = None
    for kind, value in steps:
        if kind == "folding" and held is not None and not value.joins_quotes:
            held = Folds(held.joins_quotes, held.steps + value.steps)
            continue
        if held is not None:
            yield "folding", held
        held = value if kind == "folding" else None
        if kind != "folding":
            yield kind, value
    if held is not None:
        yield "folding", held


def _read(steps: list[dict[str, Any]]) -> Iterator[Step]:
    at = 0
    while at < len(steps):
        if [quote_of(step) for step in steps[at : at + 2]] == ["``", "''"]:
            yield "folding", Folds(joins_quotes=True, steps=())
            at += 2
            continue
        step, following = steps[at], steps[at + 1 :]
        kind = step["type"]
        if kind == "Strip":
            yield "strip", strip_of(step)
        elif kind == "Replace":
            yield from _replace(step)
        elif kind == "BertNormalizer":
            yield from _bert(step)
        else:
            only_fields(step, "normalizer", {"type"})
            behind = next((later["type"] for later in following if later["type"] != "Lowercase"), None)
            if kind in FORMS and not (kind in FOLDS and behind == "StripAccents"):
                yield "form", kind
            else:
                yield "folding", Folds(joins_quotes=False, steps=(kind,))
        at += 1


def _replace(step: dict[str, Any]) -> Iterator[Step]:
    known = {"type", "pattern", "content"}
    only_fields(step, "normalizer", known, required=known)
    pattern, content = step["pattern"], step["content"]
    kind, text = next(iter(pattern.items())) if isinstance(pattern, dict) and len(pattern) == 1 else (None, None)
    if not isinstance(content, str) or not isinstance(text, str) or kind not in ("String", "Regex"):
        raise refusal("tokenizer-type", f"normalizer.pattern and .content: {shown(step)}", file=FILE)
    if "\0" in content:  # the runtime's word for nothing
        raise _unsupported("Replace by U+0000")
    alone: str | None = text
    if kind == "Regex" and text in _RUNS:
        of, least, alone = _RUNS[text]
        if len(content) > 1:
            raise _unsupported(f"Replace of runs by {shown(content)}: one character or none")
        yield "run", RunRule(of, least, content)
    if alone is None:
        return
    if not (ONE_CHARACTER.fullmatch(alone) if kind == "Regex" else len(alone) == 1):
        raise _unsupported(f"Replace of {shown(text)}: one character, runs of white space, or quotation marks of two")
    pattern = {kind: alone}
    text = json.dumps({"type": "Replace", "pattern": pattern, "content": content})
    yield "folding", Folds(joins_quotes=False, steps=(text,))


def _bert(step: dict[str, Any]) -> Iterator[Step]:
    """Its parts: stripping accents decomposes the text, which no character does by itself."""
    only_fields(step, "normalizer", {"type", *_BERT}, required=set(_BERT) - {"strip_accents"})
    if any(step.get(key) not in ((True, False, None) if key == "strip_accents" else (True, False)) for key in _BERT):
        raise refusal("tokenizer-type", "the settings of BertNormalizer must be true/false", file=FILE)
    if step["handle_chinese_chars"]:
        raise _unsupported("BertNormalizer with handle_chinese_chars beside other normalizers")
    strips = step["lowercase"] if step.get("strip_accents") is None else step["strip_accents"]
    yield "folding", _bert_part(clean_text=step["clean_text"])
    if strips:
        yield "form", "NFD"
        yield "folding", _bert_part(strip_accents=True)
    if step["lowercase"]:
        yield "folding", _bert_part(lowercase=True)


def _bert_part(**settings: bool) -> Folds:
    part = {"type": "BertNormalizer", **dict.fromkeys(_BERT, False), **settings}
    return Folds(joins_quotes=False, steps=(json.dumps(part),))


def _unsupported(message: str) -> Exception:
    return refusal("tokenizer-normalizer", f"{message} is not supported", file=FILE)
