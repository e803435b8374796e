# SPDX-License-Identifier: Apache-2.0
"""The pre-tokenizers of tokenizer.json that part a text at single characters, in any row: Whitespace, WhitespaceSplit,
BertPreTokenizer, Punctuation, Digits, CharDelimiterSplit, and Split by a character, by a class or by runs of one.

Whether a text is parted between two characters follows from these two alone. So the order of a row does not matter."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from ....ir.split_spec import CharacterSplit, Cut
from ...refusal import refusal, shown
from .fields import FILE, only_fields, typed
from .normalizer_sequence import ONE_CHARACTER

KINDS = (
    "Whitespace", "WhitespaceSplit", "BertPreTokenizer", "Punctuation", "Digits", "CharDelimiterSplit", "Split",
)  # fmt: skip
BEHAVIORS: dict[object, Cut] = {
    "Isolated": "isolated",
    "Contiguous": "contiguous",
    "Removed": "removed",
    "MergedWithPrevious": "with_previous",
    "MergedWithNext": "with_next",
}
_OF_RUNS: dict[Cut, Cut] = {
    "isolated": "contiguous",
    "with_previous": "run_with_previous",
    "with_next": "run_with_next",
}
# What is found becomes what lies between, which joins its other neighbour.
_INVERTED: dict[Cut, Cut] = {"with_previous": "with_next", "with_next": "with_previous"}


def listed_parts(value: object, *types: str) -> list[dict[str, Any]]:
    """The pre-tokenizers of a row, each of one of `types`, rows within rows included."""
    if not isinstance(value, dict) or value.get("type") != "Sequence":
        return [typed(value, "pre_tokenizer", *types, "Sequence")]
    only_fields(value, "pre_tokenizer", {"type", "pretokenizers"}, required={"pretokenizers"})
    if not isinstance(value["pretokenizers"], list):
        raise refusal("tokenizer-type", "pre_tokenizer.pretokenizers must be a list", file=FILE)
    return [part for one in value["pretokenizers"] for part in listed_parts(one, *types)]


def last_kind(value: object) -> object:
    """The type of a row's last pre-tokenizer; None where there is none."""
    if isinstance(value, dict) and value.get("type") == "Sequence" and isinstance(value.get("pretokenizers"), list):
        return last_kind(value["pretokenizers"][-1]) if value["pretokenizers"] else None
    return value.get("type") if isinstance(value, dict) else None


def read_splits(parts: Sequence[dict[str, Any]]) -> tuple[CharacterSplit, ...]:
    """Each once, of parts that are of KINDS."""
    return tuple(dict.fromkeys(split for part in parts for split in _read(part)))


def is_of_characters(part: dict[str, Any]) -> bool:
    """Whether a part of KINDS belongs into such a row: all but a Split by a longer text or by another expression."""
    pattern = part.get("pattern") if part["type"] == "Split" else None
    kind, text = next(iter(pattern.items())) if isinstance(pattern, dict) and len(pattern) == 1 else (None, None)
    if kind not in ("String", "Regex") or not isinstance(text, str):
        return True
    return len(text) == 1 if kind == "String" else ONE_CHARACTER.fullmatch(text.removesuffix("+")) is not None


def read_behavior(part: dict[str, Any]) -> Cut:
    """What becomes of the characters that are found."""
    behavior = part.get("behavior", "Isolated")
    if not isinstance(behavior, str) or behavior not in BEHAVIORS:
        raise refusal("tokenizer-type", f"pre_tokenizer.behavior is {shown(behavior)}", file=FILE)
    return BEHAVIORS[behavior]


def _read(part: dict[str, Any]) -> Iterator[CharacterSplit]:
    kind = typed(part, "pre_tokenizer", *KINDS)["type"]
    if kind == "Split":
        yield from _split(part)
        return
    known = {
        "Punctuation": {"behavior"},
        "Digits": {"individual_digits"},
        "CharDelimiterSplit": {"delimiter"},
    }.get(kind, set())
    only_fields(part, "pre_tokenizer", {"type", *known}, required=known - {"behavior"})
    if kind == "Whitespace":
        yield CharacterSplit("Whitespace", "removed")
        yield CharacterSplit("words", "contiguous")
    elif kind == "WhitespaceSplit":
        yield CharacterSplit("WhitespaceSplit", "removed")
    elif kind == "BertPreTokenizer":
        yield CharacterSplit("WhitespaceSplit", "removed")
        yield CharacterSplit("Punctuation", "isolated")
    elif kind == "Punctuation":
        yield CharacterSplit("Punctuation", read_behavior(part))
    elif kind == "Digits":
        yield CharacterSplit("Digits", "isolated" if _flag(part, "individual_digits") else "contiguous")
    else:
        yield CharacterSplit(_pattern({"String": part["delimiter"]})[0], "removed")


def _split(part: dict[str, Any]) -> Iterator[CharacterSplit]:
    known = {"type", "pattern", "behavior", "invert"}
    only_fields(part, "pre_tokenizer", known, required=known)
    cut, inverted = read_behavior(part), _flag(part, "invert")
    of, is_run = _pattern(part["pattern"])
    if inverted and cut == "removed":
        yield CharacterSplit(of, "others_removed")
        cut, inverted = "isolated", False
    cut = _INVERTED.get(cut, cut) if inverted else cut
    yield CharacterSplit(of, _OF_RUNS.get(cut, cut) if is_run else cut)


def _pattern(pattern: object) -> tuple[str, bool]:
    """What finds one of the characters, and whether runs of them are meant."""
    kind, text = next(iter(pattern.items())) if isinstance(pattern, dict) and len(pattern) == 1 else (None, None)
    if kind == "String" and isinstance(text, str) and len(text) == 1:
        return _described(kind, text), False
    if kind == "Regex" and isinstance(text, str):
        one = text.removesuffix("+")
        if ONE_CHARACTER.fullmatch(one):
            return _described(kind, one), one != text
    what = "one character, a class like [0-9], or runs of one are"
    message = f"Split by {shown(text or pattern)} is not supported at this place: {what}"
    raise refusal("tokenizer-pre-tokenizer", message, file=FILE)


def _described(kind: str, text: str) -> str:
    return json.dumps({kind: text})


def _flag(part: dict[str, Any], key: str) -> bool:
    if not isinstance(part[key], bool):
        raise refusal("tokenizer-type", f"pre_tokenizer.{key} must be true/false, got {shown(part[key])}", file=FILE)
    return part[key]
