# SPDX-License-Identifier: Apache-2.0
"""The pre-tokenizer of a tokenizer.json that comes from SentencePiece: Metaspace, maybe behind WhitespaceSplit."""

from __future__ import annotations

from typing import Any, Literal

from .refusal import refusal, shown
from .tokenizer_json import FILE, only_fields, typed
from .tokenizer_spec import MetaspaceSegmenter

_KNOWN = {"type", "replacement", "prepend_scheme", "split", "add_prefix_space", "str_rep"}
_SCHEMES: tuple[Literal["never", "first", "always"], ...] = ("never", "first", "always")
METASPACE = "\u2581"


def is_metaspace(value: object) -> bool:
    """Whether a pre-tokenizer ends with Metaspace."""
    if isinstance(value, dict) and value.get("type") == "Sequence" and isinstance(value.get("pretokenizers"), list):
        return bool(value["pretokenizers"]) and is_metaspace(value["pretokenizers"][-1])
    return isinstance(value, dict) and value.get("type") == "Metaspace"


def read_metaspace(value: object) -> MetaspaceSegmenter:
    """Older files say `add_prefix_space` instead of `prepend_scheme`."""
    part = typed(value, "pre_tokenizer", "Metaspace", "Sequence")
    split_whitespace = False
    if part["type"] == "Sequence":
        only_fields(part, "pre_tokenizer", {"type", "pretokenizers"}, required={"pretokenizers"})
        inner = part["pretokenizers"]
        kinds = [one.get("type") if isinstance(one, dict) else one for one in inner] if isinstance(inner, list) else []
        if kinds not in (["WhitespaceSplit", "Metaspace"], ["Metaspace"]):
            message = "pre_tokenizer 'Sequence' is supported of WhitespaceSplit and Metaspace only"
            raise refusal("tokenizer-pre-tokenizer", message, file=FILE)
        split_whitespace = len(kinds) == 2
        if split_whitespace:
            only_fields(inner[0], "pre_tokenizer", {"type"})
        part = inner[-1]
    only_fields(part, "pre_tokenizer", _KNOWN, required={"replacement"})
    if part["replacement"] != METASPACE or part.get("str_rep", METASPACE) != METASPACE:
        message = f"Metaspace with {shown(part['replacement'])} instead of U+2581 is not supported"
        raise refusal("tokenizer-pre-tokenizer", message, file=FILE)
    split = part.get("split", True)
    if not isinstance(split, bool):
        raise refusal("tokenizer-type", f"pre_tokenizer.split must be true/false, got {shown(split)}", file=FILE)
    return MetaspaceSegmenter(_scheme(part), split, split_whitespace)


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
