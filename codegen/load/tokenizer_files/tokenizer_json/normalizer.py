# SPDX-License-Identifier: Apache-2.0
"""The normalizer of a tokenizer.json that comes from SentencePiece: a compiled map, and steps around it."""

from __future__ import annotations

import base64
from itertools import takewhile
from typing import Any

from ....ir.normalizer_spec import CharsmapNormalizer, FoldingNormalizer
from ....ir.tokenizer_spec import METASPACE
from ...refusal import refusal, shown
from ..charsmap import charsmap_halves
from .fields import FILE, only_fields, typed

FOLDS = ("NFD", "NFKD", "StripAccents", "Lowercase")
STEPS = ("Precompiled", "Strip", "Replace", *FOLDS)
_RUN = {"Regex": " {2,}"}
_RUN_CONTENTS = (" ", METASPACE)


def before_charsmap(steps: list[dict[str, Any]]) -> int:
    """How many steps stand before a compiled map and the Strip that may be next to it: 0 without a map."""
    kinds = [step["type"] for step in steps]
    at = kinds.index("Precompiled") if "Precompiled" in kinds else 0
    return at - (at > 0 and kinds[at - 1] == "Strip")


def read_sentencepiece_steps(steps: list[dict[str, Any]]) -> CharsmapNormalizer | FoldingNormalizer:
    """What is done to each character, if anything, then SentencePiece's steps: each may be missing."""
    quotes = [quote_of(step) for step in steps[:2]]
    joins_quotes = quotes == ["``", "''"]
    steps = steps[2:] if joins_quotes else steps
    folds = list(takewhile(lambda step: step["type"] in FOLDS, steps))
    rest = charsmap_of(steps[len(folds) :])
    if not folds and not joins_quotes:
        return rest
    return FoldingNormalizer(joins_quotes, read_folds(folds), rest)


def is_sentencepiece(steps: list[dict[str, Any]]) -> bool:
    """Whether they are read so: with a compiled map, or in the kinds and the order that such files have."""
    kinds = [step["type"] for step in steps]
    if "Precompiled" in kinds:
        return True
    at = 2 if [quote_of(step) for step in steps[:2]] == ["``", "''"] else 0
    folds = list(takewhile(lambda step: step["type"] in FOLDS, steps[at:]))
    rest = steps[at + len(folds) :]
    in_order = [step["type"] for step in rest] in ([], ["Strip"], ["Replace"], ["Strip", "Replace"])
    runs = all(step.get("pattern") == _RUN and step.get("content") in _RUN_CONTENTS for step in rest[-1:])
    return in_order and folds_alone(folds) and (runs or kinds[-1] == "Strip")


def quote_of(step: dict[str, Any]) -> str | None:
    """What a step replaces by a quotation mark, if it does."""
    pattern = step.get("pattern")
    is_quote = step["type"] == "Replace" and set(step) == {"type", "pattern", "content"} and step["content"] == '"'
    return pattern.get("String") if is_quote and isinstance(pattern, dict) and len(pattern) == 1 else None


def read_folds(steps: list[dict[str, Any]]) -> tuple[str, ...]:
    """The types of steps that are of FOLDS, if they do to a text what they do to each of its characters."""
    for step in steps:
        only_fields(step, "normalizer", {"type"})
    if not folds_alone(steps):
        message = "normalizers 'NFD' and 'NFKD' are supported here with StripAccents behind them only"
        raise refusal("tokenizer-normalizer", message, file=FILE)
    return tuple(step["type"] for step in steps)


def folds_alone(steps: list[dict[str, Any]]) -> bool:
    """Whether what is decomposed loses its accents: then each character is changed by itself."""
    kinds = [step["type"] for step in steps]
    behind = [next((later for later in kinds[i + 1 :] if later != "Lowercase"), None) for i in range(len(kinds))]
    return all(
        kind not in ("NFD", "NFKD") or later == "StripAccents" for kind, later in zip(kinds, behind, strict=True)
    )


def charsmap_of(steps: list[dict[str, Any]]) -> CharsmapNormalizer:
    """White space stripped, the map, white space stripped, runs of spaces made one character."""
    charsmap: bytes | None = None
    strips = [(False, False), (False, False)]
    run_content: str | None = None
    has_map = any(step["type"] == "Precompiled" for step in steps)
    reached = -1
    for step in steps:
        kind = step["type"]
        place = {"Precompiled": 1, "Replace": 3, "Strip": 0 if reached < 0 and has_map else 2}.get(kind, -1)
        if place <= reached:
            message = f"normalizer {shown(kind)} at this place is not supported (in this order: {', '.join(_ORDER)})"
            raise refusal("tokenizer-normalizer", message, file=FILE)
        reached = place
        if kind == "Precompiled":
            charsmap = _charsmap(step)
        elif kind == "Strip":
            strips[place // 2] = strip_of(step)
        else:
            run_content = _run_content(step)
    return CharsmapNormalizer(strips[0], charsmap, strips[1], run_content)


_ORDER = (*FOLDS, "Strip", "Precompiled", "Strip", "Replace of ' {2,}'")


def listed_steps(value: object, *types: str) -> list[dict[str, Any]]:
    """The steps of a normalizer, each of one of `types`, sequences within sequences included."""
    if value is None:
        return []
    if isinstance(value, dict) and value.get("type") == "Sequence":
        return [step for one in listed_in(value) for step in listed_steps(one, *types)]
    return [typed(value, "normalizer", *types)]


def listed_in(sequence: dict[str, Any]) -> list[Any]:
    """What a Sequence holds."""
    only_fields(sequence, "normalizer", {"type", "normalizers"}, required={"normalizers"})
    inner = sequence["normalizers"]
    if not isinstance(inner, list):
        raise refusal("tokenizer-type", "normalizer.normalizers must be a list", file=FILE)
    return inner


def _charsmap(step: dict[str, Any]) -> bytes:
    only_fields(step, "normalizer", {"type", "precompiled_charsmap"}, required={"precompiled_charsmap"})
    text = step["precompiled_charsmap"]
    try:
        blob = base64.b64decode(text, validate=True)
    except (TypeError, ValueError):
        raise refusal("tokenizer-type", f"precompiled_charsmap must be Base64, got {shown(text)}", file=FILE) from None
    charsmap_halves(blob)
    return blob


def strip_of(step: dict[str, Any]) -> tuple[bool, bool]:
    """Whether a Strip takes white space from the left and from the right end."""
    known = {"type", "strip_left", "strip_right"}
    only_fields(step, "normalizer", known, required=known)
    sides = step["strip_left"], step["strip_right"]
    if not all(isinstance(side, bool) for side in sides):
        raise refusal("tokenizer-type", "normalizer.strip_left and .strip_right must be true/false", file=FILE)
    return sides


def _run_content(step: dict[str, Any]) -> str:
    known = {"type", "pattern", "content"}
    only_fields(step, "normalizer", known, required=known)
    if step["pattern"] != _RUN or step["content"] not in _RUN_CONTENTS:
        message = "normalizer 'Replace' is supported of ' {2,}' by a space or U+2581 only"
        raise refusal("tokenizer-normalizer", message, file=FILE)
    return step["content"]
