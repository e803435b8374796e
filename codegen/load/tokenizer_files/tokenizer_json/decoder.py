# SPDX-License-Identifier: Apache-2.0
"""The decoder of a tokenizer.json: how ids become a text again. Read only where a model writes texts."""

from __future__ import annotations

from typing import Any

from ....ir.target_tokenizer import DecoderSpec
from ...refusal import refusal, shown
from .fields import FILE, only_fields, typed

_TYPES = ("WordPiece", "ByteLevel", "Metaspace", "BPEDecoder", "Sequence", "Replace", "ByteFallback", "Fuse", "Strip")
MOST_SPACES = (1 << 31) - 1  # that a text may lose
_SCHEMES = {"always": True, "first": True, "never": False}


def read_decoder(value: object) -> DecoderSpec:
    """The value of `decoder`."""
    if value is None:
        return DecoderSpec(glued=False)
    decoder = typed(value, "decoder", *_TYPES)
    parts = decoder.get("decoders") if decoder["type"] == "Sequence" else [decoder]
    if decoder["type"] == "Sequence":
        only_fields(decoder, "decoder", {"type", "decoders"}, required={"decoders"})
    if not isinstance(parts, list) or not parts:
        raise refusal("tokenizer-type", "decoder.decoders must be a list of decoders", file=FILE)
    checked = [typed(part, "decoder", *_TYPES) for part in parts]
    kinds = [part["type"] for part in checked]
    if kinds == ["WordPiece"]:
        return _word_piece(checked[0])
    if kinds == ["ByteLevel"]:
        known = {"type", "add_prefix_space", "trim_offsets", "use_regex"}  # which say nothing here
        only_fields(checked[0], "decoder", known, required=set())
        return DecoderSpec(bytes=True)
    if kinds == ["Metaspace"]:
        return _metaspace(checked[0])
    if kinds == ["BPEDecoder"]:
        return _suffix(checked[0])
    return _sequence(checked, kinds)


def _word_piece(part: dict[str, Any]) -> DecoderSpec:
    only_fields(part, "decoder", {"type", "prefix", "cleanup"}, required={"prefix", "cleanup"})
    _check_types(part, prefix=str, cleanup=bool)
    if not part["prefix"]:
        raise refusal("tokenizer-decoder", "decoder.prefix is empty: every token would go on a word", file=FILE)
    return DecoderSpec(glued=False, prefix=part["prefix"], clean_up=part["cleanup"])


def _metaspace(part: dict[str, Any]) -> DecoderSpec:
    known = {"type", "replacement", "prepend_scheme", "split", "add_prefix_space", "str_rep"}
    only_fields(part, "decoder", known, required={"replacement"})
    _check_types(part, replacement=str)
    if len(part["replacement"]) != 1:
        raise refusal("tokenizer-type", "decoder.replacement must be one character", file=FILE)
    if "prepend_scheme" in part:
        if not isinstance(part["prepend_scheme"], str) or part["prepend_scheme"] not in _SCHEMES:
            message = f"decoder.prepend_scheme: {shown(part['prepend_scheme'])} is not supported"
            raise refusal("tokenizer-decoder", message, file=FILE)
        drops = _SCHEMES[part["prepend_scheme"]]
        if part.get("add_prefix_space", drops) is not drops:
            raise refusal("tokenizer-decoder", "decoder: add_prefix_space contradicts prepend_scheme", file=FILE)
    else:  # older files
        _check_types(part, add_prefix_space=bool)
        drops = part["add_prefix_space"]
    return DecoderSpec(space=part["replacement"], drops_first_spaces=drops)


def _suffix(part: dict[str, Any]) -> DecoderSpec:
    only_fields(part, "decoder", {"type", "suffix"}, required={"suffix"})
    _check_types(part, suffix=str)
    if not part["suffix"]:
        raise refusal("tokenizer-decoder", "decoder.suffix is empty: every character would be a word", file=FILE)
    return DecoderSpec(space=part["suffix"], drops_last_spaces=True, ends_words=True)


def _sequence(parts: list[dict[str, Any]], kinds: list[str]) -> DecoderSpec:
    """[Replace] [ByteFallback] [Fuse] [Strip], in this order."""
    order = ("Replace", "ByteFallback", "Fuse", "Strip")
    if kinds != [kind for kind in order if kind in kinds] or ("Strip" in kinds and "Fuse" not in kinds):
        message = f"a decoder of {', '.join(kinds)} is not supported, only of {', '.join(order)} in this order"
        raise refusal("tokenizer-decoder", message, file=FILE)
    by_kind = dict(zip(kinds, parts, strict=True))
    space, strip = "", 0
    if (replace := by_kind.get("Replace")) is not None:
        only_fields(replace, "decoder", {"type", "pattern", "content"}, required={"pattern", "content"})
        pattern = replace["pattern"]
        if not isinstance(pattern, dict) or set(pattern) != {"String"} or not isinstance(pattern["String"], str):
            raise refusal("tokenizer-decoder", "decoder: Replace is supported of a string only", file=FILE)
        if replace["content"] != " " or not pattern["String"]:
            raise refusal("tokenizer-decoder", "decoder: Replace is supported by a space only", file=FILE)
        space = pattern["String"]
    for kind in ("ByteFallback", "Fuse"):
        if kind in by_kind:
            only_fields(by_kind[kind], "decoder", {"type"})
    if (strips := by_kind.get("Strip")) is not None:
        known = {"type", "content", "start", "stop"}
        only_fields(strips, "decoder", known, required=known)
        strip = strips["start"]
        if strips["content"] != " " or strips["stop"] != 0 or type(strip) is not int or not 0 <= strip < 2**31:
            message = "decoder: Strip is supported of spaces at the beginning only"
            raise refusal("tokenizer-decoder", message, file=FILE)
    return DecoderSpec(space=space, byte_fallback="ByteFallback" in by_kind, strip=strip)


_TYPE_WORDS = {str: "a string", bool: "true/false"}


def _check_types(part: dict[str, Any], **types: type) -> None:
    for key, kind in types.items():
        if not isinstance(part.get(key), kind):
            message = f"decoder.{key} must be {_TYPE_WORDS[kind]}, got {shown(part.get(key))}"
            raise refusal("tokenizer-type", message, file=FILE)
