# SPDX-License-Identifier: Apache-2.0
"""The pre-tokenizers of tokenizer.json that end in ByteLevel: alone, behind those that part a text at single
characters, or behind a Split with an expression that is known."""

from __future__ import annotations

import json
from typing import Any

from ..refusal import refusal, shown
from .character_splits import KINDS, last_kind, listed_parts, read_splits
from .tokenizer_json import FILE, only_fields
from .tokenizer_spec import (
    ByteLevelSegmenter,
    CharacterSplit,
    Cl100kSegmenter,
    ClipSegmenter,
    DigitsSegmenter,
    SplitSegmenter,
    WordSegmenter,
)

_CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN2_EXPRESSION = _CL100K % ""
# Those whose words the runtime finds, spelled as the files of models spell them.
_EXPRESSIONS = {
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+": ByteLevelSegmenter(False),
    _CL100K % "{1,3}": Cl100kSegmenter(3),  # Llama 3
    QWEN2_EXPRESSION: Cl100kSegmenter(1),
}
# CLIP's finds the words themselves. They are GPT-2's between white space, but that each number is one, and that behind
# the text of a special token another word begins, where the expression has those.
_CLIP = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
CLIP_EXPRESSION = r"<\|startoftext\|>|<\|endoftext\|>|" + _CLIP
_CLIP_SPLITS = (
    CharacterSplit(json.dumps({"Regex": r"\s"}), "removed"),
    CharacterSplit(json.dumps({"Regex": r"\p{N}"}), "isolated"),
)
_CLIP_WORDS = {
    _CLIP: SplitSegmenter(_CLIP_SPLITS, ByteLevelSegmenter(False)),  # in files before `transformers` 5
    CLIP_EXPRESSION: ClipSegmenter(_CLIP_SPLITS),
}
CLIP_SEGMENTERS = tuple(_CLIP_WORDS.values())

Segmenter = ByteLevelSegmenter | DigitsSegmenter | Cl100kSegmenter | ClipSegmenter | SplitSegmenter


def read_segmenter(value: object) -> Segmenter:
    """The value of `pre_tokenizer`."""
    parts = listed_parts(value, *KINDS, "ByteLevel")
    if last_kind(value) != "ByteLevel" or any(part["type"] == "ByteLevel" for part in parts[:-1]):
        raise _not_supported("ByteLevel is supported as the last pre-tokenizer of a row, and once")
    *front, last = parts
    add_prefix_space, use_regex = _byte_level(last)
    if len(front) == 1 and (of_clip := _of_clip(front[0])) is not None:
        if add_prefix_space or not use_regex:
            raise _not_supported("ByteLevel behind CLIP's expression is supported with its own and without spaces only")
        return of_clip
    if front and (known := _known(front[-1])) is not None:
        return _behind_expression(front[:-1], known, add_prefix_space, use_regex)
    if use_regex:
        inner = ByteLevelSegmenter(add_prefix_space)
        if not front:
            return inner
        if [part["type"] for part in front] == ["Digits"]:
            (digits,) = read_splits(front)
            return DigitsSegmenter(add_prefix_space, individual=digits.cut == "isolated")
        return SplitSegmenter(read_splits(front), inner)
    if not front:
        raise _not_supported("ByteLevel without its expression is supported behind pre-tokenizers that make words only")
    return SplitSegmenter(read_splits(front), WordSegmenter(add_prefix_space, whole_words=False))


def _byte_level(part: dict[str, Any]) -> tuple[bool, bool]:
    """Its add_prefix_space and use_regex."""
    known = {"type", "add_prefix_space", "trim_offsets", "use_regex"}
    only_fields(part, "pre_tokenizer", known, required=known - {"use_regex"})
    for key in known - {"type"}:
        if not isinstance(part.get(key, True), bool):
            message = f"pre_tokenizer.{key} must be true/false, got {shown(part[key])}"
            raise refusal("tokenizer-type", message, file=FILE)
    return part["add_prefix_space"], part.get("use_regex", True)


def _known(part: dict[str, Any]) -> ByteLevelSegmenter | Cl100kSegmenter | None:
    """Of a Split whose expression the runtime has."""
    found = _EXPRESSIONS.get(_expression(part))
    if found is not None and (part["behavior"] != "Isolated" or part["invert"] is not False):
        raise _not_supported("Split by this expression is supported with the behavior Isolated and without invert only")
    return found


def _of_clip(part: dict[str, Any]) -> ClipSegmenter | SplitSegmenter | None:
    """The same where the expression finds the words themselves."""
    found = _CLIP_WORDS.get(_expression(part))
    if found is not None and (part["behavior"] != "Removed" or part["invert"] is not True):
        raise _not_supported("Split by CLIP's expression is supported with the behavior Removed and with invert only")
    return found


def _expression(part: dict[str, Any]) -> str:
    """Of a Split, whose fields are checked if it is one that is known; else none."""
    pattern = part.get("pattern")
    expression = pattern.get("Regex") if isinstance(pattern, dict) else None
    if part["type"] != "Split" or not isinstance(expression, str):
        return ""
    if expression in _EXPRESSIONS or expression in _CLIP_WORDS:
        known = {"type", "pattern", "behavior", "invert"}
        only_fields(part, "pre_tokenizer", known, required=known)
    return expression


def _behind_expression(
    front: list[dict[str, Any]], words: ByteLevelSegmenter | Cl100kSegmenter, add_prefix_space: bool, use_regex: bool
) -> Segmenter:
    if add_prefix_space:
        raise _not_supported("add_prefix_space behind a Split with an expression is not supported")
    if use_regex:
        raise _not_supported("ByteLevel with an expression of its own behind a Split with one is not supported")
    if not front:
        return words
    if isinstance(words, Cl100kSegmenter):
        raise _not_supported("pre-tokenizers before a Split with this expression are supported with GPT-2's only")
    return SplitSegmenter(read_splits(front), words)


def _not_supported(message: str) -> Exception:
    return refusal("tokenizer-pre-tokenizer", message, file=FILE)
