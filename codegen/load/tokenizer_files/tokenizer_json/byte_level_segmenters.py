# SPDX-License-Identifier: Apache-2.0
"""The pre-tokenizers of tokenizer.json that end in ByteLevel: alone, behind those that part a text at single
characters, or behind Splits by expressions, of which some are known."""

from __future__ import annotations

import json
from typing import Any

from ....ir.split_spec import CharacterSplit, ExpressionSegmenter
from ....ir.tokenizer_spec import (
    ByteLevelSegmenter,
    Cl100kSegmenter,
    ClipSegmenter,
    DigitsSegmenter,
    SplitSegmenter,
    WordSegmenter,
)
from ...refusal import refusal, shown
from .character_splits import KINDS, is_of_characters, last_kind, listed_parts, read_splits
from .expression_splits import read_expressions
from .fields import FILE, only_fields

_CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
CL100K_EXPRESSION, QWEN2_EXPRESSION = _CL100K % "{1,3}", _CL100K % ""  # Llama 3's, Qwen 2's
QWEN3_5_EXPRESSION = (  # with marks beside letters
    QWEN2_EXPRESSION.replace(r"?\p{L}+", r"?[\p{L}\p{M}]+").replace(r"[^\s\p{L}\p{N}]", r"[^\s\p{L}\p{M}\p{N}]")
)
# Those whose words the runtime finds, spelled as the files of models spell them.
_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_EXPRESSIONS: dict[str, ByteLevelSegmenter | Cl100kSegmenter] = {
    _GPT2: ByteLevelSegmenter(False),
    CL100K_EXPRESSION: Cl100kSegmenter(3),
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
_CLIP_WORDS: dict[str, SplitSegmenter | ClipSegmenter] = {
    _CLIP: SplitSegmenter(_CLIP_SPLITS, ByteLevelSegmenter(False)),  # in files before `transformers` 5
    CLIP_EXPRESSION: ClipSegmenter(_CLIP_SPLITS),
}
CLIP_SEGMENTERS = tuple(_CLIP_WORDS.values())

Segmenter = (
    ByteLevelSegmenter | DigitsSegmenter | Cl100kSegmenter | ClipSegmenter | SplitSegmenter | ExpressionSegmenter
)


def read_segmenter(value: object) -> Segmenter:
    """The value of `pre_tokenizer`."""
    parts = listed_parts(value, *KINDS, "ByteLevel")
    if last_kind(value) != "ByteLevel" or any(part["type"] == "ByteLevel" for part in parts[:-1]):
        raise _not_supported("ByteLevel is supported as the last pre-tokenizer of a row, and once")
    *front, last = parts
    add_prefix_space, use_regex = _byte_level(last)
    if not all(map(is_of_characters, front)):
        if add_prefix_space:
            raise _not_supported("add_prefix_space behind a Split by an expression is not supported")
        return _known(front, use_regex) or read_expressions([*front, *[split_by(_GPT2)] * use_regex])
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


def split_by(expression: str, behavior: str = "Isolated", invert: bool = False) -> dict[str, Any]:
    """A Split as tokenizer.json has it."""
    return {"type": "Split", "pattern": {"Regex": expression}, "behavior": behavior, "invert": invert}


def _known(front: list[dict[str, Any]], use_regex: bool) -> Segmenter | None:
    """What the runtime has for these, which reads faster than any expression."""
    *before, words = front
    if use_regex:
        of_clip = (found for text, found in _CLIP_WORDS.items() if words == split_by(text, "Removed", invert=True))
        return next(of_clip, None) if not before else None
    known = next((found for text, found in _EXPRESSIONS.items() if words == split_by(text)), None)
    if known is None or not before:
        return known
    if isinstance(known, Cl100kSegmenter) or not all(map(is_of_characters, before)):
        return None
    return SplitSegmenter(read_splits(before), known)


def _not_supported(message: str) -> Exception:
    return refusal("tokenizer-pre-tokenizer", message, file=FILE)
