# SPDX-License-Identifier: Apache-2.0
"""The pre-tokenizers of tokenizer.json that part a text by expressions, in a row, maybe among those that part it at
single characters. What of their syntax is read: `expressions/syntax.py`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from ....expressions.syntax import Characters, NotSupported, Repeat, literal, parse
from ....ir.split_spec import CharacterSplit, ExpressionLevel, ExpressionSegmenter
from ...refusal import refusal, shown
from .character_splits import is_of_characters, read_behavior, read_splits
from .fields import FILE, only_fields

_LONGEST = 4096


def read_expressions(parts: Sequence[dict[str, Any]]) -> ExpressionSegmenter:
    """Of parts that are of `character_splits.KINDS`."""
    levels = tuple(level for part in parts for level in _levels(part))
    return ExpressionSegmenter(levels, json.dumps({"type": "Sequence", "pretokenizers": list(parts)}))


def _levels(part: dict[str, Any]) -> Iterator[ExpressionLevel]:
    if is_of_characters(part):
        yield from map(_of_characters, read_splits([part]))
        return
    known = {"type", "pattern", "behavior", "invert"}
    only_fields(part, "pre_tokenizer", known, required=known)
    kind, text = next(iter(part["pattern"].items()))
    cut, inverted = read_behavior(part), part["invert"]
    if not isinstance(inverted, bool):
        raise refusal("tokenizer-type", f"pre_tokenizer.invert must be true/false, got {shown(inverted)}", file=FILE)
    if cut not in ("isolated", "removed"):
        raise _not_supported(text, f"the behavior {part['behavior']}, only Isolated and Removed are")
    if not 0 < len(text) <= _LONGEST:
        raise _not_supported(text, f"{len(text)} characters, at most {_LONGEST} are")
    try:
        tree = parse(text) if kind == "Regex" else literal(text)
    except NotSupported as error:
        raise _not_supported(text, str(error)) from None
    yield ExpressionLevel(tree, "others_removed" if inverted and cut == "removed" else cut)


def _of_characters(split: CharacterSplit) -> ExpressionLevel:
    one = Characters(split.of)
    if split.cut in ("isolated", "removed", "others_removed"):
        return ExpressionLevel(one, split.cut)
    if split.cut == "contiguous":
        return ExpressionLevel(Repeat(one, 1, None), "isolated")
    raise _not_supported(split.of, "characters that stay with a neighbour, beside a Split by an expression")


def _not_supported(text: str, what: str) -> Exception:
    return refusal("tokenizer-pre-tokenizer", f"Split by {shown(text)} is not supported: {what}", file=FILE)
