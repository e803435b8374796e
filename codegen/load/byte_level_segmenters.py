# SPDX-License-Identifier: Apache-2.0
"""The pre-tokenizers of tokenizer.json that end in ByteLevel: alone, behind Digits, or behind a Split with an
expression that is known."""

from __future__ import annotations

from typing import Any

from .refusal import refusal, shown
from .tokenizer_json import FILE, only_fields, typed
from .tokenizer_spec import ByteLevelSegmenter, Cl100kSegmenter, DigitsSegmenter

_CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# Those whose words the runtime finds, spelled as the files of models spell them.
_EXPRESSIONS = {
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+": ByteLevelSegmenter(False),
    _CL100K % "{1,3}": Cl100kSegmenter(3),  # Llama 3
    _CL100K % "": Cl100kSegmenter(1),  # Qwen 2
}

Segmenter = ByteLevelSegmenter | DigitsSegmenter | Cl100kSegmenter


def read_segmenter(value: object) -> Segmenter:
    """The value of `pre_tokenizer`."""
    part = typed(value, "pre_tokenizer", "ByteLevel", "Sequence")
    if part["type"] == "ByteLevel":
        return ByteLevelSegmenter(_byte_level(part, use_regex=True))
    only_fields(part, "pre_tokenizer", {"type", "pretokenizers"}, required={"pretokenizers"})
    parts = part["pretokenizers"]
    if not isinstance(parts, list) or len(parts) != 2:
        raise _not_supported("a Sequence is supported of two pre-tokenizers only, the second one ByteLevel")
    first = typed(parts[0], "pre_tokenizer", "Split", "Digits")
    second = typed(parts[1], "pre_tokenizer", "ByteLevel")
    if first["type"] == "Digits":
        only_fields(first, "pre_tokenizer", {"type", "individual_digits"}, required={"individual_digits"})
        if not isinstance(first["individual_digits"], bool):
            raise refusal("tokenizer-type", "pre_tokenizer.individual_digits must be true/false", file=FILE)
        return DigitsSegmenter(_byte_level(second, use_regex=True), first["individual_digits"])
    if _byte_level(second, use_regex=False):
        raise _not_supported("add_prefix_space behind a Split is not supported")
    return _split(first)


def _byte_level(part: dict[str, Any], *, use_regex: bool) -> bool:
    """Its add_prefix_space."""
    known = {"type", "add_prefix_space", "trim_offsets", "use_regex"}
    only_fields(part, "pre_tokenizer", known, required=known - {"use_regex"})
    for key in ("add_prefix_space", "trim_offsets"):
        if not isinstance(part[key], bool):
            message = f"pre_tokenizer.{key} must be true/false, got {shown(part[key])}"
            raise refusal("tokenizer-type", message, file=FILE)
    if part.get("use_regex", True) is not use_regex:
        which = "without its expression" if use_regex else "with an expression of its own behind a Split"
        raise _not_supported(f"ByteLevel {which} is not supported")
    return bool(part["add_prefix_space"])


def _split(part: dict[str, Any]) -> Segmenter:
    known = {"type", "pattern", "behavior", "invert"}
    only_fields(part, "pre_tokenizer", known, required=known)
    if part["behavior"] != "Isolated" or part["invert"] is not False:
        raise _not_supported("Split is supported with the behavior Isolated and without invert only")
    pattern = part["pattern"]
    expression = pattern.get("Regex") if isinstance(pattern, dict) and len(pattern) == 1 else None
    if not isinstance(expression, str) or expression not in _EXPRESSIONS:
        raise _not_supported(f"Split by {shown(expression or pattern)} is not supported")
    return _EXPRESSIONS[expression]


def _not_supported(message: str) -> Exception:
    return refusal("tokenizer-pre-tokenizer", message, file=FILE)
