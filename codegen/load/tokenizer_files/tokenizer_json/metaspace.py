# SPDX-License-Identifier: Apache-2.0
"""The pre-tokenizers of tokenizer.json in front of models over characters: Metaspace as SentencePiece's have it, maybe
behind those that part a text at single characters, or these alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from ....ir.split_spec import CharacterSplit
from ....ir.tokenizer_spec import METASPACE, MetaspaceSegmenter, Prepend, SplitSegmenter, WordSegmenter
from ...refusal import refusal, shown
from .character_splits import KINDS, last_kind, listed_parts, read_splits
from .fields import FILE, only_fields

_KNOWN = {"type", "replacement", "prepend_scheme", "split", "add_prefix_space", "str_rep"}
_SCHEMES: tuple[Literal["never", "first", "always"], ...] = ("never", "first", "always")


def read_character_segmenter(value: object) -> MetaspaceSegmenter | SplitSegmenter:
    """The value of `pre_tokenizer`: a row that ends in Metaspace, or has none."""
    parts = listed_parts(value, *KINDS, "Metaspace")
    if any(part["type"] == "Metaspace" for part in parts[:-1]):
        message = "Metaspace is supported as the last pre-tokenizer of a row, and once"
        raise refusal("tokenizer-pre-tokenizer", message, file=FILE)
    if last_kind(value) != "Metaspace":
        if not parts:
            raise refusal("tokenizer-pre-tokenizer", "no pre-tokenizer makes words: Metaspace would", file=FILE)
        return SplitSegmenter(read_splits(parts), WordSegmenter(add_prefix_space=False, whole_words=False))
    *front, last = parts
    metaspace, splits = _metaspace(last), read_splits(front)
    if splits in ((), (CharacterSplit("WhitespaceSplit", "removed"),)):
        return replace(metaspace, split_whitespace=bool(splits))
    return SplitSegmenter(splits, metaspace)


def prepend_of(segmenter: object) -> Prepend | None:
    """Before which words U+2581 is put; None where words are not made so."""
    inner = segmenter.inner if isinstance(segmenter, SplitSegmenter) else segmenter
    return inner.prepend if isinstance(inner, MetaspaceSegmenter) else None


def _metaspace(part: dict[str, Any]) -> MetaspaceSegmenter:
    """Older files say `add_prefix_space` instead of `prepend_scheme`."""
    only_fields(part, "pre_tokenizer", _KNOWN, required={"replacement"})
    if part["replacement"] != METASPACE or part.get("str_rep", METASPACE) != METASPACE:
        message = f"Metaspace with {shown(part['replacement'])} instead of U+2581 is not supported"
        raise refusal("tokenizer-pre-tokenizer", message, file=FILE)
    split = part.get("split", True)
    if not isinstance(split, bool):
        raise refusal("tokenizer-type", f"pre_tokenizer.split must be true/false, got {shown(split)}", file=FILE)
    return MetaspaceSegmenter(_scheme(part), split, split_whitespace=False)


def _scheme(part: dict[str, Any]) -> Literal["never", "first", "always"]:
    has_prefix = part.get("add_prefix_space")
    scheme = part.get("prepend_scheme", "always")
    if scheme not in _SCHEMES:
        message = f"pre_tokenizer.prepend_scheme is {shown(scheme)} (supported: {', '.join(_SCHEMES)})"
        raise refusal("tokenizer-type", message, file=FILE)
    if has_prefix not in (None, True, False) or (has_prefix is False and scheme != "never"):
        message = f"pre_tokenizer.add_prefix_space is {shown(has_prefix)}, prepend_scheme {shown(scheme)}"
        raise refusal("tokenizer-setting", message, file=FILE)
    return scheme
